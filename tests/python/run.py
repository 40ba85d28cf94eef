"""run.py MODULE: the tests of tests/python/MODULE.py on all processes; every test is collective. run.py PROGRAM.py ...: that program. Says "python
tests skipped" where petsc4py or what it needs is not installed."""
import importlib
import os
import runpy
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
variant = os.environ["PETSCTT_TEST_VARIANT"]


def skip(why):
    print("python tests skipped:", why)
    sys.exit(0)


try:
    import numpy
    import petsc4py
    import scipy  # noqa: F401

    petsc4py.init(sys.argv[1:])
    from petsc4py import PETSc
except ImportError as error:
    skip("%s; on Debian install python3-petsc4py-%s" % (error, variant.replace("64", "") if "64" not in variant else "64-" + variant[:-2]))
found = ("complex" if numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating) else "real") + ("64" if numpy.dtype(PETSc.IntType).itemsize == 8 else "")
if found != variant:
    skip("petsc4py is of variant %s, the library of %s" % (found, variant))

if sys.argv[1].endswith(".py"):
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit(0)
result = unittest.TextTestRunner(stream=sys.stderr if PETSc.COMM_WORLD.rank == 0 else open(os.devnull, "w"), verbosity=2).run(
    unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(sys.argv[1]))
)
if not result.wasSuccessful():
    for test, text in result.failures + result.errors:
        print("process %d: %s\n%s" % (PETSc.COMM_WORLD.rank, test, text), flush=True)
    sys.exit(1)
