"""What the tests share."""
import contextlib
import os
import shutil
import tempfile

import numpy as np
from petsc4py import PETSc

import petsctt

COMM = PETSc.COMM_WORLD
COMPLEX = petsctt.IS_COMPLEX


def barrier():
    PETSc.COMM_WORLD.barrier()


def numbers(seed, *shape):
    """Gaussian, complex where scalars are, the same on all processes."""
    r = np.random.default_rng(seed)
    a = r.standard_normal(shape)
    return a + 1j * r.standard_normal(shape) if COMPLEX else a


def make_cores(seed, N=(40, 5, 7), r=(1, 3, 4, 1)):
    return [numbers(seed + k, r[k], N[k], r[k + 1]) for k in range(len(N))]


def product(cores):
    full = np.ones((1, 1))
    shape = []
    for c in cores:
        full = np.tensordot(full, c, axes=(-1, 0))
        full = full.reshape(-1, c.shape[2])  # row-major: last mode fastest
        shape.append(c.shape[1])
    return full.reshape(shape)


def distance(a, b):
    return np.linalg.norm(np.ravel(a) - np.ravel(b)) / max(np.linalg.norm(np.ravel(b)), 1e-300)


@contextlib.contextmanager
def folder():
    """A temporary folder that all processes see; process 0 makes and removes it."""
    path = os.path.join(tempfile.gettempdir(), "petsctt-python-test-%d" % same(os.getpid()))
    if COMM.rank == 0:
        os.makedirs(path)
    barrier()
    try:
        yield path
    finally:
        barrier()
        if COMM.rank == 0:
            shutil.rmtree(path)
        barrier()


def same(number):
    """The integer of process 0 on all processes."""
    v = PETSc.Vec().createMPI((1 if COMM.rank == 0 else 0, PETSc.DETERMINE), comm=COMM)
    if COMM.rank == 0:
        v.setValue(0, number)
    v.assemble()
    scatter, w = PETSc.Scatter.toAll(v)
    scatter.scatter(v, w, PETSc.InsertMode.INSERT_VALUES, PETSc.ScatterMode.FORWARD)
    return int(w.getArray()[0].real)
