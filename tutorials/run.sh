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
petsctt_more_packages=python3-matplotlib
petsctt_setup "$wanted"
petsctt_build ex3

output=$top/tutorials/output
case " $* " in
  *" -output "*) output= ;;
  *)
    mkdir -p "$output" || petsctt_die "cannot write to $output"
    set -- -output "$output" "$@"
    ;;
esac
set -- -mesh 2x2 -samples 101 -ksp_rtol 1e-6 "$@"
echo "== solving: mpiexec -n ${PETSCTT_NP:-2} ex3 $*"
mpiexec -n "${PETSCTT_NP:-2}" "$build/tutorials/ex3" "$@"
status=$?
[ "$status" -eq 0 ] || petsctt_die "ex3 ended with code $status; its last lines say why"
[ -n "$output" ] || exit 0

python=/usr/bin/python3 # the one that Debian's matplotlib belongs to
[ -x "$python" ] || python=python3
"$python" "$top/share/petsctt/scripts/plot_fields.py" "$output/cookies.vtu" "$output/cookies.png" || petsctt_die "drawing the picture failed"
echo "== files in $output: cookies.vtu for ParaView, cookies.png to look at"
ls -l "$output"
