#!/bin/sh
# Rounding at full size: the sizes (modes, points, formal TT rank) (10, 100, 40), (6, 1000, 100), (3, 20000, 100), (50, 2000, 50), X + X (case a) and
# X + 1e-6 Z (case b), by every method, on 1 and 2 processes with one thread each. From the folder benchmarks/ of a build:
#
#   sh p3.sh [FOLDER]        default: p3
#
# Leaves what the programs print in FOLDER, all figures in FOLDER/figures.txt (CASE PROCESSES NAME VALUE), a table in FOLDER/table.txt and, where
# gnuplot is there, a plot in FOLDER/round.svg. Needs about 8 GB and half an hour. With times that count, nothing else should run.
set -eu
cd "$(dirname "$0")"
out=${1:-p3}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mkdir -p "$out"
: >"$out/figures.txt"
for size in "10 100 40" "6 1000 100" "3 20000 100" "50 2000 50"; do
  # shellcheck disable=SC2086
  set -- $size
  for kind in a b; do
    for p in 1 2; do
      name=$1x$2.$kind.$p
      more="-sum 0 -dot_r 0"
      [ "$name" != 6x1000.b.1 ] || more="-sum 10 -sum_r 50" # the sum, and the inner product with its own sizes, once
      [ "$name" != 50x2000.a.1 ] || more="$more -compare lapack -reps 2"
      echo "== $name" >&2
      # shellcheck disable=SC2086
      ${MPIEXEC:-mpiexec} -n "$p" ./round -d "$1" -n "$2" -r "$3" -case $kind -type all -formed -machine_triad 3000000 $more >"$out/$name.txt"
      sed -n "s/^figure: /$kind $p /p" "$out/$name.txt" >>"$out/figures.txt"
    done
  done
done
awk '
  $3 ~ /^round[.](qr|gram|randomized|auto)[.]/ {
    split($3, part, ".")
    key = part[3] " " $1 " " $2 " " part[2]
    if (!(key in seen)) { seen[key] = 1; order[++n] = key }
    value[key, part[4]] = $4
  }
  END {
    m = split("seconds dgemm_fraction error error_reported rank peak_over_train words messages", what, " ")
    printf "%-10s %4s %9s %-10s", "size", "case", "processes", "method"
    for (j = 1; j <= m; ++j) printf " %15s", what[j]
    print ""
    for (i = 1; i <= n; ++i) {
      split(order[i], k, " ")
      printf "%-10s %4s %9s %-10s", k[1], k[2], k[3], k[4]
      for (j = 1; j <= m; ++j) printf " %15s", value[order[i], what[j]]
      print ""
    }
  }' "$out/figures.txt" >"$out/table.txt"
cat "$out/table.txt"
grep -E "speedup|^b 1 (dot|norm)[.]dgemm" "$out/figures.txt" || true
if command -v gnuplot >/dev/null; then gnuplot -e "table='$out/table.txt'; picture='$out/round.svg'" plot_round.gp && echo "plot: $out/round.svg"; else echo "no gnuplot: no plot" >&2; fi
