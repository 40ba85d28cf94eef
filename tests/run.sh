#!/bin/sh
# Sets the machine up where needed, builds, and runs the test suite:
#   sh tests/run.sh [real|complex|real64|complex64] [arguments of ctest, e.g. -R unit]
# See share/petsctt/scripts/setup.sh for the environment variables.
set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
. "$top/share/petsctt/scripts/setup.sh"
wanted=
case ${1:-} in
  '' | -*) ;;
  *)
    wanted=$1
    shift
    ;;
esac
petsctt_for_tests=yes
petsctt_setup "$wanted"
petsctt_build
[ "$jobs" -ge 2 ] || jobs=2
echo "== testing"
exec ctest --preset "$variant" -j "$jobs" "$@"
