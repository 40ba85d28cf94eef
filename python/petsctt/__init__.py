"""PETScTT for Python: tensor-train vectors (VECTT), operators (MATTT) and their solvers, as objects of petsc4py.

    import sys, petsc4py
    petsc4py.init(sys.argv)           # options of the command line, before PETSc or petsctt is imported
    from petsc4py import PETSc
    import petsctt                    # loads libpetsctt for petsc4py's PETSc and registers the types

    A = petsctt.create_mat([100, 20, 20])
    petsctt.add_term(A, 1.0, [L, None, None])      # scipy, numpy or petsc4py matrices; None is the identity
    A.assemble()
    x, b = A.createVecs()
    petsctt.set_constant(b, 1.0)
    ksp = PETSc.KSP().create(); ksp.setOperators(A); ksp.setType("ttgmres"); ksp.setFromOptions()
    ksp.solve(b, x)
    print(petsctt.ranks(x), petsctt.true_residual_norm(ksp) / b.norm())

Vectors, matrices and solvers are petsc4py's own: all that petsc4py does with a Vec, Mat, KSP, SNES, TS works on them, and slepc4py's EPS after `import petsctt.slepc`. What PETSc has
no word for are the functions here. Indices count from 0, cores are arrays [a, i, b] of r_k x N_k x r_{k+1}. Functions are collective on their object
unless they say otherwise. Errors are PETSc.Error with PETSc's messages, or ValueError and TypeError before anything has been sent.
call() reaches every function of the C interface.
"""
from ._library import Int, IS_COMPLEX, call, path, structs, variant, wrap  # noqa: F401
from .vec import *  # noqa: F401,F403
from .mat import *  # noqa: F401,F403
from .solvers import *  # noqa: F401,F403
from .files import *  # noqa: F401,F403
