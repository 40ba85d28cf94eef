#!/usr/bin/env python3
"""Checks which file includes which: `layers.py ROOT` for a tree, `layers.py --self-check` for the check itself.

Rules (CONTRIBUTING.md says why):
  1. includes point downwards only: base < tt, lu, iobound < sys < vec < mat < dm < pc < ksp < eps, snes < ts < registration
     (src/*.cxx); tt, lu and iobound do not know each other, nor do eps and snes. A public header petscttX.h belongs to the layer X, petscttlu.h to mat.
  2. base, tt, lu and iobound know no PETSc object: of PETSc's headers only petscsys.h, petscmath.h, petscblaslapack*.h; base and iobound no MPI.
  3. from vec upwards a header is for the files of its own layer only, except vec/vectt.hpp and mat/mattt.hpp; one implementation
     (src/LAYER/impls/TYPE) does not see the headers of another.
  4. public headers and the tutorials see public headers only; public headers include each other downwards.
  5. an include in quotes names a file that exists, relative to src/ or to the including file.
"""
import os
import re
import sys
import tempfile

LEVEL = {"base": -1, "tt": 0, "lu": 0, "iobound": 0, "sys": 1, "vec": 2, "mat": 3, "dm": 4, "pc": 5, "ksp": 6, "eps": 7, "snes": 7, "ts": 8, "registration": 9}
OPEN_HEADERS = {"vec/vectt.hpp", "mat/mattt.hpp"}
NUMBERS_ONLY = {"petscsys.h", "petscmath.h", "petscblaslapack.h", "petscblaslapack_mangle.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = (".h", ".hpp", ".cxx", ".c")


def files(root, *tops):
    for top in tops:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)


def public_layer(header):
    """Layer of a public header petscttX.h; petsctt.h includes them all."""
    if header == "petsctt.h":
        return "registration"
    if header == "petscttlu.h":  # what matrices show of src/lu
        return "mat"
    match = re.fullmatch(r"petsctt(\w+)\.h", header)
    return match.group(1) if match and match.group(1) in LEVEL else None


def resolve(root, path, name):
    """The included file relative to src/, or None."""
    for base in ("src", os.path.dirname(path)):
        full = os.path.normpath(os.path.join(base, name))
        if full.startswith("src" + os.sep) and os.path.isfile(os.path.join(root, full)):
            return os.path.relpath(full, "src").replace(os.sep, "/")
    return None


def check_below(layer, target, what):
    if layer == target or LEVEL[target] < LEVEL[layer]:
        return []
    return ["%s belongs to layer %s, which is not below %s" % (what, target, layer)]


def implementation(path):
    """The folder LAYER/impls/TYPE that the path lies in, or None."""
    match = re.match(r"\w+/impls/\w+(?=/)", path)
    return match.group(0) if match else None


def check_source(root, path):
    inside = os.path.relpath(path, "src").replace(os.sep, "/")
    layer = inside.split("/")[0] if "/" in inside else "registration"
    if layer not in LEVEL:
        yield 1, "src/%s is no layer" % layer
        return
    for number, bracket, name in includes(root, path):
        base = os.path.basename(name)
        target = public_layer(base) if not resolve(root, path, name) else None
        if target:
            for error in check_below(layer, target, name):
                yield number, error
        elif LEVEL[layer] <= 0 and base.startswith("petsc") and base not in NUMBERS_ONLY:
            yield number, "%s: %s knows no PETSc object" % (name, layer)
        elif layer in ("base", "iobound") and base.startswith("mpi"):
            yield number, "%s: %s knows no MPI" % (name, layer)
        elif bracket == '"' and not base.startswith("petsc"):
            header = resolve(root, path, name)
            if not header:
                yield number, "%s is found neither in src/ nor beside this file" % name
                continue
            target = header.split("/")[0]
            for error in check_below(layer, target, header):
                yield number, error
            if LEVEL[target] < LEVEL["vec"] or header in OPEN_HEADERS:
                continue
            if target != layer:
                yield number, "%s is private to src/%s" % (header, target)
            elif implementation(inside) and implementation(header) and implementation(inside) != implementation(header):
                yield number, "%s is private to src/%s" % (header, implementation(header))


def check_public(root, path):
    layer = public_layer(os.path.basename(path))
    if not layer:
        yield 1, "include/ holds petsctt.h and petscttLAYER.h only"
        return
    for number, _, name in includes(root, path):
        if name.endswith(".hpp") or "/" in name:
            yield number, "%s is not a public header" % name
        elif public_layer(name):
            for error in check_below(layer, public_layer(name), name):
                yield number, error


def check_tutorial(root, path):
    for number, bracket, name in includes(root, path):
        own = os.path.isfile(os.path.join(root, os.path.dirname(path), name))
        if bracket == '"' and not own and (name.endswith(".hpp") or "/" in name):
            yield number, "%s: tutorials use public headers only" % name


def check(root):
    errors, count = [], 0
    for top, rule in (("src", check_source), ("include", check_public), ("tutorials", check_tutorial)):
        for path in files(root, top):
            count += 1
            errors += ["%s:%d: %s" % (path, number, text) for number, text in rule(root, path)]
    return errors, count


GOOD = {
    "include/petscttsys.h": "#include <petscsys.h>\n",
    "include/petscttvec.h": "#include <petscttsys.h>\n#include <petscvec.h>\n",
    "include/petsctt.h": "#include <petscttvec.h>\n",
    "src/base/error.hpp": "#include <petscsys.h>\n",
    "src/tt/ops/dot.hpp": '#include "base/error.hpp"\n#include <mpi.h>\n',
    "src/iobound/bound.hpp": "#include <vector>\n",
    "src/sys/guard.hpp": '#include "base/error.hpp"\n',
    "src/vec/vectt.hpp": '#include "sys/guard.hpp"\n#include "petscttvec.h"\n#include <petscvec.h>\n',
    "src/vec/impls/tt/ops.hpp": '#include "vec/vectt.hpp"\n',
    "src/vec/impls/tt/ops.cxx": '#include "ops.hpp"\n',
    "src/vec/vectt.cxx": '#include "vec/impls/tt/ops.hpp"\n',
    "src/mat/mattt.hpp": '#include "vec/vectt.hpp"\n',
    "src/ksp/impls/ttgmres/ttgmres.cxx": '#include "mat/mattt.hpp"\n#include "tt/ops/dot.hpp"\n',
    "src/ksp/impls/ttals/sweep.hpp": "#include <vector>\n",
    "src/register.cxx": '#include "mat/mattt.hpp"\n',
    "tutorials/ex1.cxx": "#include <petsctt.h>\n",
}
# One line added to one file, and a piece of the complaint it must bring.
BAD = [
    ("src/tt/ops/dot.hpp", "#include <petscvec.h>", "knows no PETSc object"),
    ("src/tt/ops/dot.hpp", "  #  include \"petscmat.h\"", "knows no PETSc object"),
    ("src/base/error.hpp", '#include "sys/guard.hpp"', "not below"),
    ("src/base/error.hpp", "#include <petscttsys.h>", "not below"),
    ("src/tt/ops/dot.hpp", '#include "iobound/bound.hpp"', "not below"),
    ("src/iobound/bound.hpp", "#include <mpi.h>", "knows no MPI"),
    ("src/base/error.hpp", "#include <mpi.h>", "knows no MPI"),
    ("src/base/error.hpp", '#include "tt/ops/dot.hpp"', "not below"),
    ("src/vec/vectt.hpp", '#include "mat/mattt.hpp"', "not below"),
    ("src/vec/vectt.hpp", '#include "../mat/mattt.hpp"', "not below"),
    ("src/vec/vectt.hpp", "#include <petscttmat.h>", "not below"),
    ("src/vec/vectt.hpp", "#include <petsctt.h>", "not below"),
    ("src/ksp/impls/ttgmres/ttgmres.cxx", '#include "vec/impls/tt/ops.hpp"', "private to src/vec"),
    ("src/ksp/impls/ttgmres/ttgmres.cxx", '#include "ksp/impls/ttals/sweep.hpp"', "private to src/ksp/impls/ttals"),
    ("src/mat/mattt.hpp", '#include "vec/impls/tt/ops.hpp"', "private"),
    ("src/register.cxx", '#include "vec/impls/tt/ops.hpp"', "private"),
    ("src/register.cxx", '#include "tt/nothing.hpp"', "found neither"),
    ("include/petscttvec.h", "#include <petscttmat.h>", "not below"),
    ("include/petscttvec.h", '#include "vec/vectt.hpp"', "not a public header"),
    ("tutorials/ex1.cxx", '#include "vec/vectt.hpp"', "public headers only"),
    ("src/util/misc.cxx", "#include <vector>", "is no layer"),
]


def self_check():
    failures = 0
    for path, line, want in [(None, "", "")] + BAD:
        with tempfile.TemporaryDirectory() as root:
            for name, text in GOOD.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as handle:
                    handle.write(text)
            if path:
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "a", encoding="utf-8") as handle:
                    handle.write(line + "\n")
            errors, _ = check(root)
            good = len(errors) == 1 and errors[0].startswith(path) and want in errors[0] if path else not errors
            if not good:
                failures += 1
                print("self-check: %s with '%s' gave %s" % (path, line, errors))
    print("self-check: %d bad includes tried, %d failures" % (len(BAD), failures))
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-check":
        sys.exit(1 if self_check() else 0)
    errors, count = check(sys.argv[1])
    for error in errors:
        print(error)
    print("%d files, %d wrong includes" % (count, len(errors)))
    sys.exit(1 if errors or count == 0 else 0)


main()
