#!/bin/sh
# Distributed LU against ScaLAPACK and LAPACK: orders 1024, 2048, 4096, 8192 on 1, 2, 4, 16, 32, 64 processes with one thread each. From the
# folder benchmarks/ of a build:
#
#   sh lu.sh [-n "1024 2048"] [-p "1 2 4"] [-t SECONDS] [FOLDER] [-- OPTIONS]       default: lu-figures
#
# Times are measured with up to 4 processes; with more, each case is run once for its counts. A case that takes longer than 1200 s (-t) is left
# out. Leaves what the programs print in FOLDER, all figures in FOLDER/figures.txt, a table in FOLDER/table.txt and, where gnuplot is there, a
# plot in FOLDER/lu.svg. Order 8192 needs about 8 GB and, with a BLAS that is not optimised, most of an hour. With times that count, nothing
# else should run.
set -eu
cd "$(dirname "$0")"
orders="1024 2048 4096 8192" processes="1 2 4 16 32 64" limit=1200 out=lu-figures
while [ $# -gt 0 ]; do
  case $1 in
  -n) orders=$2; shift 2 ;;
  -p) processes=$2; shift 2 ;;
  -t) limit=$2; shift 2 ;;
  -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --) shift; break ;;
  -*) echo "lu.sh: unknown option $1" >&2; exit 2 ;;
  *) out=$1; shift ;;
  esac
done
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mkdir -p "$out"
: >"$out/figures.txt"
for n in $orders; do
  for p in $processes; do
    time=yes
    [ "$p" -le 4 ] || time=no
    echo "== order $n, $p processes" >&2
    if timeout "$limit" "${MPIEXEC:-mpiexec}" -n "$p" ./lu -n "$n" -time $time "$@" >"$out/$n.$p.txt" 2>&1; then
      grep -v '^figure: ' "$out/$n.$p.txt" >&2
      sed -n "s/^figure: //p" "$out/$n.$p.txt" >>"$out/figures.txt"
    else
      echo "lu.sh: order $n on $p processes: no result, see $out/$n.$p.txt" >&2
    fi
  done
done
awk '
  /^lu[.]N/ {
    split($1, part, ".")
    key = substr(part[2], 2) " " substr(part[3], 2)
    if (!(key in seen)) { seen[key] = 1; order[++n] = key }
    value[key, part[4]] = $2
  }
  END {
    m = split("px py layers tile mean_words max_words scalapack_mean_words scalapack_max_words mean_messages max_messages scalapack_mean_messages scalapack_max_messages model_ratio bound_ratio memory_ratio residual residual_ratio seconds median_seconds scalapack_seconds scalapack_median_seconds lapack_seconds", what, " ")
    printf "%6s %4s", "order", "P"
    for (j = 1; j <= m; ++j) printf " %s", what[j]
    print ""
    for (i = 1; i <= n; ++i) {
      split(order[i], k, " ")
      printf "%6s %4s", k[1], k[2]
      for (j = 1; j <= m; ++j) printf " %" length(what[j]) "s", (order[i], what[j]) in value ? value[order[i], what[j]] : "-"
      print ""
    }
  }' "$out/figures.txt" >"$out/table.txt"
cat "$out/table.txt"
if command -v gnuplot >/dev/null; then gnuplot -e "table='$out/table.txt'; picture='$out/lu.svg'" plot_lu.gp && echo "plot: $out/lu.svg"; else echo "no gnuplot: no plot" >&2; fi
