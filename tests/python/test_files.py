import base64
import os
import re
import subprocess
import sys
import unittest

import numpy as np
import scipy.io
import scipy.sparse as sp
from common import COMM, COMPLEX, barrier, distance, folder, make_cores, numbers, product
from petsc4py import PETSc

import petsctt
from petsctt import formats

try:
    import h5py
except ImportError:
    h5py = None

# As Octave 7.3 wrote them by save("-v7", ...): G = {reshape(1:12,1,6,2), reshape(1:24,2,4,3)/7, reshape(1:15,3,5)/3}, and a struct x with the same
# cores as TT-Toolbox keeps them, core = [G{1}(:); G{2}(:); G{3}(:)], n, r, ps, d, over.
OCTAVE_CELL = (
    "TUFUTEFCIDUuMCBNQVQtZmlsZSwgd3JpdHRlbiBieSBPY3RhdmUgNy4zLjAsIDIwMjYtMTItMDEgMTY6Mjk6MjIgVVRDICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgIAABSU0PAAAABAEAAHic42NgYKhgYmBgA9IcQMwIxaxIfGYwzcjgDqT5gHgGA0I9G5J6HigbJAY0EgwYoTQnECcwwMAHeyjDAUJxQGkBKC0CpSWgtAyU"
    "VoDSSlBaBUqrQWkNB5D7fuBxH8hdLFA/obvvABBPUvEEokP2EPqS/e1tuSAE5T+y3w7mPoOKv7aH+Qci/8leFURN+gJV980ezFX5CVX/2z4PzPgL9z9EntEBop/JAaKO2QFiDosDRD2r"
    "A8Q8Nnh4QfRxQvVxQfVxg/2/Aof/OaD+ZkXzdwUQh4LBVXsI/RTuLwj/q/3qVSDwC+5uCJ/JASLPCncXRJwLKs4Lj1cIXxAqLwSPZwDXGH8V"
)
OCTAVE_STRUCT = (
    "TUFUTEFCIDUuMCBNQVQtZmlsZSwgd3JpdHRlbiBieSBPY3RhdmUgNy4zLjAsIDIwMjYtMTItMDEgMTY6Mjk6MjIgVVRDICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgIAABSU0PAAAATAEAAHic42MAAlYGBjYgxQHETEDMCBEC8xnhmJGhAizOwuAAFWsAEsn5RakMFIA8SjQDQRGF+guKKdOfQqH9+WWpFHmBD4hPMCLiD0Qj"
    "x58xAyIOQYATiGfAOAwf7KEMBwjFAaUFoLQIlJaA0jJQWgFKK0FpFSitBqU1HCapeALRIXsIfcn+9rZcEILyH9lvB3OfQcVf28PcA5H/ZK8KoiZ9gar7Zg/mqvyEqv9tnwdm/IW7HyLP"
    "CLWXyQGijtkBYg6LA0Q9qwPEPDa4fyH6OKH6uKD6uB1CweCqPYR+CncfhP/VfvUqEPgFtx/CZ4LqY4WbDxHngorzwsMXwheEygvBwxsUnx4MuOOTGUt8SsCiEx5PiPgDmReAxzwWLOYp"
    "wM3DlT4+2FPHXC2IeQ1OUHO9wO61wGMuIwOmuRxwcznA+g3w6IcBZP0gAAAk9oyI"
)

HDF5 = h5py is not None and os.environ["PETSCTT_TEST_HDF5"] == "1"


def on_one(f):
    """f() on process 0 alone, the others wait."""
    barrier()  # others may still be reading what is to change
    if COMM.rank == 0:
        f()
    barrier()


class Files(unittest.TestCase):
    def kinds(self):
        return ("x.bin", "x.h5") if HDF5 else ("x.bin",)

    def test_saved_and_read_by_numpy_and_back(self):
        given = make_cores(1)
        with folder() as path:
            for file in self.kinds():
                file = os.path.join(path, file)
                for local in (None, [petsctt.REPLICATED, petsctt.DISTRIBUTED, petsctt.DISTRIBUTED]):
                    x = petsctt.from_cores(given, local)
                    x.scale(2.5)
                    petsctt.save(file, x, name="x")
                    on_one(lambda: self.assertLess(distance(product(formats.read_cores(file)), 2.5 * product(given)), 1e-14))
                    y = petsctt.load(file, "x")
                    self.assertEqual(petsctt.ranks(y), petsctt.ranks(x))
                    self.assertLess(distance(petsctt.to_array(y), petsctt.to_array(x)), 1e-14)
                    z = petsctt.load(file, "x", into=petsctt.create_vec([40, 5, 7], [petsctt.DISTRIBUTED] * 3))
                    self.assertLess(distance(petsctt.to_array(z), petsctt.to_array(x)), 1e-14)
                    alone = petsctt.load(file, "x", comm=PETSc.COMM_SELF)
                    self.assertLess(distance(petsctt.to_array(alone), petsctt.to_array(x)), 1e-14)
                zero = petsctt.create_vec([40, 5, 7])
                petsctt.save(file, zero, name="x")
                self.assertEqual(petsctt.load(file, "x").norm(), 0)
                on_one(lambda: self.assertFalse(product(formats.read_cores(file)).any()))

    def test_written_by_numpy(self):
        given = make_cores(2)
        with folder() as path:
            for file in self.kinds():
                file = os.path.join(path, file)
                if file.endswith("h5"):
                    on_one(lambda: formats.write_hdf5(file, given, "u"))
                else:
                    on_one(lambda: formats.write_binary(file, given, int64=np.dtype(PETSc.IntType).itemsize == 8))
                self.assertLess(distance(petsctt.to_array(petsctt.load(file, "u")), product(given)), 1e-14)

    def test_several_in_one_hdf5_file(self):
        if not HDF5:
            self.skipTest("no HDF5 or h5py")
        with folder() as path:
            file = os.path.join(path, "all.h5")
            x, y = petsctt.from_cores(make_cores(3)), petsctt.from_cores(make_cores(4, (6, 3), (1, 2, 1)))
            petsctt.save(file, x, "first")
            petsctt.save(file, y, "second", append=True)
            self.assertLess(distance(petsctt.to_array(petsctt.load(file, "first")), petsctt.to_array(x)), 1e-14)
            self.assertLess(distance(petsctt.to_array(petsctt.load(file, "second")), petsctt.to_array(y)), 1e-14)
            on_one(lambda: self.assertRaises(formats.FormatError, formats.read_cores, file))
            on_one(lambda: self.assertEqual(len(formats.read_cores(file, "second")), 2))

    def test_operators(self):
        A = petsctt.create_mat([12, 4])
        petsctt.add_term(A, 2.0, [sp.diags([1.0, 2.0], [0, 1], shape=(12, 12)), numbers(1, 4, 4)])
        petsctt.add_term(A, 1.0, [None, numbers(2, 4)])
        A.assemble()
        want = petsctt.assembled(A)
        with folder() as path:
            for file in ("A.bin", "A.h5")[: len(self.kinds())]:
                file = os.path.join(path, file)
                petsctt.save(file, A, "A")
                B = petsctt.assembled(petsctt.load(file, "A", kind="mat"))
                B.axpy(-1.0, want)
                self.assertLess(B.norm(), 1e-13)

    def test_what_is_wrong(self):
        x = petsctt.from_cores(make_cores(5))
        with folder() as path:
            for file in self.kinds():
                file = os.path.join(path, file)
                petsctt.save(file, x, "x")
                self.refused(lambda: petsctt.load(file, "x", into=petsctt.create_vec([40, 7, 5])), "40 x 5 x 7")

                def cut():
                    size = os.path.getsize(file)
                    with open(file, "r+b") as handle:
                        handle.truncate(size - 200)

                on_one(cut)
                self.refused(lambda: petsctt.load(file, "x"), "runcated", PETSc.Error if file.endswith("bin") else formats.FormatError)
                on_one(lambda: open(file, "wb").write(b"something else " * 100))
                self.refused(lambda: petsctt.load(file, "x"), "Not a file of PETSc" if file.endswith("bin") else "no HDF5 file", (PETSc.Error, formats.FormatError))
                self.assertRaises(OSError, petsctt.load, file + "x", "x")
            plain = PETSc.Vec().createMPI(50)
            plain.set(1)
            plain.setName("x")
            for file in self.kinds():
                file = os.path.join(path, file)
                petsctt.save(file, plain)
                self.refused(lambda: petsctt.load(file, "x"), "ordinary vector" if file.endswith("bin") else "is a dataset")
            if HDF5:
                self.refused(lambda: petsctt.load(os.path.join(path, "x.h5"), "nobody"), "nothing named /nobody")
                self.assertRaises(ValueError, petsctt.load, os.path.join(path, "x.h5"))

    def refused(self, call, text, kind=PETSc.Error):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))


class Import(unittest.TestCase):
    """Trains of TT-Toolbox and ttpy, in files as MATLAB, scipy and numpy write them."""

    def setUp(self):
        self.given = make_cores(7, (6, 4, 5), (1, 2, 3, 1))
        self.flat = np.concatenate([c.ravel(order="F") for c in self.given])
        sizes = [c.size for c in self.given]
        self.fields = {"d": 3.0, "n": np.array([[6.0], [4.0], [5.0]]), "r": np.array([[1.0], [2.0], [3.0], [1.0]]), "core": self.flat[:, None],
                       "ps": np.cumsum([1] + sizes)[:, None].astype(float), "over": np.zeros((0, 0))}  # fmt: skip

    def check(self, file, *arguments, **more):
        x = petsctt.from_file(file, *arguments, **more)
        self.assertEqual(petsctt.ranks(x), [1, 2, 3, 1])
        self.assertLess(distance(petsctt.to_array(x), product(self.given)), 1e-14)

    def cell(self, cores):
        """As MATLAB has it: trailing dimensions of length 1 are dropped."""
        cell = np.empty((len(cores), 1), dtype=object)
        for k, c in enumerate(cores):
            cell[k, 0] = c[:, :, 0] if c.shape[2] == 1 else c
        return cell

    def test_mat_files(self):
        old = [c.transpose(1, 0, 2) for c in self.given]  # n, r, r' of TT-Toolbox 1, whose first and last cores are n x r
        old = [old[0][:, 0, :], old[1], old[2][:, :, 0]]
        cell = np.empty((3, 1), dtype=object)
        for k, c in enumerate(old):
            cell[k, 0] = c
        with folder() as path:
            file = os.path.join(path, "a.mat")
            on_one(lambda: scipy.io.savemat(file, {"G": self.cell(self.given), "other": 3.0}))
            self.check(file)
            on_one(lambda: scipy.io.savemat(file, {"x": self.fields}, do_compression=True))
            self.check(file)
            record = np.zeros((1, 1), dtype=[(key, object) for key in self.fields])
            for key, value in self.fields.items():
                record[key][0, 0] = value
            on_one(lambda: scipy.io.savemat(file, {"x": scipy.io.matlab.MatlabObject(record, "tt_tensor")}))
            self.check(file)
            on_one(lambda: scipy.io.savemat(file, {"x": self.fields, "y": self.cell(self.given[:1])}))
            self.check(file, "x")
            on_one(lambda: self.assertRaises(formats.FormatError, formats.read_cores, file))
            on_one(lambda: scipy.io.savemat(file, {"G": cell}))
            self.check(file, order="nrr")
            on_one(lambda: self.assertRaises(formats.FormatError, formats.read_cores, file))

    def test_files_of_octave(self):
        want = product([np.arange(1.0, 13).reshape((1, 6, 2), order="F"), np.arange(1.0, 25).reshape((2, 4, 3), order="F") / 7, np.arange(1.0, 16).reshape((3, 5, 1), order="F") / 3])
        with folder() as path:
            file = os.path.join(path, "a.mat")
            for text in (OCTAVE_CELL, OCTAVE_STRUCT):
                on_one(lambda: open(file, "wb").write(base64.b64decode(text)))
                x = petsctt.from_file(file)
                self.assertEqual(petsctt.ranks(x), [1, 2, 3, 1])
                self.assertLess(distance(petsctt.to_array(x), want), 1e-14)

    def test_mat_file_of_version_7_3(self):
        if h5py is None:
            self.skipTest("no h5py")

        def matlab(a):  # dimensions reversed, complex numbers as pairs
            a = np.ascontiguousarray(np.asarray(a).T)
            return np.rec.fromarrays([a.real, a.imag], names="real,imag") if np.iscomplexobj(a) else a

        def write(file, as_cell):
            with h5py.File(file, "w", userblock_size=512) as f:
                if as_cell:
                    refs = []
                    for k, c in enumerate(self.cell(self.given).ravel()):
                        refs.append(f.create_dataset("#refs#/%c" % (97 + k), data=matlab(c)).ref)
                    d = f.create_dataset("G", data=np.array(refs, dtype=h5py.ref_dtype).reshape(1, 3), dtype=h5py.ref_dtype)
                    d.attrs["MATLAB_class"] = np.bytes_("cell")
                else:
                    g = f.create_group("x")
                    g.attrs["MATLAB_class"] = np.bytes_("tt_tensor")
                    for key in ("n", "r", "core", "ps"):
                        g.create_dataset(key, data=matlab(self.fields[key]))
            with open(file, "r+b") as handle:
                handle.write(b"MATLAB 7.3 MAT-file".ljust(128))

        with folder() as path:
            file = os.path.join(path, "a.mat")
            for as_cell in (True, False):
                on_one(lambda: write(file, as_cell))
                self.check(file)

    def test_npz(self):
        with folder() as path:
            file = os.path.join(path, "a.npz")
            on_one(lambda: np.savez(file, *self.given))
            self.check(file)
            on_one(lambda: np.savez(file, **{"core%d" % (k + 1): c for k, c in enumerate(self.given)}))
            self.check(file)
            on_one(lambda: np.savez(file, core=self.flat, n=[6, 4, 5], r=[1, 2, 3, 1], ps=np.cumsum([1] + [c.size for c in self.given])))
            self.check(file)
            on_one(lambda: np.savez(file, core=self.flat[:-1], n=[6, 4, 5], r=[1, 2, 3, 1]))
            self.assertRaises(formats.FormatError, petsctt.from_file, file)
            on_one(lambda: np.savez(file, a=np.ones(3)))
            self.assertRaises(formats.FormatError, petsctt.from_file, file)
            on_one(lambda: np.savez(file, cores=self.cell(self.given)))
            self.assertRaises(formats.FormatError, petsctt.from_file, file)  # pickled objects

    def test_hdf5_arrays(self):
        if h5py is None:
            self.skipTest("no h5py")

        def write(file, group):
            with h5py.File(file, "w") as f:
                for k, c in enumerate(self.given):
                    f[group + "core_%d" % k] = c

        with folder() as path:
            file = os.path.join(path, "a.h5")
            for group in ("", "tensor/"):
                on_one(lambda: write(file, group))
                self.check(file)

    def test_matrices(self):
        cores = [numbers(1, 1, 6, 6, 2), numbers(2, 2, 4, 4, 1)]
        tt = {"n": [36.0, 16.0], "r": [1.0, 2.0, 1.0], "d": 2.0, "core": np.concatenate([c.ravel(order="F") for c in cores]), "ps": [1.0, 73.0, 105.0]}
        with folder() as path:
            file = os.path.join(path, "a.mat")
            on_one(lambda: scipy.io.savemat(file, {"A": {"n": [6.0, 4.0], "m": [6.0, 4.0], "tt": tt}}))
            A = petsctt.assembled(petsctt.matrix_from_file(file))
            start, end = A.getOwnershipRange()
            self.assertLess(distance(A[start:end, :], np.einsum("aijb,bklc->kilj", *cores).reshape(24, 24)[start:end]), 1e-13)

    def test_damaged_binary_files(self):
        """Whatever number of the description is another one, or wherever the file ends, read_binary() says so."""
        if COMM.size > 1:
            self.skipTest("one process is enough")
        with folder() as path:
            file = os.path.join(path, "a.bin")
            formats.write_binary(file, self.given)
            with open(file, "rb") as handle:
                good = handle.read()
            width, d = 16 if COMPLEX else 8, 3
            for end in list(range(0, 8 + width * (13 + 3 * d), 5)) + [len(good) - 1]:
                with open(file, "wb") as handle:
                    handle.write(good[:end])
                self.assertRaises(formats.FormatError, formats.read_binary, file)
            for position in (2, 3, 4, 5, 9, 12, 14, 12 + 2 * d, 13 + 2 * d):
                for number in (-1.0, 0.5, 1e300, float("nan"), float("inf"), 77.0):
                    if position == 9 and number in (-1.0, 77.0):
                        continue  # an exponent may be that
                    at = 8 + width * position
                    with open(file, "wb") as handle:
                        handle.write(good[:at] + np.array(number, ">f8").tobytes() + good[at + 8 :])
                    self.assertRaises(formats.FormatError, formats.read_binary, file)
            with open(file, "wb") as handle:
                handle.write(good[:4] + b"\xff\xff\xff\xff" + good[8:])
            self.assertRaises(formats.FormatError, formats.read_binary, file)

    def test_command(self):
        if COMM.size > 1:
            self.skipTest("one process is enough")
        with folder() as path:
            source = os.path.join(path, "a.npz")
            np.savez(source, *self.given)
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PMI", "PRTE"))}
            convert = lambda *a: subprocess.run([sys.executable, "-m", "petsctt.convert", *a], capture_output=True, text=True, env=environment)  # noqa: E731
            for target in ("b.h5",) if HDF5 else ("b.bin",):
                more = ["--int64"] if np.dtype(PETSc.IntType).itemsize == 8 else []
                done = convert(source, os.path.join(path, target), *more)
                self.assertIn("modes 6 x 4 x 5", done.stdout, done.stderr)
                self.assertLess(distance(petsctt.to_array(petsctt.load(os.path.join(path, target), "x")), product(self.given)), 1e-14)
            done = convert(source, os.path.join(path, "b.bin"), "--order", "nrr")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("petsctt.convert: core 0 begins with rank 6", done.stderr)


class Documentation(unittest.TestCase):
    def test_code_in_files_md(self):
        """The Python code in docs/files.md runs, in its order, and reads what it says."""
        with open(os.path.join(os.environ["PETSCTT_TEST_SOURCE"], "docs", "files.md"), encoding="utf-8") as handle:
            blocks = re.findall(r"^```python\n(.*?)^```$", handle.read(), flags=re.S | re.M)
        self.assertGreaterEqual(len(blocks), 4)
        x = petsctt.from_cores(make_cores(8))
        x.scale(3.0)
        A = petsctt.create_mat([12, 4])
        petsctt.add_term(A, 2.0, [sp.diags([1.0, 2.0], [0, 1], shape=(12, 12)), numbers(1, 4, 4)])
        petsctt.add_term(A, 1.0, [None, numbers(2, 4)])
        A.assemble()
        dense = np.zeros((48, 48), PETSc.ScalarType)
        B = petsctt.assembled(A)
        start, end = B.getOwnershipRange()
        dense[start:end] = B[start:end, :]
        with folder() as path:
            here = os.getcwd()
            os.chdir(path)
            try:
                petsctt.save("x.bin", x)
                petsctt.save("A.bin", A)
                if HDF5:
                    petsctt.save("run.h5", x, "x")
                    petsctt.save("run.h5", A, "A", append=True)
                on_one(lambda: self.run_blocks(blocks, 3 * product(make_cores(8)), dense if COMM.size == 1 else None))
            finally:
                barrier()
                os.chdir(here)

    def run_blocks(self, blocks, full, dense):
        tried = 0
        for block in blocks:
            if "h5py" in block and not HDF5 or "import petsctt" in block:
                continue
            if COMPLEX:
                block = block.replace('">f8"', '">c16"')
            if np.dtype(PETSc.IntType).itemsize == 8:
                block = block.replace("offset=8", "offset=16")
            space = {}
            exec(compile(block, "docs/files.md", "exec"), space)  # noqa: S102
            if "cores" in space:
                self.assertLess(distance(space["scale"] * product(space["cores"]), full), 1e-14)
                tried += 1
            if "A" in space and dense is not None:
                self.assertLess(distance(space["A"], dense), 1e-14)
                tried += 1
        self.assertGreaterEqual(tried, 1)
