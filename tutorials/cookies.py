"""Diffusion with uncertain coefficients (the "cookies" problem of ex3.cxx) in Python: (A_0 + sum_i alpha_i A_i) u(alpha) = f for all values of
alpha_1 .. alpha_4 at once. python3 cookies.py [-samples 11] [-ksp_rtol 1e-8] [-ksp_monitor ...], with mpiexec too."""
import os
import sys

import numpy as np
import petsc4py
from scipy.io import mmread

petsc4py.init(sys.argv)
import petsctt  # noqa: E402
from petsc4py import PETSc  # noqa: E402

here, options = os.path.dirname(os.path.abspath(__file__)), PETSc.Options()
data, samples = options.getString("data_dir", here + "/../share/petsctt/data/cookies/2x2"), options.getInt("samples", 11)
options["ksp_rtol"] = rtol = options.getReal("ksp_rtol", 1e-8)  # an option also for vectors, which round accordingly
alpha, f = np.linspace(0, 100, samples), mmread(data + "/b.mtx").ravel()
A_i = [mmread(data + "/A%d.mtx" % i) for i in range(5)]


def operator(diagonals):
    """The sum over i of A_i on mode 0 times diag(diagonals[i]) on mode i."""
    A = petsctt.create_mat([len(f)] + 4 * [samples])
    for i, diagonal in diagonals.items():
        petsctt.add_term(A, 1.0, [A_i[i]] + [diagonal if k == i else None for k in range(1, 5)])
    A.assemble()
    return A


class CorrectedMean:
    """M^-1 - M^-1 B M^-1, M the operator at the mean of alpha, B as in cookies/preconditioner.hpp."""

    def setUp(self, pc):
        m, (A, P) = alpha.mean(), pc.getOperators()
        self.B, self.M, self.y, self.w = operator({i: (m + 2) * (alpha - m) / (alpha + 2) for i in range(1, 5)}), PETSc.PC().create(), *A.createVecs()
        self.M.setOperators(A, P)
        self.M.setType("ttkron")
        self.M.setFromOptions()

    def apply(self, pc, x, z):
        self.M.apply(x, self.y)
        self.B.mult(self.y, self.w)
        self.w.aypx(-1.0, x)
        self.M.apply(self.w, z)


A = operator({0: None, **{i: alpha for i in range(1, 5)}})
x, b = A.createVecs()
petsctt.set_rank_one(b, [f, None, None, None, None])
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("ttgmres")
petsctt.ttgmres(ksp, flexible=False)
ksp.getPC().setType("python")
ksp.getPC().setPythonContext(CorrectedMean())
ksp.setFromOptions()
ksp.solve(b, x)
mean = petsctt.contract(x, [f] + 4 * [np.full(samples, 1 / samples)])  # of the integral of u
PETSc.Sys.Print("%d iterations, TT ranks %s" % (ksp.getIterationNumber(), petsctt.ranks(x)))
PETSc.Sys.Print("residual %.3e  mean of Q %.12g" % (petsctt.true_residual_norm(ksp) / b.norm(), np.real(mean)))
sys.exit(0 if ksp.getConvergedReason() > 0 else 1)
