#!/bin/sh
# Sets the machine up where needed, builds, and solves the cookies problem (tutorials/ex3.cxx) from its mesh on 2 processes:
#   sh tutorials/run.sh [real|complex|real64|complex64] [options of ex3, e.g. -samples 11 -ksp_rtol 1e-8]
# Options come after the defaults below and win over them. Environment: PETSCTT_NP (default 2) processes, and
# those of share/petsctt/scripts/setup.sh.
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
petsctt_setup "$wanted"
petsctt_build ex3

output=$top/tutorials/output
case " $* " in
  *" -output "*) set -- -mesh 2x2 -samples 101 -ksp_rtol 1e-6 "$@" ;;
  *)
    mkdir -p "$output" || petsctt_die "cannot write to $output"
    set -- -mesh 2x2 -samples 101 -ksp_rtol 1e-6 -output "$output" "$@"
    ;;
esac
echo "== solving: mpiexec -n ${PETSCTT_NP:-2} ex3 $*"
mpiexec -n "${PETSCTT_NP:-2}" "$build/tutorials/ex3" "$@"
status=$?
[ "$status" -eq 0 ] || petsctt_die "ex3 ended with code $status; its last lines say why"
if [ -d "$output" ]; then
  echo "== files in $output"
  ls -l "$output"
fi
