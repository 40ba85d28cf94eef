"""slepc4py's EPS on operators of type tt, and petsctt.slepc."""
import sys
import unittest

import numpy as np
import scipy.sparse as sp

import petsctt

try:
    import slepc4py

    slepc4py.init(sys.argv[1:])
    from slepc4py import SLEPc
except (ImportError, ValueError) as error:  # ValueError: slepc4py of another variant, the only one there, brings another petsc4py's PETSc
    print("python tests skipped:", error)
    sys.exit(0)
from petsc4py import PETSc

import petsctt.slepc

N = (40, 4, 5)  # the first mode is distributed


def eigenvalues(n):
    return 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))


def weight(k):
    return 1 + 0.25 * k


def operator():
    A = petsctt.create_mat(N)
    for k, n in enumerate(N):
        factors = [None] * len(N)
        factors[k] = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)).tocsr() * weight(k)
        petsctt.add_term(A, 1.0, factors)
    A.assemble()
    return A


def exact():
    sums = np.zeros(1)
    for k, n in enumerate(N):
        sums = (sums[:, None] + weight(k) * eigenvalues(n)[None, :]).ravel()
    return np.sort(sums)


class Eigenvalues(unittest.TestCase):
    def solve(self, A, nev):
        eps = SLEPc.EPS().create()
        eps.setOperators(A)
        eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
        st = eps.getST()
        st.setType(SLEPc.ST.Type.SINVERT)
        eps.setTarget(0)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
        eps.setDimensions(nev)
        eps.setFromOptions()
        eps.solve()
        return eps

    def test_smallest(self):
        A, nev = operator(), 2
        eps = self.solve(A, nev)
        self.assertGreaterEqual(eps.getConverged(), nev)
        x = A.createVecs()[0]
        for i in range(nev):
            value = eps.getEigenpair(i, x)
            self.assertLess(abs(value - exact()[i]), 1e-8 * exact()[i])
            self.assertLess(petsctt.slepc.residual_norm(eps, i), 1e-7)
            petsctt.round(x, rtol=1e-6)
            self.assertEqual(max(petsctt.ranks(x)), 1)  # a product of sines
        self.assertEqual(eps.getBV().getType(), "tt")

    def test_what_is_set_and_refused(self):
        A = operator()
        eps = self.solve(A, 1)
        petsctt.slepc.set_bv_rounding(eps.getBV(), 1e-7)
        self.assertEqual(petsctt.slepc.bv_rounding(eps.getBV()), 1e-7)
        with self.assertRaises(PETSc.Error):
            petsctt.slepc.residual_norm(eps, 100)
        eps = SLEPc.EPS().create()
        eps.setOperators(A)
        eps.setType(SLEPc.EPS.Type.LOBPCG)
        eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
        with self.assertRaises(PETSc.Error):
            eps.setUp()
