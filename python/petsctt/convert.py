"""python3 -m petsctt.convert IN OUT: a train of TT-Toolbox, ttpy or numpy as a file that VecLoad() reads, HDF5 when OUT ends in .h5 or .hdf5, else
PETSc's binary. formats.read_cores() says what IN may be."""
import argparse
import sys

from . import formats


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m petsctt.convert", description=__doc__)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--name", help="variable in the input file, when there are more")
    parser.add_argument("--order", choices=["rnr", "nrr"], default="rnr", help="order of the indices of each core in the input: r, n, r' or n, r, r' (TT-Toolbox 1)")
    parser.add_argument("--as", dest="vector", default="x", help="name of the vector in an HDF5 file (x)")
    parser.add_argument("--complex", action="store_true", help="for a PETSc with complex scalars, though the cores are real")
    parser.add_argument("--int64", action="store_true", help="binary file for a PETSc with 64-bit indices")
    options = parser.parse_args(arguments)
    try:
        cores = formats.read_cores(options.input, options.name, options.order)
        scalars = True if options.complex else None
        if options.output.lower().endswith((".h5", ".hdf5", ".hdf")):
            formats.write_hdf5(options.output, cores, options.vector, scalars)
        else:
            formats.write_binary(options.output, cores, scalars, options.int64)
    except (OSError, ValueError) as error:
        sys.exit("petsctt.convert: %s" % error)
    kind = "complex" if scalars or cores[0].dtype.kind == "c" else "real"
    print("modes %s, TT ranks %s 1, %s scalars" % (" x ".join(str(c.shape[1]) for c in cores), " ".join(str(c.shape[0]) for c in cores), kind))


if __name__ == "__main__":
    main()
