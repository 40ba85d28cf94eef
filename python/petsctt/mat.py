"""Operators in tensor-train form: sums of Kronecker products, and trains of blocks."""
import ctypes

import numpy as np
from petsc4py import PETSc

from ._library import Int, IS_COMPLEX, Scalar, array_of, call, wrap
from .vec import _scalars, mode_vec, ownership

__all__ = ["create_mat", "mat_modes", "mode_mat", "add_term", "set_block_ranks", "set_block", "block_ranks", "block", "mat_from_cores", "compress", "mat_norm_log10", "projected",
           "assembled"]  # fmt: skip


def create_mat(modes, local=None, comm=None):
    """A MATTT over these mode sizes, without terms: zero. `local` as for create_vec(). Call A.assemble() when the terms are there."""
    A = PETSc.Mat().create(comm)
    A.setType("tt")
    call("MatTTSetModes", A, len(modes), local, list(modes))
    return A


def mat_modes(A):
    """Sizes of the modes. Not collective."""
    d, pointer = Int(), ctypes.c_void_p()
    call("MatTTGetModes", A, d, pointer)
    return [int(N) for N in array_of(pointer, d.value, PETSc.IntType)]


def mode_mat(A, k, M):
    """A Mat on mode k of A (or of a TT vector) from M, the same on all processes: a scipy sparse matrix or an array of N_k x N_k, or an array
    of N_k numbers, its diagonal. A Mat or None is returned as it is."""
    if M is None or isinstance(M, PETSc.Mat):
        return M
    x = A if isinstance(A, PETSc.Vec) else A.createVecs()[0]
    replicated, start, end = ownership(x, k)
    comm = PETSc.COMM_SELF if replicated and x.comm.size > 1 else x.comm
    N = mode_vec(x, k).getSize()
    sparse = hasattr(M, "tocsr")
    if not sparse:
        M = np.asarray(M)
    if M.shape != (N, N) and (sparse or M.shape != (N,)):
        raise ValueError("mode %d has %d indices, the matrix is of shape %s" % (k, N, M.shape))
    size = ((end - start, N), (end - start, N))
    if sparse or M.ndim == 1:
        if sparse:
            rows = M.tocsr()[start:end].copy()  # not the caller's arrays, which change in place
            rows.sum_duplicates()  # entries that occur twice count twice, which PETSc would not know
            rows.sort_indices()
            csr = rows.indptr, rows.indices, rows.data
        else:
            csr = np.arange(end - start + 1), np.arange(start, end), M[start:end]
        csr = [np.asarray(a, dtype=PETSc.IntType) for a in csr[:2]] + [_scalars(csr[2])]
        return PETSc.Mat().createAIJ(size, csr=csr, comm=comm)
    D = PETSc.Mat().createDense(size, comm=comm)
    D.setUp()
    D.getDenseArray()[...] = _scalars(M[start:end])
    D.assemble()
    return D


def add_term(A, coefficient, factors):
    """Adds coefficient * factors[0] x factors[1] x ...; each a Mat of petsc4py on the mode, what mode_mat() takes, or None for the identity."""
    d = len(mat_modes(A))
    if len(factors) != d:
        raise ValueError("%d factors for an operator of %d modes" % (len(factors), d))
    call("MatTTAddTerm", A, coefficient, [mode_mat(A, k, M) for k, M in enumerate(factors)])


def set_block_ranks(A, S):
    """Makes A a train of blocks: core k is a S[k] x S[k+1] grid of blocks, zero so far. S has d + 1 numbers, the outer ones 1."""
    d = len(mat_modes(A))
    if len(S) != d + 1:
        raise ValueError("%d block ranks for an operator of %d modes, which has %d" % (len(S), d, d + 1))
    call("MatTTSetBlockRanks", A, list(S))


def set_block(A, k, i, j, coefficient, M):
    """Block (i, j) of core k becomes coefficient * M; M as in add_term()."""
    call("MatTTSetBlock", A, k, i, j, coefficient, mode_mat(A, k, M))


def block_ranks(A):
    """S_0 .. S_d of the form that is applied: sums of Kronecker products have been merged."""
    pointer = ctypes.c_void_p()
    d = len(mat_modes(A))
    call("MatTTGetBlockRanks", A, pointer)
    return [int(s) for s in array_of(pointer, d + 1, PETSc.IntType)]


def block(A, k, i, j):
    """(coefficient, Mat) of block (i, j) of core k of that form; None for the Mat is the identity, a coefficient of 0 no block."""
    coefficient, handle = Scalar(), ctypes.c_void_p()
    call("MatTTGetBlock", A, k, i, j, coefficient, handle)
    return (complex(coefficient.real, coefficient.imag) if IS_COMPLEX else coefficient.value), wrap("Mat", handle, False)


def mat_from_cores(cores, local=None, comm=None):
    """An operator from arrays [a, i, j, b] of S_k x N_k x N_k x S_{k+1}: entry (i_0 .., j_0 ..) is the product of cores[k][:, i_k, j_k, :]. Blocks that are
    zero are left out; the others are stored as sparse matrices."""
    from scipy.sparse import csr_matrix

    cores = [np.asarray(c) for c in cores]
    for k, c in enumerate(cores):
        if c.ndim != 4 or c.shape[1] != c.shape[2] or c.shape[0] != (cores[k - 1].shape[3] if k else 1) or (k == len(cores) - 1 and c.shape[3] != 1):
            raise ValueError("core %d of the operator is of shape %s; it must be S x N x N x S', S following from the core before, 1 at either end" % (k, c.shape))
    A = create_mat([c.shape[1] for c in cores], local, comm)
    set_block_ranks(A, [c.shape[0] for c in cores] + [1])
    for k, c in enumerate(cores):
        for a in range(c.shape[0]):
            for b in range(c.shape[3]):
                if np.any(c[a, :, :, b]):
                    set_block(A, k, a, b, 1.0, csr_matrix(c[a, :, :, b]))
    A.assemble()
    return A


def compress(A, rtol):
    """Merges linearly dependent blocks, to the relative error rtol in the Frobenius norm."""
    call("MatTTCompress", A, rtol)


def mat_norm_log10(A):
    """Decimal logarithm of the Frobenius norm, also where that is too large for a number."""
    value = ctypes.c_double()
    call("MatTTNormLog10", A, value)
    return value.value


def projected(A, k, index):
    """The matrix of mode k with the factors of the others evaluated at their diagonal entries `index` (-1: their mean); see MatTTGetProjectedMode()."""
    handle = ctypes.c_void_p()
    call("MatTTGetProjectedMode", A, k, None if index is None else list(index), handle)
    return wrap("Mat", handle, True)


def assembled(A):
    """A as an ordinary sparse matrix, rows in the nominal order, first mode fastest. For small ones."""
    handle = ctypes.c_void_p()
    call("MatTTGetAssembled", A, handle)
    return wrap("Mat", handle, True)
