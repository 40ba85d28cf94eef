#!/bin/sh
# Runs the benchmarks of a build for several numbers of processes and prints a table of their figures, one column for each:
#
#   sh run.sh [-p "1 2 4 8 16"] [-o FOLDER] [round|apply|cookies ... [-- OPTIONS]]
#
# from the folder benchmarks/ of a build. Options after "--" go to every program. Outputs stay in FOLDER (default: figures). With more
# processes than cores the counts are exact and the times mean nothing.
set -eu
cd "$(dirname "$0")"
processes="1 2 4 8 16" out=figures programs=
while [ $# -gt 0 ]; do
  case $1 in
  -p) processes=$2; shift 2 ;;
  -o) out=$2; shift 2 ;;
  --) shift; break ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
  *) programs="$programs $1"; shift ;;
  esac
done
[ -n "$programs" ] || programs="round apply cookies"

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OPENBLAS_NUM_THREADS="${OPENBLAS_NUM_THREADS:-1}" MKL_NUM_THREADS="${MKL_NUM_THREADS:-1}"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mkdir -p "$out"

for program in $programs; do
  [ -x "./$program" ] || { echo "run.sh: there is no ./$program here; build the target bench_$program first" >&2; exit 1; }
  for p in $processes; do
    echo "== $program, $p processes" >&2
    ${MPIEXEC:-mpiexec} -n "$p" "./$program" "$@" >"$out/$program.$p" || { cat "$out/$program.$p"; exit 1; }
    grep -v '^figure: ' "$out/$program.$p" >&2
  done
  echo
  # a row for each figure, in the order of the first run
  for p in $processes; do sed -n "s/^figure: /$p /p" "$out/$program.$p"; done | awk -v list="$processes" '
    { value[$2, $1] = $3; if (!($2 in seen)) { seen[$2] = 1; name[++names] = $2 } }
    END {
      n = split(list, P, " ")
      printf "%-42s", "processes"
      for (j = 1; j <= n; ++j) printf " %11s", P[j]
      print ""
      for (i = 1; i <= names; ++i) {
        printf "%-42s", name[i]
        for (j = 1; j <= n; ++j) printf " %11s", (name[i], P[j]) in value ? value[name[i], P[j]] : "-"
        print ""
      }
    }'
done
