"""What KSPTTGMRES, PCTTKRON and MATSOLVERCONFLUX can tell and be told beyond petsc4py's KSP, PC and Mat. Everything else is set by petsc4py or
by options: ksp.setType("ttgmres"), pc.setType("ttkron"), pc.setFactorSolverType("conflux")."""
import ctypes

from ._library import call, structs, wrap

__all__ = ["ttgmres", "true_residual_norm", "rank_limited", "last_basis_vec", "ttkron", "ttkron_mode_ksp", "ttkron_mode_mat", "conflux_info"]


def ttgmres(ksp, restart=None, window=None, flexible=None):
    """Sets what is given of a KSPTTGMRES: basis vectors per cycle; how many last ones a new one is orthogonalised against (0: all); whether the
    preconditioner changes from step to step."""
    if restart is not None:
        call("KSPTTGMRESSetRestart", ksp, restart)
    if window is not None:
        call("KSPTTGMRESSetWindow", ksp, window)
    if flexible is not None:
        call("KSPTTGMRESSetFlexible", ksp, int(bool(flexible)))


def true_residual_norm(ksp):
    """||b - A x|| as KSPTTGMRES recomputed it from the rounded solution of the last solve; -1 before the first one. Not collective."""
    value = ctypes.c_double()
    call("KSPTTGMRESGetTrueResidualNorm", ksp, value)
    return value.value


def rank_limited(ksp):
    """Did a cap on the TT ranks keep the last solve of KSPTTGMRES from its tolerance? Not collective."""
    value = ctypes.c_int()
    call("KSPTTGMRESGetRankLimited", ksp, value)
    return bool(value.value)


def last_basis_vec(ksp):
    """The newest basis vector, for monitors; None when there is none. It belongs to the solver. Not collective."""
    handle = ctypes.c_void_p()
    call("KSPTTGMRESGetLastBasisVec", ksp, handle)
    return wrap("Vec", handle, False)


def ttkron(pc, modes=None, reference=None, block_size=None, mats=None):
    """Sets what is given of a PCTTKRON: modes that have a solver; the point, one index per mode, at which the other factors are evaluated (-1: their mean);
    columns solved at a time; matrices {k: Mat} in place of those it would take."""
    if modes is not None:
        call("PCTTKronSetModes", pc, len(modes), list(modes))
    if reference is not None:
        call("PCTTKronSetReference", pc, list(reference))
    if block_size is not None:
        call("PCTTKronSetBlockSize", pc, block_size)
    for k, M in (mats or {}).items():
        call("PCTTKronSetModeMat", pc, k, M)


def ttkron_mode_ksp(pc, k):
    """The KSP that solves on mode k."""
    handle = ctypes.c_void_p()
    call("PCTTKronGetModeKSP", pc, k, handle)
    return wrap("KSP", handle, False)


def ttkron_mode_mat(pc, k):
    """The matrix of that KSP; it belongs to the preconditioner."""
    handle = ctypes.c_void_p()
    call("PCTTKronGetModeMat", pc, k, handle)
    return wrap("Mat", handle, False)


def conflux_info(F):
    """What a factorisation by conflux did, F = pc.getFactorMatrix(): the members of MatConfluxInfo."""
    info = structs["MatConfluxInfo"]()
    call("MatConfluxGetInfo", F, info)
    return {name: list(v) if isinstance(v := getattr(info, name), ctypes.Array) else v for name, _ in info._fields_}


