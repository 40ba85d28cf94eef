import unittest

import numpy as np
import scipy.sparse as sp
from common import COMM, distance, make_cores, numbers
from petsc4py import PETSc

import petsctt

N = (12, 4, 3)


def kron(*factors):
    """The matrix of rows in the nominal order, first mode fastest."""
    out = np.eye(1)
    for f in factors:
        out = np.kron(f, out)
    return out


def laplacian(n):
    return sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)).tocsr() * (n + 1) ** 2


def apply(A, x):
    y = A.createVecs()[1]
    petsctt.set_rounding(y, rtol=1e-14)
    A.mult(x, y)
    return petsctt.to_array(y).ravel(order="F")


class Operators(unittest.TestCase):
    def setUp(self):
        self.x = petsctt.from_cores(make_cores(3, N, (1, 2, 2, 1)))
        self.full = petsctt.to_array(self.x).ravel(order="F")

    def test_terms_of_all_kinds(self):
        dense, diagonal, sparse = numbers(1, 4, 4), numbers(2, 3), sp.random(12, 12, 0.3, random_state=4).tocsr() * (1 + 0 * numbers(1, 1)[0])
        A = petsctt.create_mat(N)
        petsctt.add_term(A, 2.0, [sparse, dense, diagonal])
        petsctt.add_term(A, -1.0, [None, petsctt.mode_mat(A, 1, sp.coo_matrix(dense)), None])
        A.assemble()
        want = 2 * kron(sparse.toarray(), dense, np.diag(diagonal)) - kron(np.eye(12), dense, np.eye(3))
        self.assertEqual(petsctt.mat_modes(A), list(N))
        self.assertLess(distance(apply(A, self.x), want @ self.full), 1e-12)
        self.assertAlmostEqual(petsctt.mat_norm_log10(A), np.log10(np.linalg.norm(want)), places=10)
        B = petsctt.assembled(A)
        start, end = B.getOwnershipRange()
        self.assertLess(distance(B[start:end, :], want[start:end]), 1e-13)

    def test_entries_that_occur_twice(self):
        """scipy adds them up; the matrix that is given stays as it is."""
        M = sp.csr_matrix((np.array([1.0, 2.0, 5.0, 7.0]), np.array([3, 0, 3, 1]), np.array([0, 3, 4, 4, 4])), shape=(4, 4))
        before = M.indices.copy()
        A = petsctt.create_mat(N)
        petsctt.add_term(A, 1.0, [None, M, None])
        A.assemble()
        want = np.zeros((4, 4))
        want[0, 0], want[0, 3], want[1, 1] = 2.0, 6.0, 7.0
        self.assertLess(distance(apply(A, self.x), kron(np.eye(12), want, np.eye(3)) @ self.full), 1e-13)
        self.assertTrue(np.array_equal(M.indices, before))

    def test_blocks(self):
        L = [laplacian(n) for n in N]
        A = petsctt.create_mat(N)
        petsctt.set_block_ranks(A, [1, 2, 2, 1])
        for k, blocks in enumerate(([(0, 0, L[0]), (0, 1, None)], [(0, 0, None), (1, 0, L[1]), (1, 1, None)], [(0, 0, None), (1, 0, L[2])])):
            for i, j, M in blocks:
                petsctt.set_block(A, k, i, j, 1.0, M)
        A.assemble()
        want = sum(kron(*[L[k].toarray() if k == j else np.eye(N[k]) for k in range(3)]) for j in range(3))
        self.assertLess(distance(apply(A, self.x), want @ self.full), 1e-12)
        self.assertEqual(petsctt.block_ranks(A), [1, 2, 2, 1])
        c, M = petsctt.block(A, 0, 0, 0)
        if M is None:  # which of the two comes first is the library's business
            c, M = petsctt.block(A, 0, 0, 1)
        self.assertEqual(M.getSize(), (12, 12))
        B = petsctt.create_mat(N)
        for j in range(3):
            petsctt.add_term(B, 1.0, [L[k] if k == j else None for k in range(3)])
        B.assemble()
        petsctt.compress(B, 1e-12)
        self.assertEqual(max(petsctt.block_ranks(B)), 2)
        self.assertLess(distance(apply(B, self.x), want @ self.full), 1e-11)

    def test_from_cores(self):
        cores = [numbers(10, 1, 12, 12, 2), numbers(11, 2, 4, 4, 3), numbers(12, 3, 3, 3, 1)]
        cores[1][0, :, :, 1] = 0
        A = petsctt.mat_from_cores(cores)
        want = np.einsum("aijb,bklc,cmnd->mkinlj", *cores).reshape(144, 144)
        self.assertLess(distance(apply(A, self.x), want @ self.full), 1e-12)
        self.assertRaises(ValueError, petsctt.mat_from_cores, cores[:2])

    def test_solvers(self):
        A = petsctt.create_mat([16, 5, 5])
        alpha = np.linspace(1, 2, 5)
        petsctt.add_term(A, 1.0, [laplacian(16), None, None])
        petsctt.add_term(A, 1.0, [sp.identity(16), alpha, None])
        petsctt.add_term(A, 1.0, [None, None, alpha])
        A.assemble()
        x, b = A.createVecs()
        petsctt.set_constant(b, 1.0)
        ksp = PETSc.KSP().create()
        ksp.setOperators(A)
        ksp.setType("ttgmres")
        ksp.setTolerances(rtol=1e-8)
        petsctt.ttgmres(ksp, restart=30, window=0, flexible=False)
        pc = ksp.getPC()
        pc.setType("ttkron")
        petsctt.ttkron(pc, modes=[0], reference=[-1, 2, 2], block_size=7)
        inner = petsctt.ttkron_mode_ksp(pc, 0)
        inner.setType("preonly")
        inner.getPC().setType("lu")
        if COMM.size > 1:
            inner.getPC().setFactorSolverType("mumps")
        ksp.solve(b, x)
        self.assertGreater(ksp.getConvergedReason(), 0)
        r = b.duplicate()
        petsctt.set_rounding(r, rtol=1e-13)
        A.mult(x, r)
        r.aypx(-1.0, b)
        self.assertLess(r.norm() / b.norm(), 1.01e-8)
        self.assertAlmostEqual(petsctt.true_residual_norm(ksp) / b.norm(), r.norm() / b.norm(), places=9)
        self.assertFalse(petsctt.rank_limited(ksp))
        self.assertEqual(petsctt.ttkron_mode_mat(pc, 0).getSize(), (16, 16))
        self.assertLess(distance(petsctt.projected(A, 0, [-1, 2, 2]).getDiagonal().getArray()[:1], [2 * 17**2 + 3.0]), 1e-12)

    def test_time_steps(self):
        """petsc4py's TS as it is: u' = -A u by the trapezoidal rule against the eigenvalue of a product of sines."""
        n, h = 8, 0.01
        A = petsctt.create_mat([n, n])
        petsctt.add_term(A, -1.0, [laplacian(n), None])
        petsctt.add_term(A, -1.0, [None, laplacian(n)])
        A.assemble()
        u = A.createVecs()[0]
        sine = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
        petsctt.set_rank_one(u, [sine, sine])
        first = u.norm()
        ts = PETSc.TS().create()
        ts.setProblemType(PETSc.TS.ProblemType.LINEAR)
        ts.setType("cn")
        ts.setRHSFunction(lambda ts, t, x, f: A.mult(x, f))
        J = A.duplicate(copy=True)  # TS shifts and scales it
        ts.setRHSJacobian(lambda ts, t, x, J, P: A.copy(J), J, J)
        ts.setTimeStep(h)
        ts.setMaxSteps(3)
        ts.setExactFinalTime(PETSc.TS.ExactFinalTime.STEPOVER)
        ksp = ts.getSNES().getKSP()
        ksp.setType("ttgmres")
        ksp.setTolerances(rtol=1e-10)
        ksp.getPC().setType("none")
        ts.solve(u)
        z = -8 * (n + 1) ** 2 * np.sin(np.pi / (2 * (n + 1))) ** 2 * h
        self.assertAlmostEqual(u.norm() / first / ((1 + z / 2) / (1 - z / 2)) ** ts.getStepNumber(), 1, places=7)

    def test_errors(self):
        A = petsctt.create_mat(N)
        self.assertRaises(ValueError, petsctt.add_term, A, 1.0, [None, None])
        self.assertRaises(ValueError, petsctt.add_term, A, 1.0, [np.eye(11), None, None])
        self.assertRaises(TypeError, petsctt.call, "MatTTAddTerm", A, 1.0, [1, None, None])
        self.assertRaises(ValueError, petsctt.set_block_ranks, A, [1, 2, 1])
        self.assertRaises(TypeError, petsctt.set_block_ranks, A, [1, 2.5, 2, 1])
        with self.assertRaises(PETSc.Error) as caught:
            petsctt.block(A, 5, 0, 0)
        self.assertIn("must be in 0..2", str(caught.exception))


