# Sourced by tests/run.sh and tutorials/run.sh (POSIX sh), with `top` set to the checkout, petsctt_more_packages to what they need beyond
# the build, petsctt_for_tests=yes for SLEPc, the example programs of PETSc and SLEPc and a second variant of PETSc, which the tests load the plugin into, and
# for petsc4py, slepc4py and what the tests of the Python package need. Provides
#   petsctt_setup [real|complex|real64|complex64]   packages, environment, cmake --preset; sets `variant` and `build`
#   petsctt_build [TARGET ...]
# Environment: PETSCTT_VARIANT (default real), PETSCTT_JOBS (default: number of cores), PETSCTT_INSTALL=no (never call apt-get),
# PETSCTT_CMAKE_ARGS (further arguments of cmake, e.g. -DPETSCTT_NATIVE=ON).

petsctt_die()
{
  printf '\n%s: %s\n' "$0" "$*" >&2
  exit 1
}

# MPI as root, more processes than cores, one thread per process.
petsctt_environment()
{
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  export OMPI_MCA_btl_base_warn_component_unused=0
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
  jobs=${PETSCTT_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
}

petsctt_have_package() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Adds the Debian packages that are missing to $missing. A tool that is there by other means counts.
petsctt_missing()
{
  missing=
  for pair in c++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config python3:python3; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
  done
  for package in libopenmpi-dev openmpi-bin libopenblas-dev libhdf5-openmpi-dev libgtest-dev "$petsc_package" ${petsctt_more_packages:-}; do
    petsctt_have_package "$package" || missing="$missing $package"
  done
}

# PETSc's or SLEPc's own example programs, which the tests load the plugin into; the package carries the version in its name.
petsctt_examples_package() # petsc|slepc PACKAGE
{
  version=$(apt-cache depends --important "$2" 2>/dev/null | sed -n "s/.*Depends: lib$1[a-z0-9-]*-*[a-z]*\([0-9]\.[0-9]*\)-dev.*/\1/p" | head -n 1)
  [ -n "$version" ] && echo "lib$1$version-dev-examples"
}

petsctt_apt()
{
  line="apt-get install -y --no-install-recommends$1"
  # another apt may be at work, as on a machine that has just been set up
  wait_for_lock="-o DPkg::Lock::Timeout=300"
  if [ "${PETSCTT_INSTALL:-yes}" = no ]; then
    petsctt_die "these Debian packages are missing and PETSCTT_INSTALL=no forbids to install them; as root, run
  apt-get update && $line"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    petsctt_die "these Debian packages are missing; as root, run
  apt-get update && $line
and start this again."
  fi
  echo "== installing:$1"
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  # shellcheck disable=SC2086
  if ! $line -q $wait_for_lock </dev/null; then
    unknown=
    for package in $1; do
      [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || unknown="$unknown $package"
    done
    [ -z "$unknown" ] || echo "apt knows no package named:$unknown" >&2
    petsctt_die "apt-get could not install the packages (its messages are above). Is the package mirror reachable, and is this Debian 12 or later?
The command was
  $line"
  fi
}

petsctt_packages()
{
  if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "== not a Debian system: taking compiler, CMake, MPI, LAPACK, GoogleTest and PETSc as they are"
    return 0
  fi
  [ -z "${PETSC_DIR:-}" ] || { echo "== PETSC_DIR is set: taking $PETSC_DIR and installing nothing"; return 0; }
  petsctt_missing
  [ -n "$missing" ] && [ "$(id -u)" -eq 0 ] && [ "${PETSCTT_INSTALL:-yes}" != no ] && { apt-get update -q </dev/null || petsctt_die \
    "apt-get update failed; the packages$missing cannot be had without it"; }
  [ -z "$missing" ] || petsctt_apt "$missing"
  if [ "${petsctt_for_tests:-no}" = yes ]; then
    examples=$(petsctt_examples_package petsc "$petsc_package")
    [ -z "$slepc_package" ] || examples="$examples $(petsctt_examples_package slepc "$slepc_package")"
    wanted_for_tests=
    for package in $examples $petsctt_python; do # the tests that need what apt does not know are skipped
      petsctt_have_package "$package" || [ -z "$(apt-cache madison "$package" 2>/dev/null)" ] || wanted_for_tests="$wanted_for_tests $package"
    done
    [ -z "$wanted_for_tests" ] || petsctt_apt "$wanted_for_tests"
  fi
}

petsctt_setup()
{
  variant=${1:-${PETSCTT_VARIANT:-real}}
  other_package=libpetsc-real-dev
  slepc_package= # optional; the tests use it where it is named
  case $variant in
    real) petsc_package=libpetsc-real-dev petsc4py="python3-petsc4py-real python3-slepc4py-real" other_package=libpetsc-complex-dev slepc_package=libslepc-real-dev ;;
    complex) petsc_package=libpetsc-complex-dev petsc4py="python3-petsc4py-complex python3-slepc4py-complex" slepc_package=libslepc-complex-dev ;;
    real64) petsc_package=libpetsc64-real-dev petsc4py=python3-petsc4py-64-real ;;
    complex64) petsc_package=libpetsc64-complex-dev petsc4py=python3-petsc4py-64-complex ;;
    *) petsctt_die "unknown variant '$variant'; there are real, complex, real64, complex64" ;;
  esac
  petsctt_environment
  [ "${petsctt_for_tests:-no}" = no ] || petsctt_more_packages="${petsctt_more_packages:-} $other_package $slepc_package python3-sphinx python3-myst-parser"
  petsctt_python="$petsc4py python3-scipy python3-h5py"
  petsctt_packages
  build=$top/build/$variant
  echo "== configuring $build"
  cd "$top" || exit 1
  # shellcheck disable=SC2086
  cmake --preset "$variant" ${PETSCTT_CMAKE_ARGS:-} || petsctt_die "cmake could not configure the build; see its messages above"
}

petsctt_build()
{
  echo "== building ($jobs at a time)"
  if [ $# -eq 0 ]; then
    cmake --build "$build" -j "$jobs" || petsctt_die "the build failed"
  else
    cmake --build "$build" -j "$jobs" --target "$@" || petsctt_die "the build failed"
  fi
}
