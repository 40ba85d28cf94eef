"""VECTT and MATTT in files: PETSc's viewers, and trains of other packages."""
import os

from petsc4py import PETSc

from . import formats
from ._library import call
from .mat import mat_from_cores
from .vec import from_cores

__all__ = ["save", "load", "from_file", "matrix_from_file"]


def _is_hdf5(path):
    return os.path.splitext(str(path))[1].lower() in (".h5", ".hdf5", ".hdf")


def save(path, obj, name=None, append=False):
    """Writes a TT vector or operator: into an HDF5 file under its name when `path` ends in .h5, .hdf5 or .hdf, else into a binary file of PETSc."""
    mode = PETSc.Viewer.Mode.APPEND if append else PETSc.Viewer.Mode.WRITE
    old = obj.getName()
    if name is not None:
        obj.setName(name)
    viewer = (PETSc.Viewer().createHDF5 if _is_hdf5(path) else PETSc.Viewer().createBinary)(str(path), mode, comm=obj.comm)
    try:
        obj.view(viewer)
    finally:
        viewer.destroy()
        if name is not None:
            obj.setName(old)


def load(path, name=None, kind="vec", into=None, comm=None):
    """Reads what save() or VecView() or MatView() wrote, on any number of processes: a TT vector (kind 'vec') or operator ('mat'). In HDF5 files objects
    have names. `into`: an object with modes of its own, whose distribution is kept."""
    if kind not in ("vec", "mat"):
        raise ValueError("kind must be 'vec' or 'mat', not %r" % (kind,))
    obj = into if into is not None else (PETSc.Vec() if kind == "vec" else PETSc.Mat()).create(comm)
    if name is not None:
        obj.setName(name)
    elif _is_hdf5(path) and into is None:
        raise ValueError("%s: objects in HDF5 files have names; give one" % path)
    if _is_hdf5(path):
        formats.check_hdf5(path)
    else:
        open(path, "rb").close()  # the same error on all processes if there is none
    viewer = (PETSc.Viewer().createHDF5 if _is_hdf5(path) else PETSc.Viewer().createBinary)(str(path), PETSc.Viewer.Mode.READ, comm=obj.comm)
    try:
        if isinstance(obj, PETSc.Vec):
            call("VecTTLoad", obj, viewer)
        else:
            if into is None:
                obj.setType("tt")
            obj.load(viewer)
    finally:
        viewer.destroy()
    return obj


def from_file(path, name=None, order="rnr", local=None, comm=None):
    """A TT vector from a file of numpy, TT-Toolbox or ttpy; see formats.read_cores(). Every process reads the file."""
    return from_cores(formats.read_cores(path, name, order), local, comm)


def matrix_from_file(path, name=None, local=None, comm=None):
    """An operator from a tt_matrix of TT-Toolbox in a .mat file."""
    return mat_from_cores(formats.read_matrix_cores(path, name), local, comm)
