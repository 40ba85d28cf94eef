static char help[] = "Heat conduction in a layered cube for all conductivities of the layers at once, set up by a DM.\n\n";

/*
  The problem.  A cube is made of p horizontal layers; layer i has the conductivity 1 + alpha_i. With heat produced evenly
  and the surface kept at zero, the temperature u(x, y, z; alpha_1, ..., alpha_p) solves

      -div( (1 + sum_i alpha_i chi_i(z)) grad u ) = 1,    u = 0 on the surface.

  On a grid of n^3 points this is (A_0 + sum_i alpha_i A_i) u(alpha) = f, and with s samples of every parameter one linear system of d = p + 1 modes,

      A = A_0 x I x ... x I + sum_i A_i x I x ... x diag(alpha) x ... x I,   b = f x 1 x ... x 1   (x: the Kronecker product),

  as in ex3. Here the modes are described by DMs: a three-dimensional DMDA for the cube, a one-dimensional one, whose coordinates are the samples, for
  each parameter. A DMTT puts them together, and everything else follows PETSc's usual way: KSPSetDM(), a function that fills the operator and one for the
  right-hand side. DMTTGetModeField() and DMTTGetModeMean() give fields over the cube as ordinary vectors of its DMDA, which writes them to VTK files.

  Sample runs.
      ./ex5                                                     17^3 points, 4 layers, 11 samples: 7.2e7 unknowns
      mpiexec -n 4 ./ex5 -mean_view vtk:mean.vts                the mean temperature for ParaView (PETSc
                                                                writes such files of a DMDA for real numbers only)
      ./ex5 -point 0,3,10,5 -field_view vtk:point.vts           and the field at sample 0 of the first parameter, 3 of the second, ...
      ./ex5 -pc_ttkron_mode_0_pc_type mg -pc_ttkron_mode_0_pc_mg_levels 3 -pc_ttkron_mode_0_pc_mg_galerkin both
                                                                geometric multigrid on the cube: PCTTKRON hands the DMDA to the solver of its mode
      ./ex5 -dm_tt_mode_0_da_refine 1                           33^3 points
      ./ex5 -dm_view -ksp_monitor -ksp_view                     the modes and their DMs; as with every PETSc program

  What to look at.
    - The function that fills the operator begins with MatZeroEntries(): the solver may call it again, and terms are added.
    - No preconditioner is chosen: with a DMTT it is PCTTKRON, which solves with A at the mean of the parameters.
    - The field at a point of the parameters is compared with the solution of the problem at that point alone, by PETSc on the same DMDA.
*/
#include <petsctt.h>

#include <petscdmda.h>

#include <vector>

struct Layers {
  PetscInt  p         = 4;  /* layers, and parameters */
  PetscInt  samples   = 11; /* of each parameter */
  PetscReal alpha_max = 20;

  PetscReal alpha(PetscInt j) const { return alpha_max * (PetscReal)j / (PetscReal)(samples - 1); }
  /* the layer of height z in (0, 1) */
  PetscInt at(PetscReal z) const { return PetscMin((PetscInt)(z * (PetscReal)p), p - 1); }
};

static PetscErrorCode get_options(Layers &layers, PetscInt &n, std::vector<PetscInt> &point)
{
  PetscInt  count;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the layered cube", NULL);
  PetscCall(PetscOptionsInt("-n", "points in every direction, those on the surface included", NULL, n, &n, NULL));
  PetscCall(PetscOptionsInt("-layers", "number of layers", NULL, layers.p, &layers.p, NULL));
  PetscCall(PetscOptionsInt("-samples", "samples of every parameter", NULL, layers.samples, &layers.samples, NULL));
  PetscCall(PetscOptionsReal("-alpha_max", "the samples are spaced evenly in [0, alpha_max]", NULL, layers.alpha_max, &layers.alpha_max, NULL));
  PetscCheck(n >= 3 && layers.p >= 1 && layers.samples >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " -layers %" PetscInt_FMT " -samples %" PetscInt_FMT ": at least 3, 1 and 2 are needed", n, layers.p, layers.samples);
  count = layers.p;
  for (PetscInt i = 0; i < layers.p; ++i) point.push_back((i + 1) % layers.samples);
  PetscCall(PetscOptionsIntArray("-point", "sample of each parameter, at which the field is compared with a solution of its own", NULL, point.data(), &count, &set));
  PetscOptionsEnd();
  PetscCheck(!set || count == layers.p, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "-point has %" PetscInt_FMT " numbers, there are %" PetscInt_FMT " layers", count, layers.p);
  for (PetscInt j : point)
    PetscCheck(j >= 0 && j < layers.samples, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-point: %" PetscInt_FMT " is not one of the samples 0..%" PetscInt_FMT, j, layers.samples - 1);
  PetscFunctionReturn(0);
}

/* The tensor: the cube on all processes, the parameters on every process. */
static PetscErrorCode create_dm(const Layers &layers, PetscInt n, DM *dm)
{
  DM cube, axis;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n,
                         PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &cube));
  PetscCall(DMDACreate1d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, layers.samples, 1, 0, NULL, &axis));
  PetscCall(DMTTCreate(PETSC_COMM_WORLD, layers.p + 1, dm));
  PetscCall(DMTTSetModeDM(*dm, 0, cube));
  for (PetscInt i = 1; i <= layers.p; ++i) PetscCall(DMTTSetModeDM(*dm, i, axis)); /* one DM for all of them */
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm)); /* and with it the DMs of the modes, with options such as -dm_tt_mode_0_da_refine */
  PetscCall(DMDASetUniformCoordinates(cube, 0, 1, 0, 1, 0, 1));
  PetscCall(DMDASetUniformCoordinates(axis, 0, layers.alpha_max, 0, 0, 0, 0));
  PetscCall(DMDestroy(&cube));
  PetscCall(DMDestroy(&axis));
  PetscFunctionReturn(0);
}

/* The matrix of -div(c grad u), c = weight[l] in layer l, times h^2; rows of the surface are `surface` times the identity. */
static PetscErrorCode fill_matrix(const Layers &layers, const std::vector<PetscReal> &weight, PetscReal surface, DM cube, Mat M)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(cube, &info));
  const PetscInt  n = info.mx;
  const PetscReal h = 1 / (PetscReal)(n - 1);
  const auto      c = [&](PetscReal z) { return weight[(size_t)layers.at(z)]; };
  const auto      inside = [n](PetscInt i) { return i > 0 && i < n - 1; };
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        MatStencil  row = {k, j, i, 0}, column[7];
        PetscScalar value[7];
        PetscInt    m = 0;
        if (!(inside(i) && inside(j) && inside(k))) {
          value[0] = surface;
          PetscCall(MatSetValuesStencil(M, 1, &row, 1, &row, value, INSERT_VALUES));
          continue;
        }
        PetscReal  sum = 0;
        const auto couple = [&](PetscInt dk, PetscInt dj, PetscInt di, PetscReal conductivity) {
          sum += conductivity;
          if (!(inside(i + di) && inside(j + dj) && inside(k + dk))) return; /* zero there */
          column[m]  = {k + dk, j + dj, i + di, 0};
          value[m++] = -conductivity;
        };
        const PetscReal z = (PetscReal)k * h;
        couple(0, 0, 1, c(z));
        couple(0, 0, -1, c(z));
        couple(0, 1, 0, c(z));
        couple(0, -1, 0, c(z));
        couple(1, 0, 0, c(z + 0.5 * h));
        couple(-1, 0, 0, c(z - 0.5 * h));
        column[m]  = row;
        value[m++] = sum;
        PetscCall(MatSetValuesStencil(M, 1, &row, m, column, value, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* f: h^2 inside, 0 on the surface */
static PetscErrorCode fill_source(DM cube, Vec f)
{
  DMDALocalInfo  info;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(cube, &info));
  const PetscReal h = 1 / (PetscReal)(info.mx - 1);
  PetscCall(DMDAVecGetArray(cube, f, &a));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const bool inside = i > 0 && i < info.mx - 1 && j > 0 && j < info.my - 1 && k > 0 && k < info.mz - 1;
        a[k][j][i]        = inside ? h * h : 0;
      }
  PetscCall(DMDAVecRestoreArray(cube, f, &a));
  PetscFunctionReturn(0);
}

/* diag(alpha), the coordinates of the DM of mode i */
static PetscErrorCode create_parameter_matrix(DM dm, PetscInt i, Mat *D)
{
  DM  axis;
  Vec alpha;

  PetscFunctionBeginUser;
  PetscCall(DMTTGetModeDM(dm, i, &axis));
  PetscCall(DMGetCoordinates(axis, &alpha));
  PetscCall(DMTTCreateModeMat(dm, i, D));
  PetscCall(MatDiagonalSet(*D, alpha, INSERT_VALUES));
  PetscFunctionReturn(0);
}

/* What KSP calls for the operator of its DM. */
static PetscErrorCode compute_operators(KSP ksp, Mat, Mat A, void *ctx)
{
  const Layers    &layers = *(const Layers *)ctx;
  std::vector<Mat> factors((size_t)layers.p + 1, NULL); /* NULL is the identity */
  DM               dm, cube;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMTTGetModeDM(dm, 0, &cube));
  PetscCall(MatZeroEntries(A));
  for (PetscInt i = 0; i <= layers.p; ++i) {
    std::vector<PetscReal> weight((size_t)layers.p, i == 0 ? 1 : 0);
    if (i > 0) weight[(size_t)i - 1] = 1;
    PetscCall(DMTTCreateModeMat(dm, 0, &factors[0]));
    PetscCall(fill_matrix(layers, weight, i == 0 ? 6 : 0, cube, factors[0]));
    if (i > 0) PetscCall(create_parameter_matrix(dm, i, &factors[(size_t)i]));
    PetscCall(MatTTAddTerm(A, 1.0, factors.data()));
    PetscCall(MatDestroy(&factors[0])); /* the operator holds a reference */
    if (i > 0) PetscCall(MatDestroy(&factors[(size_t)i]));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode compute_rhs(KSP ksp, Vec b, void *ctx)
{
  std::vector<Vec> factors((size_t)((const Layers *)ctx)->p + 1, NULL); /* NULL is a vector of ones */
  DM               dm, cube;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMTTGetModeDM(dm, 0, &cube));
  PetscCall(DMTTCreateModeVec(dm, 0, &factors[0]));
  PetscCall(fill_source(cube, factors[0]));
  PetscCall(VecTTSetRankOne(b, factors.data()));
  PetscCall(VecDestroy(&factors[0]));
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b||, with roundings that do not show */
static PetscErrorCode true_residual(KSP ksp, PetscReal *residual)
{
  Mat       A;
  Vec       b, x, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecTTSetMaxRank(r, 0));
  PetscCall(VecTTSetRoundRtol(r, 1e-12));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* The problem at one point of the parameters, by PETSc alone. */
static PetscErrorCode solve_at_point(const Layers &layers, const std::vector<PetscInt> &point, DM cube, Vec *u)
{
  Mat                    A;
  Vec                    f;
  KSP                    ksp;
  std::vector<PetscReal> weight;

  PetscFunctionBeginUser;
  for (PetscInt j : point) weight.push_back(1 + layers.alpha(j));
  PetscCall(DMCreateMatrix(cube, &A));
  PetscCall(fill_matrix(layers, weight, 6, cube, A));
  PetscCall(DMCreateGlobalVector(cube, &f));
  PetscCall(fill_source(cube, f));
  PetscCall(VecDuplicate(f, u));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetOptionsPrefix(ksp, "point_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, f, *u));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode compare_at_point(const Layers &layers, const std::vector<PetscInt> &point, DM dm, Vec x, PetscReal *difference)
{
  DM                    cube;
  Vec                   field, direct;
  PetscReal             norm;
  std::vector<PetscInt> index(1, 0); /* that of the mode that stays is not used */

  PetscFunctionBeginUser;
  index.insert(index.end(), point.begin(), point.end());
  PetscCall(DMTTGetModeDM(dm, 0, &cube));
  PetscCall(DMTTCreateModeVec(dm, 0, &field));
  PetscCall(PetscObjectSetName((PetscObject)field, "temperature"));
  PetscCall(DMTTGetModeField(dm, x, 0, index.data(), field));
  PetscCall(VecViewFromOptions(field, NULL, "-field_view"));
  PetscCall(solve_at_point(layers, point, cube, &direct));
  PetscCall(VecNorm(direct, NORM_2, &norm));
  PetscCall(VecAXPY(direct, -1.0, field));
  PetscCall(VecNorm(direct, NORM_2, difference));
  *difference /= norm;
  PetscCall(VecDestroy(&field));
  PetscCall(VecDestroy(&direct));
  PetscFunctionReturn(0);
}

/* The mean temperature in the cube, and what the conductivity of the lowest layer does to the mean over everything else. */
static PetscErrorCode print_means(const Layers &layers, DM dm, Vec x)
{
  Vec                mean, curve;
  PetscReal          hottest;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMTTCreateModeVec(dm, 0, &mean));
  PetscCall(PetscObjectSetName((PetscObject)mean, "mean"));
  PetscCall(DMTTGetModeMean(dm, x, 0, NULL, mean));
  PetscCall(VecMax(mean, NULL, &hottest));
  PetscCall(VecViewFromOptions(mean, NULL, "-mean_view"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mean over the parameters        at most %.6g in the cube\n", (double)hottest));
  PetscCall(DMTTCreateModeVec(dm, 1, &curve)); /* the same on every process */
  PetscCall(DMTTGetModeMean(dm, x, 1, NULL, curve));
  PetscCall(VecGetArrayRead(curve, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mean over cube and other layers %.6g for alpha_1 = 0, %.6g for alpha_1 = %g\n",
                        (double)PetscRealPart(a[0]), (double)PetscRealPart(a[layers.samples - 1]), (double)layers.alpha_max));
  PetscCall(VecRestoreArrayRead(curve, &a));
  PetscCall(VecDestroy(&mean));
  PetscCall(VecDestroy(&curve));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_size(Vec x)
{
  PetscInt        d;
  const PetscInt *r;
  PetscReal       log10;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, NULL));
  PetscCall(VecTTGetRanks(x, &r));
  PetscCall(VecTTGetFullSize(x, NULL, &log10));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns                        10^%.2f\nTT ranks of the solution       ", (double)log10));
  for (PetscInt k = 0; k <= d; ++k) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT, r[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Layers                layers;
  PetscInt              n = 17, iterations;
  std::vector<PetscInt> point;
  DM                    dm;
  KSP                   ksp;
  Vec                   x;
  PetscReal             residual, difference, rtol;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(get_options(layers, n, point));
  PetscCall(create_dm(layers, n, &dm));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetComputeOperators(ksp, compute_operators, &layers));
  PetscCall(KSPSetComputeRHS(ksp, compute_rhs, &layers));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL)); /* vectors and operator are those of the DM */

  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(true_residual(ksp, &residual));
  PetscCall(print_size(x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations                      %" PetscInt_FMT "\nrelative residual, recomputed   %.1e\n", iterations, (double)residual));
  PetscCall(print_means(layers, dm, x));
  PetscCall(compare_at_point(layers, point, dm, x, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "field at one point              differs from the solution at that point alone by %.1e\n", (double)difference));

  const bool good = residual <= 2 * rtol && difference <= 1000 * rtol;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, good ? "done\n" : "FAILED\n"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
