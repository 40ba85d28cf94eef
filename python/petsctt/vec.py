"""Vectors in tensor-train form."""
import ctypes

import numpy as np
from petsc4py import PETSc

from ._library import Int, IS_COMPLEX, Scalar, array_of, call, integers, structs, wrap

__all__ = ["create_vec", "modes", "ranks", "full_size", "ownership", "mode_vec", "set_constant", "set_rank_one", "set_random", "set_cores", "from_cores", "local_cores", "scale",
           "cores", "set_full", "from_array", "to_array", "entries", "extract", "contract", "norm_log10", "dot_log10", "orthogonalize", "orthogonality", "round", "set_rounding",
           "rounding", "info", "AUTO", "REPLICATED", "DISTRIBUTED"]  # fmt: skip

AUTO, REPLICATED, DISTRIBUTED = PETSc.DECIDE, -11, -12  # how a mode is stored, petscttvec.h
ROUND_TYPES = ["qr", "gram", "randomized", "auto"]


def create_vec(modes, local=None, comm=None):
    """A TT vector over these mode sizes, whose value is zero. `local`: for every mode AUTO, REPLICATED, DISTRIBUTED or the number of indices
    that this process owns; None is AUTO for all."""
    x = PETSc.Vec().create(comm)
    call("VecTTSetModes", x, len(modes), local, list(modes))
    return x


def modes(x):
    """Sizes of the modes. Not collective."""
    d, pointer = Int(), ctypes.c_void_p()
    call("VecTTGetModes", x, d, pointer)
    return [int(N) for N in array_of(pointer, d.value, PETSc.IntType)]


def ranks(x):
    """TT ranks r_0 .. r_d. Not collective."""
    pointer = ctypes.c_void_p()
    d = len(modes(x))
    call("VecTTGetRanks", x, pointer)
    return [int(r) for r in array_of(pointer, d + 1, PETSc.IntType)]


def full_size(x):
    """Number of entries, the product of the modes, as a float (inf if that is too small), and its decimal logarithm. Not collective."""
    size, log10 = ctypes.c_double(), ctypes.c_double()
    call("VecTTGetFullSize", x, size, log10)
    return size.value, log10.value


def ownership(x, k):
    """(replicated, start, end): the indices of mode k that this process stores. Not collective."""
    replicated, start, end = ctypes.c_int(), Int(), Int()
    call("VecTTGetModeOwnership", x, k, replicated, start, end)
    return bool(replicated.value), start.value, end.value


def mode_vec(x, k, values=None):
    """An ordinary Vec over mode k of x; with `values`, an array of all N_k of them, filled."""
    handle = ctypes.c_void_p()
    call("VecTTCreateModeVec", x, k, handle)
    v = wrap("Vec", handle, True)
    if values is not None:
        values, N = np.asarray(values), v.getSize()
        if values.shape != (N,):
            raise ValueError("mode %d has %d indices, the values are of shape %s" % (k, N, values.shape))
        _, start, end = ownership(x, k)
        v.setArray(_scalars(values[start:end]))
    return v


def _scalars(a, order="F"):
    a = np.asarray(a)
    if np.iscomplexobj(a) and not IS_COMPLEX:
        raise TypeError("the scalars of this PETSc are real, not complex")
    return np.array(a, dtype=PETSc.ScalarType, order=order)


def _mode_vecs(x, factors):
    """A list of Vec or None from one of Vec, arrays of all values, or None."""
    if len(factors) != len(modes(x)):
        raise ValueError("%d factors for a vector of %d modes" % (len(factors), len(modes(x))))
    return [f if f is None or isinstance(f, PETSc.Vec) else mode_vec(x, k, f) for k, f in enumerate(factors)]


def set_constant(x, value):
    """All entries become `value`. (x.set() does the same where the size of x is the product of its modes.)"""
    call("VecTTSetConstant", x, value)


def set_rank_one(x, factors):
    """x = factors[0] x factors[1] x ...; each a Vec over the mode, an array of all its values, or None for ones."""
    call("VecTTSetRankOne", x, _mode_vecs(x, factors))


def set_random(x, rank, seed=0):
    """Gaussian cores with these inner TT ranks (a number or a list of r_0 .. r_d); they do not depend on the number of processes."""
    d = len(modes(x))
    r = [1] + (d - 1) * [rank] + [1] if np.isscalar(rank) else list(rank)
    call("VecTTSetRandom", x, _checked_ranks(r, d), seed)


def _checked_ranks(r, d):
    if len(r) != d + 1:
        raise ValueError("%d TT ranks for %d modes: there must be %d, with the outer ones, which are 1" % (len(r), d, d + 1))
    return r


def set_cores(x, cores, local=False):
    """Sets the cores: arrays [a, i, b] of r_k x N_k x r_{k+1}, the same on all processes, or with local=True of the indices i that this process owns."""
    N, parts = modes(x), []
    if len(cores) != len(N):
        raise ValueError("%d cores for a vector of %d modes" % (len(cores), len(N)))
    for k, core in enumerate(cores):
        core = np.asarray(core)
        _, start, end = ownership(x, k)
        if core.ndim != 3 or core.shape[1] != (end - start if local else N[k]):
            raise ValueError("core %d is of shape %s; its middle dimension must be %d" % (k, core.shape, end - start if local else N[k]))
        parts.append(_scalars(core if local else core[:, start:end, :]))
    r = [c.shape[0] for c in parts] + [parts[-1].shape[2]]
    for k in range(len(parts) - 1):
        if parts[k].shape[2] != r[k + 1]:
            raise ValueError("core %d ends with rank %d, core %d begins with rank %d" % (k, parts[k].shape[2], k + 1, r[k + 1]))
    pointers = (ctypes.c_void_p * len(parts))(*[p.ctypes.data for p in parts])
    call("VecTTSetCores", x, r, pointers)


def from_cores(cores, local=None, comm=None):
    """A new TT vector from its cores, whole on every process; see set_cores()."""
    for k, c in enumerate(cores):
        if np.ndim(c) != 3:
            raise ValueError("core %d is of shape %s, not r x N x r'" % (k, np.shape(c)))
    x = create_vec([np.shape(c)[1] for c in cores], local, comm)
    set_cores(x, cores)
    return x


def local_cores(x):
    """Copies of the cores as they are stored: [a, i, b] with the indices i of this process, without the scale (see scale()). Not collective."""
    out = []
    for k in range(len(modes(x))):
        r0, n, r1, pointer = Int(), Int(), Int(), ctypes.c_void_p()
        call("VecTTGetCoreRead", x, k, r0, n, r1, pointer)
        shape = (r0.value, n.value, r1.value)
        out.append(array_of(pointer, int(np.prod(shape)), PETSc.ScalarType).reshape(shape, order="F"))
        call("VecTTRestoreCoreRead", x, k, None, None, None, pointer)
    return out


def scale(x):
    """(m, e): x is m 2^e times the product of its cores. Not collective."""
    mantissa, exponent = Scalar(), ctypes.c_int64()
    call("VecTTGetScale", x, mantissa, exponent)
    return (complex(mantissa.real, mantissa.imag) if IS_COMPLEX else mantissa.value), exponent.value


def cores(x):
    """The cores, whole on every process: arrays [a, i, b] of r_k x N_k x r_{k+1} whose product is x. The scale is shared among them evenly, as
    it may be too large for one."""
    mantissa, exponent = scale(x)
    out, d = [], len(modes(x))
    if mantissa == 0:
        return [np.zeros((1, N, 1), PETSc.ScalarType) for N in modes(x)]
    for k, part in enumerate(local_cores(x)):
        share = exponent // d + (k < exponent % d)
        factor = (mantissa if k == 0 else 1) * 2.0**share
        out.append(np.asfortranarray(_gathered(x, k, part) * factor))
    return out


def _gathered(x, k, part):
    """The whole of a core of which every process has a part."""
    if ownership(x, k)[0]:
        return part
    ranges = mode_vec(x, k).getOwnershipRanges()
    packed = PETSc.Vec().createMPI((part.size, PETSc.DETERMINE), comm=x.comm)
    packed.setArray(part.ravel(order="F"))
    scatter, everything = PETSc.Scatter.toAll(packed)
    scatter.scatter(packed, everything, PETSc.InsertMode.INSERT_VALUES, PETSc.ScatterMode.FORWARD)
    a, at, parts = everything.getArray(), 0, []
    for start, end in zip(ranges[:-1], ranges[1:]):
        shape = (part.shape[0], end - start, part.shape[2])
        parts.append(a[at : at + int(np.prod(shape))].reshape(shape, order="F"))
        at += int(np.prod(shape))
    return np.concatenate(parts, axis=1)


def set_full(x, v):
    """Compresses v, an ordinary Vec with all entries in the nominal order, first mode fastest, by the rounding policy of x."""
    call("VecTTSetFull", x, v)


def from_array(a, rtol=None, local=None, comm=None):
    """A new TT vector from an array with one dimension per mode, the same on all processes, to the relative accuracy rtol."""
    a = np.asarray(a)
    x = create_vec(a.shape, local, comm)
    if rtol is not None:
        set_rounding(x, rtol=rtol)
    v = PETSc.Vec().create(x.comm)
    v.setSizes((x.getLocalSize(), x.getSize()))
    v.setType("mpi" if x.comm.size > 1 else "seq")
    start, end = x.getOwnershipRange()
    v.setArray(_scalars(a.ravel(order="F")[start:end]))
    set_full(x, v)
    return x


def to_array(x):
    """All entries as an array with one dimension per mode, on every process. For small ones."""
    handle = ctypes.c_void_p()
    call("VecTTGetFull", x, handle)
    v = wrap("Vec", handle, True)
    scatter, everything = PETSc.Scatter.toAll(v)
    scatter.scatter(v, everything, PETSc.InsertMode.INSERT_VALUES, PETSc.ScatterMode.FORWARD)
    return everything.getArray().copy().reshape(modes(x), order="F")


def entries(x, indices):
    """The entries at `indices`, an array of m x d, on every process."""
    indices = np.atleast_2d(integers(indices, "indices"))
    d = len(modes(x))
    if indices.ndim != 2 or indices.shape[1] != d:
        raise ValueError("indices are of shape %s; there must be %d in each row" % (indices.shape, d))
    values = np.empty(len(indices), PETSc.ScalarType)
    call("VecTTGetEntries", x, len(indices), np.ascontiguousarray(indices).ravel(), values)
    return values


def extract(x, k, index):
    """The fibre of x along mode k at the other indices of `index` (index[k] does not count), as a Vec over the mode."""
    if len(index) != len(modes(x)):
        raise ValueError("%d indices for a vector of %d modes" % (len(index), len(modes(x))))
    v = mode_vec(x, k)
    call("VecTTExtract", x, k, list(index), v)
    return v


def contract(x, weights):
    """Sums over modes: weights[k] is a Vec over the mode, an array of all its weights, 1 for ones, or None to keep the mode. A TT vector of the kept
    modes, or a number when none is kept. Weights are not conjugated."""
    which = [w is not None for w in weights]
    vecs = _mode_vecs(x, [None if w is None or np.isscalar(w) else w for w in weights])
    for w in weights:
        if np.isscalar(w) and w != 1:
            raise ValueError("the weights of a mode are an array, a Vec, or 1 for ones, not %r" % (w,))
    if all(which):
        value = Scalar()
        call("VecTTContractAll", x, vecs, value)
        return complex(value.real, value.imag) if IS_COMPLEX else value.value
    handle = ctypes.c_void_p()
    call("VecTTContract", x, [int(w) for w in which], vecs, handle)
    return wrap("Vec", handle, True)


def norm_log10(x):
    """Decimal logarithm of the Euclidean norm, also where that is too large for a number."""
    value = ctypes.c_double()
    call("VecTTNormLog10", x, value)
    return value.value


def dot_log10(x, y):
    """(phase, log10): y^H x is phase 10^log10."""
    phase, log10 = Scalar(), ctypes.c_double()
    call("VecTTDotLog10", x, y, phase, log10)
    return (complex(phase.real, phase.imag) if IS_COMPLEX else phase.value), log10.value


def orthogonalize(x, k):
    """Makes all cores but core k orthogonal, towards k."""
    call("VecTTOrthogonalize", x, k)


def orthogonality(x):
    """(left, right): how many cores are orthogonal from either end. Not collective."""
    left, right = Int(), Int()
    call("VecTTGetOrthogonality", x, left, right)
    return left.value, right.value


def round(x, rtol, max_rank=0):  # noqa: A001
    """Rounds x to the relative error rtol, with TT ranks not above max_rank (0: no cap). Returns the relative error made."""
    error = ctypes.c_double()
    call("VecTTRound", x, rtol, max_rank, error)
    return error.value


def set_rounding(x, rtol=None, max_rank=None, type=None, seed=None):  # noqa: A002
    """Sets what is given of the rounding policy of x, which vectors made from it inherit. type: 'qr', 'gram', 'randomized', 'auto'."""
    if type is not None and type not in ROUND_TYPES:
        raise ValueError("type must be one of %s, not %r" % (", ".join(ROUND_TYPES), type))
    if rtol is not None:
        call("VecTTSetRoundRtol", x, rtol)
    if max_rank is not None:
        call("VecTTSetMaxRank", x, max_rank)
    if type is not None:
        call("VecTTSetRoundType", x, ROUND_TYPES.index(type))
    if seed is not None:
        call("VecTTSetRoundSeed", x, seed)


def rounding(x):
    """The rounding policy of x. Not collective."""
    rtol, max_rank, kind, seed = ctypes.c_double(), Int(), ctypes.c_int(), ctypes.c_int64()
    call("VecTTGetRoundRtol", x, rtol)
    call("VecTTGetMaxRank", x, max_rank)
    call("VecTTGetRoundType", x, kind)
    call("VecTTGetRoundSeed", x, seed)
    return {"rtol": rtol.value, "max_rank": max_rank.value, "type": ROUND_TYPES[kind.value], "seed": seed.value}


def info(x):
    """What x is and what its last rounding did: modes, ranks, stored numbers, logarithm of the full size, and the members of VecTTRoundingInfo.
    Not collective."""
    N, r, last = modes(x), ranks(x), structs["VecTTRoundingInfo"]()
    call("VecTTGetRoundingInfo", x, last)
    out = {"modes": N, "ranks": r, "max_rank": max(r), "stored": sum(a * n * b for a, n, b in zip(r, N, r[1:])), "log10_full_size": full_size(x)[1]}
    for name, _ in last._fields_:
        value = getattr(last, name)
        out[name] = list(value) if isinstance(value, ctypes.Array) else value
    out["type"] = ROUND_TYPES[out["type"]]
    out["estimated"], out["cap_hit"] = bool(out["estimated"]), bool(out["cap_hit"])
    return out
