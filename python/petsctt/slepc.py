"""SLEPc on tensor trains: beside slepc4py, `import petsctt.slepc` loads libpetsctt_slepc, after which EPS objects with operators of type "tt" use basis vectors and
linear solvers that work on them.

    import slepc4py; slepc4py.init(sys.argv)
    from slepc4py import SLEPc
    import petsctt.slepc

    eps = SLEPc.EPS().create(); eps.setOperators(A); eps.setProblemType(SLEPc.EPS.ProblemType.HEP); eps.setFromOptions()
    eps.solve()
    print(eps.getEigenvalue(0), petsctt.slepc.residual_norm(eps, 0))
"""
import ctypes
import os

from slepc4py import SLEPc  # noqa: F401  (initialises SLEPc, whose libraries are then those that are loaded)

from ._library import add_library, call, check, path

__all__ = ["residual_norm", "set_bv_rounding", "bv_rounding"]


def _load():
    file = os.path.join(os.path.dirname(path), "libpetsctt_slepc.so")
    if not os.path.isfile(file):
        raise ImportError("there is no %s: PETScTT was built without SLEPc (on Debian install libslepc-real-dev or libslepc-complex-dev before)" % file)
    return ctypes.CDLL(file)


def residual_norm(eps, i):
    """||A x - lambda B x|| / ||lambda x|| of eigenpair i, computed anew from the rounded eigenvector at the end of eps.solve(). Not collective."""
    value = ctypes.c_double()
    call("EPSTTGetResidualNorm", eps, i, value)
    return value.value


def set_bv_rounding(bv, rtol):
    """Error of linear combinations of the basis vectors of a BV, relative to what is added up."""
    call("BVTTSetRoundRtol", bv, rtol)


def bv_rounding(bv):
    """What set_bv_rounding() has set, or the default. Not collective."""
    value = ctypes.c_double()
    call("BVTTGetRoundRtol", bv, value)
    return value.value


_lib = _load()
check(_lib.PetscDLLibraryRegister_petsctt_slepc())  # refuses another SLEPc than it was built for
add_library(_lib)
