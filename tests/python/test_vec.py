import ctypes
import os
import unittest

import numpy as np
from common import COMM, COMPLEX, distance, make_cores, numbers, product
from petsc4py import PETSc

import petsctt


class Vectors(unittest.TestCase):
    def test_cores_there_and_back(self):
        for local in (None, [petsctt.DISTRIBUTED] * 3, [petsctt.REPLICATED] * 3, [petsctt.DISTRIBUTED, petsctt.REPLICATED, petsctt.DISTRIBUTED]):
            given = make_cores(1)
            x = petsctt.from_cores(given, local)
            self.assertEqual(x.getType(), "tt")
            self.assertEqual((petsctt.modes(x), petsctt.ranks(x)), ([40, 5, 7], [1, 3, 4, 1]))
            self.assertLess(distance(petsctt.to_array(x), product(given)), 1e-14)
            x.scale(-3.0)
            self.assertLess(distance(product(petsctt.cores(x)), -3 * product(given)), 1e-14)
            parts = petsctt.local_cores(x)
            for k, part in enumerate(parts):
                _, start, end = petsctt.ownership(x, k)
                self.assertEqual(part.shape, (given[k].shape[0], end - start, given[k].shape[2]))
            y = x.duplicate()
            petsctt.set_cores(y, parts, local=True)
            mantissa, exponent = petsctt.scale(x)
            y.scale(mantissa * 2.0**exponent)
            self.assertLess(distance(petsctt.to_array(y), petsctt.to_array(x)), 1e-14)

    def test_many_modes(self):
        x = petsctt.create_vec([10] * 400)
        petsctt.set_constant(x, 2.0)
        self.assertAlmostEqual(petsctt.norm_log10(x), 200 + np.log10(2.0), places=8)
        self.assertEqual(petsctt.full_size(x), (np.inf, 400.0))
        self.assertEqual(len(petsctt.cores(x)), 400)
        phase, log10 = petsctt.dot_log10(x, x)
        self.assertAlmostEqual(abs(phase), 1.0)
        self.assertAlmostEqual(log10, 400 + np.log10(4.0), places=8)

    def test_arrays(self):
        a = product(make_cores(5, (6, 4, 5), (1, 2, 3, 1)))
        x = petsctt.from_array(a, rtol=1e-12)
        self.assertEqual(petsctt.ranks(x), [1, 2, 3, 1])
        self.assertLess(distance(petsctt.to_array(x), a), 1e-11)
        index = [[0, 0, 0], [5, 3, 4], [2, 1, 3]]
        self.assertLess(distance(petsctt.entries(x, index), [a[tuple(i)] for i in index]), 1e-11)
        fibre = petsctt.extract(x, 0, [0, 2, 1])
        start, end = fibre.getOwnershipRange()
        self.assertLess(distance(fibre.getArray(), a[start:end, 2, 1]), 1e-11)
        error = petsctt.round(x, 0.5, 1)
        self.assertEqual(petsctt.ranks(x), [1, 1, 1, 1])
        self.assertAlmostEqual(distance(petsctt.to_array(x), a), error, places=8)
        info = petsctt.info(x)
        self.assertEqual((info["max_rank"], info["stored"], info["rank_out"]), (1, 15, 1))

    def test_rank_one_and_contractions(self):
        N = (40, 5, 7)
        f = [numbers(20 + k, n) for k, n in enumerate(N)]
        x = petsctt.create_vec(N)
        petsctt.set_rank_one(x, [f[0], None, petsctt.mode_vec(x, 2, f[2])])
        full = f[0][:, None, None] * np.ones((1, 5, 1)) * f[2]
        self.assertLess(distance(petsctt.to_array(x), full), 1e-14)
        w = [numbers(30 + k, n) for k, n in enumerate(N)]
        self.assertAlmostEqual(petsctt.contract(x, w) / np.einsum("ijk,i,j,k", full, *w), 1, places=12)
        y = petsctt.contract(x, [w[0], None, 1])
        self.assertLess(distance(petsctt.to_array(y), np.einsum("ijk,i->j", full, w[0])), 1e-13)

    def test_policy_is_inherited(self):
        x = petsctt.create_vec([20, 20, 20])
        petsctt.set_random(x, 5, seed=3)
        petsctt.set_rounding(x, rtol=1e-3, max_rank=4, type="qr", seed=11)
        y = x.duplicate()
        self.assertEqual(petsctt.rounding(y), {"rtol": 1e-3, "max_rank": 4, "type": "qr", "seed": 11})
        z = x.duplicate()
        petsctt.set_random(z, 5, seed=4)
        y.waxpy(1.0, x, z)
        info = petsctt.info(y)
        self.assertTrue(info["cap_hit"] and info["cap_hits"] == 1 and info["type"] == "qr" and info["max_rank"] == 4)
        petsctt.orthogonalize(x, 1)
        left, right = petsctt.orthogonality(x)
        self.assertTrue(left >= 1 and right >= 1)
        self.assertAlmostEqual(x.norm() / np.linalg.norm(petsctt.to_array(x)), 1, places=12)
        self.assertAlmostEqual(x.dot(x) / x.norm() ** 2, 1, places=12)

    def test_errors(self):
        x = petsctt.create_vec([4, 5])
        plain = PETSc.Vec().createMPI(20)
        for error, call in (
            (ValueError, lambda: petsctt.set_cores(x, [np.ones((1, 4, 2)), np.ones((3, 5, 1))])),
            (ValueError, lambda: petsctt.set_cores(x, [np.ones((1, 5, 2)), np.ones((2, 5, 1))])),
            (ValueError, lambda: petsctt.set_cores(x, [np.ones((1, 4, 1))])),
            (ValueError, lambda: petsctt.entries(x, [[1, 2, 3]])),
            (ValueError, lambda: petsctt.mode_vec(x, 0, np.ones(5))),
            (ValueError, lambda: petsctt.set_rounding(x, type="best")),
            (ValueError, lambda: petsctt.from_cores([np.ones(3)])),
            # numbers that a conversion would change
            (OverflowError, lambda: petsctt.entries(x, [[2**64, 0]])),
            (TypeError, lambda: petsctt.entries(x, [[1.5, 0]])),
            (TypeError, lambda: petsctt.create_vec([4.5, 5])),
            (TypeError, lambda: petsctt.extract(x, 0, [0, 2.5])),
            (OverflowError, lambda: petsctt.create_vec([2**70, 5])),
            # outputs that would be written beyond their end, or be read as something else
            (TypeError, lambda: petsctt.call("VecTTGetModes", x, ctypes.c_int16(), None)),
            (TypeError, lambda: petsctt.call("VecTTGetRoundRtol", x, ctypes.c_int())),
            (TypeError, lambda: petsctt.call("VecTTGetRoundingInfo", x, petsctt.structs["MatConfluxInfo"]())),
            (TypeError, lambda: petsctt.call("VecTTGetRanks", x, ctypes.c_int())),
            (TypeError, lambda: petsctt.call("VecTTSetMaxRank", x, 1.5)),
            (TypeError, lambda: petsctt.call("VecTTSetMaxRank", x)),
            (TypeError, lambda: petsctt.call("VecTTSetMaxRank", "x", 1)),
            (TypeError, lambda: petsctt.call("VecTTSetMaxRank", 7, 1)),
            (TypeError, lambda: petsctt.call("VecTTGetEntries", x, 1, [0, 0], np.empty(1, np.float32))),
            (OverflowError, lambda: petsctt.call("VecTTSetRoundType", x, 2**40)),
        ):
            self.assertRaises(error, call)
        if np.dtype(PETSc.IntType).itemsize == 4:
            self.assertRaises(OverflowError, petsctt.entries, x, np.array([[2**32, 0]]))  # not the entry 0, 0
        if not COMPLEX:
            self.assertRaises(TypeError, petsctt.set_constant, x, 1j)
            self.assertRaises(TypeError, petsctt.from_cores, [1j * np.ones((1, 4, 1))])
        for text, call in (
            ("of type %s, not tt" % plain.getType(), lambda: petsctt.ranks(plain)),
            ("rank", lambda: petsctt.set_cores(x, [np.ones((2, 4, 1)), np.ones((1, 5, 1))])),
            ("ntr", lambda: petsctt.entries(x, [[0, 7]])),
        ):
            with self.assertRaises(PETSc.Error) as caught:
                call()
            self.assertIn(text, str(caught.exception))
        self.assertEqual(petsctt.ranks(x), [1, 1, 1])
        self.assertEqual(x.refcount, 1)

    def test_any_function(self):
        handle, d = ctypes.c_void_p(), petsctt.Int()
        petsctt.call("VecCreateTT", PETSc.COMM_WORLD, 2, None, [3, 4], handle)
        x = petsctt.wrap("Vec", handle, True)
        self.assertEqual((x.refcount, x.comm.size, petsctt.modes(x)), (1, COMM.size, [3, 4]))
        petsctt.call("VecTTGetModes", x, d, None)
        self.assertEqual(d.value, 2)
        self.assertRaises(TypeError, petsctt.call, "VecCreateTT", 1, 2, None, [3, 4], handle)
        self.assertRaises(KeyError, petsctt.call, "VecSet", x, 1.0)

    def test_documented(self):
        with open(os.path.join(os.environ["PETSCTT_TEST_SOURCE"], "docs", "python.md"), encoding="utf-8") as handle:
            page = handle.read()
        for module in (petsctt.vec, petsctt.mat, petsctt.solvers, petsctt.files):
            for name in module.__all__:
                self.assertRegex(page, r"`(%s)\b" % name)
                self.assertTrue(not callable(getattr(petsctt, name)) or getattr(petsctt, name).__doc__)

    def test_objects_are_released(self):
        x = petsctt.from_cores(make_cores(2))
        self.assertEqual(petsctt.mode_vec(x, 0).refcount, 1)
        self.assertEqual(petsctt.contract(x, [1, None, None]).refcount, 1)
        self.assertEqual(x.comm.size, COMM.size)
