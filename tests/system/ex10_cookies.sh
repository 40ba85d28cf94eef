#!/bin/sh
# A program that never heard of tensor trains, PETSc's own ex10, loads the cookies operator and right-hand side from a file and solves.
#   sh ex10_cookies.sh MPIEXEC-COMMAND EX3 EX10 PLUGIN FOLDER
# The file is written by one process of ex3 and read by as many as MPIEXEC-COMMAND starts. ex10 prints the residual norm that it
# computes itself with MatMult() and VecAXPY(); relative to ||b||, which ttgmres reports, it must be below the tolerance.
set -eu
run=$1 ex3=$2 ex10=$3 plugin=$4 folder=$5
mkdir -p "$folder"
cd "$folder"
"$ex3" -samples 6 -ksp_rtol 1e-2 -progress 0 -ksp_view_mat binary:A.petsc -ksp_view_rhs binary:b.petsc >written.log
cat A.petsc b.petsc >cookies.petsc
$run "$ex10" -dll_append "$plugin" -f cookies.petsc -mat_type tt -vec_type tt -ksp_type ttgmres -pc_type ttkron -ksp_rtol 1e-4 \
  -ksp_converged_reason -ksp_monitor -options_left 2>&1 | tee solved.log
grep -q 'CONVERGED_RTOL' solved.log
grep -q 'no unused options' solved.log
awk '/^ *0 KSP Residual norm/ { b = $NF } /^Residual norm/ { norm = $NF }
     END { ok = b > 0 && norm != "" && norm <= 1e-4 * b; print "ex10: residual", norm, "of", b, ok ? "" : "is too large"; exit !ok }' solved.log
