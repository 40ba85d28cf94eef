"""Loads libpetsctt for the PETSc that petsc4py runs, and calls it."""
import ctypes
import os

import numpy as np
from petsc4py import PETSc

from . import _api, _config


def variant():
    """'real', 'complex', 'real64' or 'complex64': that of petsc4py's PETSc."""
    name = "complex" if np.issubdtype(PETSc.ScalarType, np.complexfloating) else "real"
    return name + ("64" if np.dtype(PETSc.IntType).itemsize == 8 else "")


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.environ.get("PETSCTT_LIBRARY") or os.path.join(here, _config.LIBRARIES, variant(), "libpetsctt.so")
    path = os.path.normpath(path)
    if not os.path.isfile(path):
        folder = os.path.dirname(os.path.dirname(path))
        there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        raise ImportError(
            "petsc4py runs PETSc of variant '%s', for which there is no %s (variants there: %s). Install PETScTT of this variant, or run petsc4py "
            "of another one: on Debian PETSC_DIR chooses it" % (variant(), path, ", ".join(there) or "none")
        )
    return path, ctypes.CDLL(path)


class _Complex(ctypes.Structure):
    """A complex number passed by value, which C passes as it does this structure."""

    _fields_ = [("real", ctypes.c_double), ("imag", ctypes.c_double)]


path, _lib = _load()
_libraries = [_lib]  # where functions of the C interface are
IS_COMPLEX = variant().startswith("complex")
Int = {4: ctypes.c_int32, 8: ctypes.c_int64}[np.dtype(PETSc.IntType).itemsize]
Scalar = _Complex if IS_COMPLEX else ctypes.c_double
_VALUES = {"PetscInt": Int, "PetscInt64": ctypes.c_int64, "PetscReal": ctypes.c_double, "PetscScalar": Scalar, "PetscBool": ctypes.c_int, "PetscLogDouble": ctypes.c_double,
           "int": ctypes.c_int, "PetscMPIInt": ctypes.c_int, "double": ctypes.c_double}  # fmt: skip
_VALUES.update({name: ctypes.c_int for name in _api.ENUMS})
_ARRAYS = {"PetscInt": np.dtype(PETSc.IntType), "PetscInt64": np.dtype(np.int64), "PetscReal": np.dtype(np.float64), "PetscScalar": np.dtype(PETSc.ScalarType),
           "PetscBool": np.dtype(np.intc)}  # fmt: skip
_OBJECTS = {"Vec", "Mat", "KSP", "PC", "SNES", "TS", "DM", "IS", "EPS", "ST", "BV", "PetscObject", "PetscViewer", "PetscRandom", "PetscLayout", "PetscSF", "VecScatter", "Tao"}

for _name, _values in _api.ENUMS.items():
    globals().update(_values)


def _structure(name, fields):
    value = lambda kind: ctypes.c_char if kind == "char" else _VALUES.get(kind, ctypes.c_void_p)  # noqa: E731  (else an object or a pointer)
    kinds = [(field, value(kind) * length if length else value(kind)) for kind, field, length in fields]
    return type(name, (ctypes.Structure,), {"_fields_": kinds})


structs = {name: _structure(name, fields) for name, fields in _api.STRUCTS.items()}


def _scalar(value):
    if not IS_COMPLEX:
        if np.iscomplexobj(value) and np.imag(value) != 0:
            raise TypeError("the scalars of this PETSc are real, not %r" % (value,))
        return ctypes.c_double(float(np.real(value)))
    value = complex(value)
    return _Complex(value.real, value.imag)


def _handle(value, where):
    if value is None:
        return None
    if not isinstance(value, PETSc.Object):
        raise TypeError("%s must be an object of petsc4py or None, not %s" % (where, type(value).__name__))
    return value.handle


def _comm(value, where):
    """The MPI_Comm, a pointer or an int, in the lower bits of a register: what a function is passed in either case."""
    if not isinstance(value, PETSc.Comm):
        raise TypeError("%s must be a communicator of petsc4py, not %s" % (where, type(value).__name__))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(_capsule("PyPetscComm_GetPtr"))(value)
    return ctypes.c_void_p.from_address(pointer)


def integers(value, where="an index"):
    """An array of PETSc's integers, with the numbers of `value`; TypeError and OverflowError where these are none or do not fit."""
    a = np.asarray(value)
    if a.size and a.dtype.kind not in "iub" and not (a.dtype.kind == "O" and all(isinstance(i, int) for i in a.ravel())):
        raise TypeError("%s must be an integer, not of type %s" % (where, a.dtype))
    limits = np.iinfo(PETSc.IntType)
    if a.size and (a.min() < limits.min or a.max() > limits.max):
        raise OverflowError("%s: a number in %s does not fit %d bits" % (where, a.ravel()[:5].tolist(), limits.bits))
    return np.array(a, dtype=PETSc.IntType)


def _converted(kind, value, where):
    """A list as an array of the type of a pointer argument, number by number the same."""
    if kind == "PetscInt":
        return integers(value, where)
    a = np.asarray(value)
    if a.size and a.dtype.kind not in "iubfc":
        raise TypeError("%s must be numbers, not of type %s" % (where, a.dtype))
    if np.iscomplexobj(a) and _ARRAYS[kind].kind != "c":
        raise TypeError("%s must be real numbers" % where)
    out = a.astype(_ARRAYS[kind])
    if _ARRAYS[kind].kind in "iu" and not np.array_equal(out, a):
        raise TypeError("%s must be integers that fit %s, not %s" % (where, _ARRAYS[kind], a.ravel()[:5].tolist()))
    return out


def _expected(kind):
    """The ctypes type that a pointer argument points to; None where anything may be."""
    return _VALUES.get(kind) or structs.get(kind) or (ctypes.c_void_p if kind in _OBJECTS or not kind else None)


def _array(kind, value, where, keep):
    """The address of what a pointer argument gets; `keep` collects what must live until the call has ended."""
    if value is None:
        return None
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Array)):
        there = value._type_ if isinstance(value, ctypes.Array) else type(value)
        if _expected(kind) not in (None, there):  # it would be written beyond its end, or be read as something else
            raise TypeError("%s must be of ctypes' %s, not %s" % (where, _expected(kind).__name__, there.__name__))
        return ctypes.addressof(value)
    if isinstance(value, str) and kind == "char":
        keep.append(ctypes.create_string_buffer(value.encode()))
        return ctypes.addressof(keep[-1])
    if kind in _ARRAYS:
        if isinstance(value, np.ndarray):  # may be an output: never a copy
            if value.dtype != _ARRAYS[kind] or not (value.flags.c_contiguous or value.flags.f_contiguous):
                raise TypeError("%s must be a contiguous array of %s, not %s" % (where, _ARRAYS[kind], value.dtype))
        else:
            value = _converted(kind, value, where)
        keep.append(value)
        return value.ctypes.data
    if isinstance(value, (list, tuple)):  # of objects
        handles = (ctypes.c_void_p * max(1, len(value)))(*[_handle(v, where) for v in value])
        keep.append(handles)
        return ctypes.addressof(handles)
    raise TypeError("%s cannot be %s" % (where, type(value).__name__))


def _convert(name, position, kind, value, keep):
    where = "%s(): argument %d (%s)" % (name, position + 1, kind)
    if kind.endswith("*"):
        return ctypes.c_void_p(_array(kind.split()[0] if kind.count("*") == 1 else "", value, where, keep))
    if kind == "PetscScalar":
        return _scalar(value)
    if kind == "MPI_Comm":
        return _comm(value, where)
    if kind in _VALUES:
        if _VALUES[kind] is not ctypes.c_double and int(value) != value:
            raise TypeError("%s must be an integer, not %r" % (where, value))
        number = _VALUES[kind](int(value) if _VALUES[kind] is not ctypes.c_double else float(value))
        if number.value != value and not np.isnan(value):
            raise OverflowError("%s: %r does not fit" % (where, value))
        return number
    if isinstance(value, str) and kind.endswith("Type"):  # VecType and the like
        keep.append(value.encode())
        return ctypes.c_char_p(keep[-1])
    if isinstance(value, int) and kind not in _OBJECTS:  # an enum of PETSc
        return ctypes.c_int(value)
    return ctypes.c_void_p(_handle(value, where))


def add_library(library):
    """One more library (CDLL) with functions of the C interface."""
    if library not in _libraries:
        _libraries.append(library)


def _function(name):
    for library in _libraries:
        if hasattr(library, name):
            return getattr(library, name)
    raise AttributeError("%s() is in a library that is not loaded; import petsctt.slepc loads libpetsctt_slepc" % name)


def check(code):
    """Raises PETSc.Error, with PETSc's own messages, unless the code is 0."""
    if code:
        raise PETSc.Error(code)


def call(name, *arguments):
    """Calls a function of the C interface of PETScTT (petsctt*.h) and raises PETSc.Error if it fails.

    Objects are those of petsc4py or None, numbers, flags and texts those of Python, arrays numpy arrays of PETSc's types or (for input) lists, arrays of
    objects lists. For an output give an array, or an instance of ctypes: Int(), c_double(), structs["VecTTRoundingInfo"](), and c_void_p() for an
    object, which wrap() then makes one of petsc4py.
    """
    kinds = _api.FUNCTIONS[name]
    if len(kinds) != len(arguments):
        raise TypeError("%s() has %d arguments, not %d: %s" % (name, len(kinds), len(arguments), ", ".join(kinds)))
    keep = []
    check(_function(name)(*[_convert(name, i, kind, a, keep) for i, (kind, a) in enumerate(zip(kinds, arguments))]))


def _capsule(name):
    """The address of a function of petsc4py's own C interface."""
    capsule = PETSc.__pyx_capi__[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get_pointer(capsule, get_name(capsule))


def wrap(kind, handle, owned):
    """An object of petsc4py ('Vec', 'Mat', 'KSP' ...) for a handle (c_void_p). `owned`: the reference of the handle goes over to it; otherwise the
    object is somebody else's and gets one more reference."""
    if not handle.value:
        return None
    obj = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(_capsule("PyPetsc%s_New" % kind))(handle)
    if owned:
        check(_lib.PetscObjectDereference(handle))
    return obj


def array_of(pointer, n, dtype):
    """A copy of n numbers at a c_void_p."""
    if n == 0:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * (n * np.dtype(dtype).itemsize)).from_address(pointer.value), dtype).copy()


check(_lib.PetscDLLibraryRegister_petsctt())  # refuses another PETSc than it was built for, and registers the types
