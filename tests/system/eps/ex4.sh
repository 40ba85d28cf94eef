#!/bin/sh
# A program that never heard of tensor trains, SLEPc's own ex4, loads an operator in tensor-train form from a file and computes eigenvalues.
#   sh ex4.sh MPIEXEC-COMMAND EX7 EX4 PLUGIN FOLDER
# The file is written by one process of the tutorial ex7, which also says what the eigenvalues are.
set -eu
run=$1 ex7=$2 ex4=$3 plugin=$4 folder=$5
mkdir -p "$folder"
cd "$folder"
"$ex7" -d 3 -n 6 -stretch 0.2 -eps_nev 2 -st_type sinvert -eps_target 0 -check 1e-8 -eps_view_mat0 binary:A.petsc >written.log
$run "$ex4" -dll_append "$plugin" -file A.petsc -mat_type tt -eps_hermitian -eps_nev 2 -st_type sinvert -eps_target 0 -terse -eps_view_values -eps_view \
  -options_left >solved.log 2>&1 || { cat solved.log; exit 1; }
cat solved.log
grep -q 'type: tt' solved.log                   # the matrix, and the basis vectors
grep -q 'type: ttgmres' solved.log
grep -q 'All requested eigenvalues computed up to the required tolerance' solved.log
grep -q 'no unused options' solved.log
# both print the same two eigenvalues; ex7 has compared its own with the exact ones
awk 'FNR == NR { if (/^ +[0-9.]+ +(<|[0-9.e-]+)/) want[++n] = $1; next }
     /computed up to the required tolerance/ { getline; gsub(",", ""); for (i = 1; i <= NF; i++) have[i] = $i }
     END { for (i = 1; i <= 2; i++) { d = want[i] - have[i]; if (d < 0) d = -d; ok = want[i] > 0 && d < 1e-4; print "eigenvalue", have[i], "of", want[i], ok ? "" : "is wrong"; if (!ok) exit 1 } }' \
  written.log solved.log
