"""Tensor trains in files, by numpy alone: the formats of PETScTT, and those of TT-Toolbox and ttpy. This file can be used without PETSc.

A train is a list of cores, arrays [a, i, b] of r_k x N_k x r_{k+1} with r_0 = r_d = 1; entry (i_0, i_1, ...) is the matrix product of the
cores[k][:, i_k, :]. This is the order of TT-Toolbox 2 and ttpy too. Command line: python3 -m petsctt.convert --help.
"""
import re

import numpy as np

MAGIC, CLASSID, SPLIT = 7041827, 1211214, 2**24


class FormatError(ValueError):
    """What is wrong with a file."""


def check_cores(cores):
    """The cores as arrays of doubles or complex doubles; FormatError unless they make a train."""
    cores = [np.asarray(c) for c in cores]
    if not cores:
        raise FormatError("a train without cores")
    for k, c in enumerate(cores):
        if c.dtype == object or not np.issubdtype(c.dtype, np.number):
            raise FormatError("core %d is not an array of numbers" % k)
        if c.ndim != 3 or c.size == 0:
            raise FormatError("core %d is of shape %s, not r x N x r'" % (k, c.shape))
        if c.shape[0] != (cores[k - 1].shape[2] if k else 1):
            before = "the one before ends with %d" % cores[k - 1].shape[2] if k else "not 1: is the order of its indices another one?"
            raise FormatError("core %d begins with rank %d, %s" % (k, c.shape[0], before))
    if cores[-1].shape[2] != 1:
        raise FormatError("the last core ends with rank %d, not 1: is the order of its indices another one?" % cores[-1].shape[2])
    kind = complex if any(np.iscomplexobj(c) for c in cores) else float
    return [np.asarray(c, dtype=kind) for c in cores]


def _shaped(arrays, order):
    """Arrays of fewer dimensions, as MATLAB leaves trailing ones of length 1 out, to r x N x r'. order 'rnr': as they are; 'nrr': N x r x r', first
    and last core N x r (the first version of TT-Toolbox)."""
    d, out, r = len(arrays), [], 1
    for k, a in enumerate(arrays):
        a = np.asarray(a)
        if order == "nrr":
            if a.ndim == 2 and (k == 0 or k == d - 1):
                a = a.reshape(a.shape[0], 1, a.shape[1]) if k == 0 and d > 1 else a.reshape(a.shape[0], -1, 1)
            elif a.ndim == 2:
                a = a[:, :, None]
            a = a.transpose(1, 0, 2) if a.ndim == 3 else a
        elif a.ndim == 2:
            # r x N of a last core; N x r' of a first one, where some leave the leading one out
            a = a[None, :, :] if k == 0 and a.shape[0] != 1 else a[:, :, None]
        elif a.ndim == 1:
            a = a.reshape(r, -1, 1)
        out.append(a)
        r = a.shape[2] if a.ndim == 3 else r
    return check_cores(out)


def from_flat(core, n, r, ps=None):
    """The cores of TT-Toolbox's and ttpy's own storage: one vector with the cores, first index fastest, one after the other or beginning at
    ps[k] (counted from 1)."""
    core, n, r = np.ravel(core), [int(a) for a in np.ravel(n)], [int(a) for a in np.ravel(r)]
    if len(r) != len(n) + 1:
        raise FormatError("%d TT ranks for %d modes" % (len(r), len(n)))
    sizes = [a * m * b for a, m, b in zip(r, n, r[1:])]
    starts = [int(p) - 1 for p in np.ravel(ps)[: len(n)]] if ps is not None else [sum(sizes[:k]) for k in range(len(n))]
    if len(starts) != len(n) or min(starts) < 0 or any(s + m > core.size for s, m in zip(starts, sizes)):
        raise FormatError("modes %s and TT ranks %s need %d numbers, there are %d" % (n, r, sum(sizes), core.size))
    return check_cores([core[s : s + m].reshape((a, N, b), order="F") for s, m, a, N, b in zip(starts, sizes, r, n, r[1:])])


# ---- binary: VecView() with PETSc's binary viewer


def write_binary(path, cores, complex_scalars=None, int64=False):
    """Writes what VecView() would into a binary file. complex_scalars: for a PETSc with complex scalars (default: when the cores are complex);
    int64: for one with 64-bit indices."""
    cores = check_cores(cores)
    if complex_scalars is None:
        complex_scalars = np.iscomplexobj(cores[0])
    if np.iscomplexobj(cores[0]) and not complex_scalars:
        raise FormatError("the cores are complex, the file is to have real scalars")
    scalar = np.dtype(">c16" if complex_scalars else ">f8")
    d, zero = len(cores), all(not c.any() for c in cores)
    ranks = [1] * (d + 1) if zero else [c.shape[0] for c in cores] + [1]
    values = np.concatenate([c.ravel(order="F") for c in cores]) if not zero else np.empty(0)
    total = 12 + 2 * d + d + 1 + len(values)
    head = [MAGIC, scalar.itemsize, 1, d, total // SPLIT, total % SPLIT, int(zero), 0, 0 if zero else 1, 0, 0, 0]
    for c in cores:
        head += [c.shape[1], 2]
    if not int64 and total >= 2**31:
        raise FormatError("%d numbers are more than a file of a PETSc with 32-bit indices holds" % total)
    with open(path, "wb") as handle:
        handle.write(np.array([CLASSID, total], dtype=">i8" if int64 else ">i4").tobytes())
        handle.write(np.array(head + ranks, dtype=scalar).tobytes())
        handle.write(values.astype(scalar).tobytes())


def read_binary(path):
    """The cores of a TT vector in a binary file of PETSc, the scale in the first one."""
    with open(path, "rb") as handle:
        data = handle.read()
    for integer in (">i4", ">i8"):
        start = 2 * np.dtype(integer).itemsize
        if len(data) >= start and np.frombuffer(data, integer, 1)[0] == CLASSID:
            break
    else:
        raise FormatError("%s: no vector of PETSc begins here" % path)
    if len(data) < start + 16:
        raise FormatError("%s: truncated, %d bytes where a vector begins" % (path, len(data)))
    total = int(np.frombuffer(data, integer, 2)[1])
    if np.frombuffer(data, ">f8", 1, start)[0] != MAGIC:
        raise FormatError("%s: an ordinary vector of %d entries, not a TT vector" % (path, total))
    scalar = ">c16" if np.frombuffer(data, ">f8", 2, start)[1] == 0 else ">f8"
    if total < 16 or (len(data) - start) // np.dtype(scalar).itemsize < total:
        raise FormatError("%s: truncated, %d bytes for %d scalars" % (path, len(data) - start, total))
    a = np.frombuffer(data, scalar, total, start)
    d = _integer(path, "number of modes", a[3].real, 1, (total - 13) // 3)
    if _integer(path, "version", a[2].real, 1, 1) and _integer(path, "length", a[4].real * SPLIT + a[5].real, 0, 2**62) != total:
        raise FormatError("%s: damaged, %d scalars instead of %d" % (path, total, int(a[4].real) * SPLIT + int(a[5].real)))
    N = [_integer(path, "size of mode %d" % k, a[12 + 2 * k].real, 1, 2**62) for k in range(d)]
    r = [_integer(path, "TT rank %d" % k, a[12 + 2 * d + k].real, 1, 2**62) for k in range(d + 1)]
    exponent = _integer(path, "exponent", a[9].real, -(10**15), 10**15)
    if a[6].real:
        return [np.zeros((1, n, 1)) for n in N]
    return _scaled(from_flat(a[13 + 3 * d :].astype(complex if scalar == ">c16" else float), N, r), a[8], exponent)


def _integer(path, what, value, least, most):
    if not (value == np.floor(value) and least <= value <= most):
        raise FormatError("%s: damaged, %s %s" % (path, what, value))
    return int(value)


def _scaled(cores, mantissa, exponent):
    """The scale shared evenly among the cores, as it may be too large for one."""
    d = len(cores)
    if exponent > 1000 * d:
        raise FormatError("the scale of 2^%d is too large for cores of doubles" % exponent)
    out = [c * 2.0 ** (exponent // d + (k < exponent % d)) for k, c in enumerate(cores)]
    out[0] = out[0] * (mantissa if np.iscomplexobj(mantissa) and mantissa.imag else mantissa.real)
    return check_cores(out)


# ---- HDF5


def check_hdf5(path):
    """FormatError unless `path` is an HDF5 file as long as it says it is. PETSc's viewer does not get over a file that cannot be opened."""
    with open(path, "rb") as handle:
        data = handle.read(4096)
        size = handle.seek(0, 2)
    start = next((at for at in (0, 512, 1024, 2048) if data[at : at + 8] == b"\x89HDF\r\n\x1a\n"), None)
    if start is None or len(data) < start + 48:
        raise FormatError("%s is no HDF5 file" % path)
    kind = data[start + 8]  # of the superblock, which has the addresses of its own begin and of the end of the file
    base, end = {0: (24, 40), 1: (28, 44)}.get(kind, (12, 28))
    width = data[start + (13 if kind < 2 else 9)]
    number = lambda at: int.from_bytes(data[start + at : start + at + width], "little")  # noqa: E731
    if width == 8 and size < number(end):
        raise FormatError("%s: truncated, %d bytes of %d" % (path, size, number(end)))


def write_hdf5(path, cores, name="x", complex_scalars=None, mode="w"):
    """Writes what VecView() of a vector of this name would into an HDF5 file."""
    import h5py

    cores = check_cores(cores)
    if complex_scalars is None:
        complex_scalars = np.iscomplexobj(cores[0])
    if np.iscomplexobj(cores[0]) and not complex_scalars:
        raise FormatError("the cores are complex, the file is to have real scalars")
    d, zero = len(cores), all(not c.any() for c in cores)
    one = 0.0 if zero else 1.0
    with h5py.File(path, mode) as f:
        g = f.create_group(name)
        g.attrs["petsctt_type"] = "vectt"
        for key, value in (("petsctt_version", [1]), ("complex", [int(complex_scalars)]), ("modes", [c.shape[1] for c in cores]), ("distribution", [2] * d),
                           ("ranks", [1] * (d + 1) if zero else [c.shape[0] for c in cores] + [1]), ("zero", [int(zero)]), ("scale_exponent", [0]),
                           ("orthogonal_left", [0]), ("orthogonal_right", [0])):  # fmt: skip
            g.attrs[key] = np.array(value, dtype=np.int64)
        g.attrs["scale"] = np.array([one, 0.0] if complex_scalars else [one])
        for k, c in enumerate(cores if not zero else []):
            t = np.ascontiguousarray(c.T)
            g.create_dataset("core_%d" % k, data=np.stack([t.real, t.imag], axis=-1) if complex_scalars else t)


def _from_group(g):
    """The cores of a group that VecView() wrote, as write_hdf5() describes it."""
    if int(np.ravel(g.attrs["zero"])[0]):
        return [np.zeros((1, N, 1)) for N in g.attrs["modes"]]
    cores = [g["core_%d" % k][()] for k in range(len(g.attrs["modes"]))]
    scale = g.attrs["scale"]
    if int(np.ravel(g.attrs["complex"])[0]):
        cores, mantissa = [c[..., 0] + 1j * c[..., 1] for c in cores], complex(*scale)
    else:
        mantissa = float(np.ravel(scale)[0])
    return _scaled([c.T for c in cores], mantissa, int(np.ravel(g.attrs["scale_exponent"])[0]))


def _of_type(value):
    return value.decode() if isinstance(value, bytes) else value


def _hdf5_value(f, item, matlab):
    """A dataset or group as numpy has it: MATLAB's arrays have their dimensions reversed, its cells are references, its complex numbers pairs."""
    import h5py

    if isinstance(item, h5py.Group):
        return {key: _hdf5_value(f, item[key], matlab) for key in item if not key.startswith("#")}
    value = item[()]
    if item.dtype == object or h5py.check_dtype(ref=item.dtype):
        return [_hdf5_value(f, f[ref], matlab) for ref in np.ravel(value)]
    if value.dtype.names and set(value.dtype.names) >= {"real", "imag"}:
        value = value["real"] + 1j * value["imag"]
    elif value.dtype.names and set(value.dtype.names) >= {"r", "i"}:
        value = value["r"] + 1j * value["i"]
    return value.T if matlab else value


def _read_hdf5(path, name):
    import h5py

    check_hdf5(path)
    with h5py.File(path, "r") as f:
        ours = [key for key in f if isinstance(f[key], h5py.Group) and _of_type(f[key].attrs.get("petsctt_type", "")) == "vectt"]
        if name in ours or (name is None and len(ours) == 1):
            return check_cores(_from_group(f[name or ours[0]]))
        if name is None and len(ours) > 1:
            raise FormatError("%s holds the TT vectors %s: name one" % (path, ", ".join(sorted(ours))))
        matlab = any("MATLAB_class" in f[key].attrs for key in f)
        return {key: _hdf5_value(f, f[key], matlab) for key in f if not key.startswith("#")}


# ---- TT-Toolbox and ttpy


def _plain(value):
    """scipy's structs and objects of MATLAB as dictionaries, cells as lists."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        record = value.ravel()[0]
        return {name: _plain(record[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_plain(v) for v in value.ravel(order="F")]
    return value


def _candidates(variables):
    """{name: what could be a train} of the variables of a file: a list, or a dictionary with core, n, r."""
    found = {}
    for key, value in variables.items():
        value = _plain(value)
        if isinstance(value, dict) and "tt" in value and isinstance(value["tt"], dict):
            continue  # a tt_matrix
        if isinstance(value, list) or (isinstance(value, dict) and ({"core", "n", "r"} <= set(value) or _numbered(value))):
            found[key] = value
    if not found and {"core", "n", "r"} <= set(variables):
        return {"": {key: _plain(value) for key, value in variables.items()}}
    if not found and _numbered(variables):
        return {"": variables}
    return found


def _numbered(variables):
    """The arrays core_0, core_1 ... or G1, G2, ..., in their order; empty when there are gaps or other names."""
    parts = {}
    for key, value in variables.items():
        match = re.fullmatch(r"(.*?)(\d+)", key)
        if not match or not isinstance(value, np.ndarray):
            return []
        parts.setdefault(match.group(1), {})[int(match.group(2))] = value
    if len(parts) != 1:
        return []
    numbers = sorted(next(iter(parts.values())))
    return [next(iter(parts.values()))[k] for k in numbers] if numbers == list(range(numbers[0], numbers[0] + len(numbers))) else []


def read_cores(path, name=None, order="rnr"):
    """The cores of a train in a file: ours (binary or HDF5), .npz (arrays core_0, core_1 ... or arr_0, arr_1 ...; or core, n, r [, ps] as ttpy has them),
    .mat of MATLAB (a cell array of cores as TT-Toolbox's core2cell() makes it, or a tt_tensor saved as object or struct; v7 by scipy, v7.3 by h5py), or HDF5
    with such arrays. `name`: of the variable when there are more. order: of the indices of each core, 'rnr' or 'nrr' (the first version of TT-Toolbox)."""
    if order not in ("rnr", "nrr"):
        raise ValueError("order must be 'rnr' or 'nrr', not %r" % (order,))
    path = str(path)
    with open(path, "rb") as handle:
        start = handle.read(520)
    if start[:8] == b"\x89HDF\r\n\x1a\n" or start[512:520] == b"\x89HDF\r\n\x1a\n":
        variables = _read_hdf5(path, name)
        if isinstance(variables, list):
            return variables
    elif start[:2] == b"PK":
        with np.load(path, allow_pickle=False) as z:
            try:
                variables = {key: z[key] for key in z.files}
            except ValueError as error:
                raise FormatError("%s holds Python objects, which are not read from files; write it by numpy.savez(file, *cores)" % path) from error
    elif start[:6] == b"MATLAB":
        import scipy.io

        variables = {key: v for key, v in scipy.io.loadmat(path, struct_as_record=True).items() if not key.startswith("__")}
    else:
        return read_binary(path)
    found = _candidates(variables)
    if name is not None:
        found = {name: found[name]} if name in found else {}
    if len(found) != 1:
        why = "more than one train, name one" if found else "no train" + (" of the name " + name if name else "")
        raise FormatError("%s: %s; it holds %s" % (path, why, ", ".join(sorted(variables)) or "nothing"))
    value = next(iter(found.values()))
    if isinstance(value, dict):
        if "core" in value:
            return from_flat(value["core"], value["n"], value["r"], value.get("ps"))
        value = _numbered(value)
    return _shaped(value, order)


def read_matrix_cores(path, name=None):
    """The cores [a, i, j, b] of a tt_matrix of TT-Toolbox (an object or struct with n, m and tt) in a .mat file."""
    path = str(path)
    with open(path, "rb") as handle:
        start = handle.read(520)
    if start[:6] != b"MATLAB":
        raise FormatError("%s is no .mat file" % path)
    if b"\x89HDF\r\n\x1a\n" in (start[:8], start[512:520]):
        variables = _read_hdf5(path, None)
    else:
        import scipy.io

        variables = {key: v for key, v in scipy.io.loadmat(path, struct_as_record=True).items() if not key.startswith("__")}
    found = {key: value for key, value in ((k, _plain(v)) for k, v in variables.items()) if isinstance(value, dict) and {"n", "m", "tt"} <= set(value) and name in (None, key)}
    if len(found) != 1:
        raise FormatError("%s: there must be one tt_matrix, there are %d" % (path, len(found)))
    value = next(iter(found.values()))
    tt, n, m = value["tt"], [int(a) for a in np.ravel(value["n"])], [int(a) for a in np.ravel(value["m"])]
    cores = from_flat(tt["core"], [a * b for a, b in zip(n, m)], tt["r"], tt.get("ps"))
    return [c.reshape((c.shape[0], a, b, c.shape[2]), order="F") for c, a, b in zip(cores, n, m)]
