#!/bin/sh
# Called by ctest with CMAKE BUILD WORK VARIANT LIBDIR GENERATOR CC CXX MPICC MPIEXEC PKG_CONFIG PETSC_CFLAGS PETSC_LIBS PYTHON PYTHON_PETSC set: installs, moves the
# installed tree, then uses it through find_package, pkg-config, -dll_append and from Python.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
say() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
expect() # WORDS COMMAND...: the command ends with 0 and prints WORDS
{
  words=$1
  shift
  "$@" >out.txt 2>&1 || { cat out.txt; fail "$*"; }
  cat out.txt
  grep -q -- "$words" out.txt || fail "no '$words' in the output of $*"
}

rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
say "install, then move the tree"
"$CMAKE" --install "$BUILD" --prefix "$WORK/first" >/dev/null
mv first prefix
prefix=$WORK/prefix
plugin=$prefix/$LIBDIR/petsctt/$VARIANT/libpetsctt.so
[ -f "$plugin" ] || fail "no $plugin"
[ -f "$prefix/share/petsctt/data/cookies/COPYRIGHT.txt" ] || fail "no data"
[ -f "$prefix/share/petsctt/data/cookies/2x2/cookies.msh" ] || fail "no mesh"

say "find_package"
"$CMAKE" -G "$GENERATOR" -S "$here/app" -B app -DCMAKE_PREFIX_PATH="$prefix" -DVARIANT="$VARIANT" -DCMAKE_C_COMPILER="$CC" >configure.txt 2>&1 || {
  cat configure.txt
  fail "find_package(petsctt)"
}
"$CMAKE" --build app >build.txt 2>&1 || { cat build.txt; fail "building with find_package(petsctt)"; }
[ "$(cat app/plugin.txt)" = "$plugin" ] || fail "PETSCTT_PLUGIN is $(cat app/plugin.txt)"
for np in 1 2; do expect "app: solved" "$MPIEXEC" -n $np app/app; done

say "find_package refuses a variant that is not installed"
if "$CMAKE" -G "$GENERATOR" -S "$here/app" -B other -DCMAKE_PREFIX_PATH="$prefix" -DVARIANT=quaternion -DCMAKE_C_COMPILER="$CC" >other.txt 2>&1; then
  fail "find_package found a variant that does not exist"
fi
grep -q "of those installed" other.txt || { cat other.txt; fail "no message about the variants"; }

say "pkg-config"
PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$MPICC" -Wall -o app_pc "$here/app/app.c" $("$PKG_CONFIG" --cflags --libs "petsctt-$VARIANT") -lm
for np in 1 2; do expect "app: solved" "$MPIEXEC" -n $np ./app_pc; done
same=$("$PKG_CONFIG" --variable=plugin "petsctt-$VARIANT")
[ "$(CDPATH='' cd -- "$(dirname "$same")" && pwd)/libpetsctt.so" = "$plugin" ] || fail "pkg-config --variable=plugin is $same"

say "the program in README.md"
sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$here/../../README.md" >readme.c
grep -q PetscFinalize readme.c || fail "README.md has no C program"
# shellcheck disable=SC2046
"$MPICC" -Wall -o readme readme.c $("$PKG_CONFIG" --cflags --libs "petsctt-$VARIANT") -lm
for np in 1 2; do
  expect "converged due to" "$MPIEXEC" -n $np ./readme -ksp_converged_reason
done

say "-dll_append into a program that knows PETSc only"
# shellcheck disable=SC2086
"$MPICC" -Wall -o stock "$here/stock.c" $PETSC_CFLAGS $PETSC_LIBS -lm
if ldd stock | grep petsctt; then fail "the stock program is linked to the library"; fi
for np in 1 2; do
  expect "type tt and KSP type ttgmres" "$MPIEXEC" -n $np ./stock -dll_append "$plugin" -vec_type tt -vec_tt_dim 4 -ksp_type ttgmres
  expect "type tt and KSP type gmres" "$MPIEXEC" -n $np ./stock -dll_append "$plugin" -vec_type tt -vec_tt_dim 4 -ksp_type gmres -pc_type none
done
if "$MPIEXEC" -n 1 ./stock -vec_type tt >without.txt 2>&1; then fail "the stock program knows type tt without the plugin"; fi
say "the Python package, and the program in README.md"
if [ -d "$prefix/lib/python3/dist-packages/petsctt" ] && PYTHONPATH=$PYTHON_PETSC "$PYTHON" -c 'import petsc4py.PETSc, scipy' 2>/dev/null; then
  PYTHONPATH=$prefix/lib/python3/dist-packages:$PYTHON_PETSC
  PYTHONDONTWRITEBYTECODE=1
  export PYTHONPATH PYTHONDONTWRITEBYTECODE
  unset PETSC_DIR PETSC_ARCH
  [ "$("$PYTHON" -c 'import petsctt; print(petsctt.path)')" = "$plugin" ] || fail "the Python package takes another library"
  sed -n '/^```python$/,/^```$/{/^```/d;p;}' "$here/../../README.md" >readme.py
  for np in 1 2; do expect "^\[1, [0-9]*, [0-9]*, 1\] [0-9.]*e-0" "$MPIEXEC" -n $np "$PYTHON" readme.py; done
  [ -f solution.h5 ] || fail "the program in README.md wrote no file"
else
  say "no petsc4py of this variant: the Python package is not tried"
fi

say "all well"
