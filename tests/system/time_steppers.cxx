static char help[] = "PETSc's time steppers over tensor trains: orders of convergence, and errors that step size control keeps.\n\n";

/*
  u' = A u + f(t) on d modes of n points, A = sum_k I x ... x T x ... x I with T = tridiag(lower, diagonal, upper): the heat equation, or
  with lower != upper convection-diffusion, scaled such that explicit steppers of these steps are stable.

  T has the eigenvectors v_m(j) = (lower/upper)^{j/2} sin(m pi j h) and eigenvalues diagonal + 2 sqrt(lower upper) cos(m pi h), so that the exact solution
  of this system of ordinary differential equations is known for every d: a sum of products of eigenvectors, one of which is driven by f,

      u(t) = sum_p exp(lambda_p t) phi_p + sin(t) psi,      f(t) = (cos(t) - lambda_psi sin(t)) psi.

  Its TT ranks are 3. Every stepper solves with steps tau and tau/2: the ratio of the errors gives the order.
*/
#include <petscts.h>
#include <petsctt.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

// 3.19 introduced the name
#if !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

struct Problem {
  PetscInt  d = 3, n = 8;
  PetscReal lower = 0, diagonal = 0, upper = 0;
  Mat       A = NULL;
  Vec       phi[2] = {NULL, NULL}, psi = NULL; // of the homogeneous solution, of the driven one
  PetscReal lambda[2] = {0, 0}, lambda_psi = 0;
  PetscBool assembled = PETSC_FALSE;
  PetscBool imex      = PETSC_FALSE; // A u implicit, f explicit
};

static PetscErrorCode CreateFactor(const Problem &p, Vec x, PetscInt k, Mat *M)
{
  PetscBool replicated;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
  PetscCall(MatCreate(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, M));
  PetscCall(MatSetSizes(*M, end - start, end - start, p.n, p.n));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*M, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*M, 3, NULL, 2, NULL));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(*M, i, i - 1, p.lower, INSERT_VALUES));
    PetscCall(MatSetValue(*M, i, i, p.diagonal, INSERT_VALUES));
    if (i + 1 < p.n) PetscCall(MatSetValue(*M, i, i + 1, p.upper, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The product of eigenvectors of T, number 1 + (m + k) % 3 on mode k, of norm about 1, and its eigenvalue.
static PetscErrorCode Eigenvector(const Problem &p, PetscInt m, Vec *phi, PetscReal *lambda)
{
  std::vector<Vec> mode((size_t)p.d);
  PetscReal        norm;
  const PetscReal  h = 1.0 / (PetscReal)(p.n + 1);

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(p.A, phi, NULL));
  *lambda = 0;
  for (PetscInt k = 0; k < p.d; k++) {
    const PetscReal number = (PetscReal)(1 + (m * (k + 1)) % 3);
    PetscInt        start, end;
    PetscScalar    *a;
    PetscCall(VecTTCreateModeVec(*phi, k, &mode[(size_t)k]));
    PetscCall(VecGetOwnershipRange(mode[(size_t)k], &start, &end));
    PetscCall(VecGetArrayWrite(mode[(size_t)k], &a));
    for (PetscInt i = start; i < end; i++)
      a[i - start] = std::pow(p.lower / p.upper, 0.5 * (PetscReal)(i + 1)) * std::sin(number * PETSC_PI * h * (PetscReal)(i + 1));
    PetscCall(VecRestoreArrayWrite(mode[(size_t)k], &a));
    *lambda += p.diagonal + 2 * std::sqrt(p.lower * p.upper) * std::cos(number * PETSC_PI * h);
  }
  PetscCall(VecTTSetRankOne(*phi, mode.data()));
  PetscCall(VecNormalize(*phi, &norm));
  for (Vec &v : mode) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Problem &p, PetscReal diffusion, PetscReal velocity)
{
  std::vector<PetscInt> N((size_t)p.d, p.n);
  std::vector<Mat>      factors((size_t)p.d, (Mat)NULL);
  const PetscReal       h = 1.0 / (PetscReal)(p.n + 1);
  Vec                   x;

  PetscFunctionBeginUser;
  p.lower    = diffusion / (h * h) + velocity / (2 * h);
  p.upper    = diffusion / (h * h) - velocity / (2 * h);
  p.diagonal = -2 * diffusion / (h * h);
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, p.d, NULL, N.data(), &p.A));
  PetscCall(MatCreateVecs(p.A, &x, NULL));
  for (PetscInt k = 0; k < p.d; k++) {
    PetscCall(CreateFactor(p, x, k, &factors[(size_t)k]));
    PetscCall(MatTTAddTerm(p.A, 1, factors.data()));
    PetscCall(MatDestroy(&factors[(size_t)k]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(Eigenvector(p, 0, &p.phi[0], &p.lambda[0]));
  PetscCall(Eigenvector(p, 1, &p.phi[1], &p.lambda[1]));
  PetscCall(Eigenvector(p, 2, &p.psi, &p.lambda_psi));
  if (p.assembled) { // the same with ordinary vectors
    Mat B;
    PetscCall(MatTTGetAssembled(p.A, &B));
    PetscCall(MatDestroy(&p.A));
    p.A = B;
    for (Vec *v : {&p.phi[0], &p.phi[1], &p.psi}) {
      Vec full;
      PetscCall(VecTTGetFull(*v, &full));
      PetscCall(VecDestroy(v));
      *v = full;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Problem &p)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&p.A));
  for (Vec *v : {&p.phi[0], &p.phi[1], &p.psi}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Exact(const Problem &p, PetscReal t, Vec u)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(p.psi, u));
  PetscCall(VecScale(u, std::sin(t)));
  for (int m = 0; m < 2; m++) PetscCall(VecAXPY(u, std::exp(p.lambda[m] * t), p.phi[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RHSFunction(TS, PetscReal t, Vec u, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;

  PetscFunctionBeginUser;
  if (p->imex) {
    PetscCall(VecCopy(p->psi, f));
    PetscCall(VecScale(f, std::cos(t) - p->lambda_psi * std::sin(t)));
  } else {
    PetscCall(MatMult(p->A, u, f));
    PetscCall(VecAXPY(f, std::cos(t) - p->lambda_psi * std::sin(t), p->psi));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IFunction(TS, PetscReal, Vec u, Vec udot, Vec f, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(MatMult(((Problem *)ctx)->A, u, f));
  PetscCall(VecAYPX(f, -1, udot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IJacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(((Problem *)ctx)->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(P, -1));
  PetscCall(MatShift(P, shift));
  if (J != P) PetscCall(MatCopy(P, J, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Result {
  PetscReal error = 0, smallest = PETSC_MAX_REAL, largest = 0; // step sizes
  PetscInt  steps = 0, rank = 0, rejections = 0;
};

static PetscErrorCode Record(TS ts)
{
  Result   *r;
  PetscReal dt, before, now;

  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &r));
  PetscCall(TSGetPrevTime(ts, &before));
  PetscCall(TSGetTime(ts, &now));
  dt          = now - before;
  r->smallest = PetscMin(r->smallest, dt);
  r->largest  = PetscMax(r->largest, dt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sets the options of one run; they are taken back by the destructor.
struct Options {
  std::vector<std::string> names;
  explicit Options(const std::string &line)
  {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    for (std::size_t w = 0; w < words.size(); w++) {
      const bool value = w + 1 < words.size() && (words[w + 1][0] != '-' || std::isdigit(words[w + 1][1]));
      (void)PetscOptionsSetValue(NULL, words[w].c_str(), value ? words[w + 1].c_str() : NULL);
      names.push_back(words[w]);
      if (value) w++;
    }
  }
  ~Options()
  {
    for (const std::string &name : names) (void)PetscOptionsClearValue(NULL, name.c_str());
  }
};

static PetscErrorCode Solve(Problem &p, const std::string &options, PetscReal end, PetscReal dt, Result *result)
{
  Options         set(options);
  TS              ts;
  Vec             u, exact;
  Mat             J;
  PetscReal       norm;
  const PetscInt *r;

  PetscFunctionBeginUser;
  *result = Result();
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, p.imex ? TS_NONLINEAR : TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, RHSFunction, &p));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &J));
  if (p.imex) {
    PetscCall(TSSetIFunction(ts, NULL, IFunction, &p));
    PetscCall(TSSetIJacobian(ts, J, J, IJacobian, &p));
  } else PetscCall(TSSetRHSJacobian(ts, J, J, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetTimeStep(ts, dt));
  PetscCall(TSSetMaxTime(ts, end));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetApplicationContext(ts, result));
  PetscCall(TSSetPostStep(ts, Record));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(MatCreateVecs(p.A, &u, &exact));
  PetscCall(Exact(p, 0, u));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetStepNumber(ts, &result->steps));
  PetscCall(TSGetStepRejections(ts, &result->rejections));
  PetscCall(Exact(p, end, exact));
  PetscCall(VecNorm(exact, NORM_2, &norm));
  PetscCall(VecAXPY(exact, -1, u));
  PetscCall(VecNorm(exact, NORM_2, &result->error));
  result->error /= norm;
  if (!p.assembled) {
    PetscCall(VecTTGetRanks(u, &r));
    for (PetscInt k = 0; k <= p.d; k++) result->rank = PetscMax(result->rank, r[k]);
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&J));
  PetscCall(TSDestroy(&ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Stepper {
  const char *options;
  PetscReal   order;
  bool        implicit, imex;
};

static const Stepper steppers[] = {
  {"-ts_type euler",                                     1, false, false},
  {"-ts_type rk -ts_rk_type 2a",                         2, false, false},
  {"-ts_type rk -ts_rk_type 4",                          4, false, false},
  {"-ts_type rk -ts_rk_type 5dp",                        5, false, false},
  {"-ts_type ssp -ts_ssp_type rks2 -ts_ssp_nstages 4",   2, false, false},
  {"-ts_type ssp -ts_ssp_type rk104",                    4, false, false},
  {"-ts_type beuler",                                    1, true,  false},
  {"-ts_type cn",                                        2, true,  false},
  {"-ts_type theta -ts_theta_theta 0.5",                 2, true,  false},
  {"-ts_type theta -ts_theta_theta 0.75",                1, true,  false},
  {"-ts_type bdf -ts_bdf_order 2",                       2, true,  false},
  {"-ts_type alpha",                2, true,  false},
  {"-ts_type rosw -ts_rosw_type ra34pw2",                3, true,  false},
  {"-ts_type arkimex -ts_arkimex_type 3",                3, true,  true },
  {"-ts_type arkimex -ts_arkimex_type 4",                4, true,  true },
};

// With step size control.
static const Stepper controlled[] = {
  {"-ts_type rk -ts_rk_type 3bs",                        0, false, false},
  {"-ts_type bdf -ts_bdf_order 3 -ts_adapt_type basic",  0, true,  false},
  {"-ts_type theta -ts_theta_theta 0.5 -ts_theta_adapt -ts_adapt_type basic", 0, true,  false},
  {"-ts_type alpha -ts_adapt_type basic",                0, true,  false},
  {"-ts_type rosw -ts_adapt_type dsp",                   0, true,  false},
  {"-ts_type arkimex",                                   0, true,  true },
};

static PetscErrorCode Orders(Problem &p, const std::string &solver, const char *what, const std::vector<PetscInt> &only, PetscBool *failed)
{
  PetscInt number = 0;

  PetscFunctionBeginUser;
  for (const Stepper &s : steppers) {
    const PetscReal end = 1, dt = s.implicit ? (s.order > 2 ? 0.25 : 0.1) : 0.05;
    Result          coarse, fine;
    if (!only.empty() && std::find(only.begin(), only.end(), number++) == only.end()) continue;
    p.imex = s.imex ? PETSC_TRUE : PETSC_FALSE;
    const std::string options = std::string(s.options) + " -ts_adapt_type none " + solver;
    PetscCall(Solve(p, options, end, dt, &coarse));
    PetscCall(Solve(p, options, end, dt / 2, &fine));
    const PetscReal order = std::log2(coarse.error / fine.error);
    const bool      right = order > s.order - 0.35 && order < s.order + 1.1 && fine.error > 1e-11;
    if (!right) *failed = PETSC_TRUE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-52s %-21s errors %.1e %.1e  order %.2f  rank %d%s\n", s.options, what, (double)coarse.error, (double)fine.error, (double)order,
                          (int)fine.rank, right ? "" : "  WRONG ORDER"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Errors at two tolerances: within 30 times the tolerance, falling with it, with steps that are not all the same.
static PetscErrorCode Control(Problem &p, const std::string &solver, const std::vector<PetscInt> &only, PetscBool *failed)
{
  PetscInt number = 0;

  PetscFunctionBeginUser;
  for (const Stepper &s : controlled) {
    Result r[2];
    if (!only.empty() && std::find(only.begin(), only.end(), number++) == only.end()) continue;
    p.imex = s.imex ? PETSC_TRUE : PETSC_FALSE;
    for (int i = 0; i < 2; i++)
      PetscCall(Solve(p, std::string(s.options) + " " + solver + (i ? " -ts_rtol 1e-4 -ts_atol 1e-6" : " -ts_rtol 1e-2 -ts_atol 1e-4"), 1, 0.01, &r[i]));
    const bool right = r[0].error < 0.3 && r[1].error < 3e-3 && r[1].error < 0.3 * r[0].error && r[1].largest > 1.5 * r[1].smallest;
    if (!right) *failed = PETSC_TRUE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-52s steps %d %d, rejected %d %d, sizes %.2g to %.2g, errors %.1e %.1e  rank %d%s\n", s.options, (int)r[0].steps, (int)r[1].steps,
                          (int)r[0].rejections, (int)r[1].rejections, (double)r[1].smallest, (double)r[1].largest, (double)r[0].error, (double)r[1].error, (int)r[1].rank,
                          right ? "" : "  NOT CONTROLLED"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode keep_message(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *message, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL && message) *(std::string *)ctx = message;
  return code;
}

// Fails with `words` in the message, on every process.
static PetscErrorCode Refused(Problem &p, const std::string &options, const char *words, PetscBool *failed)
{
  std::string message;
  Result      r;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(keep_message, &message));
  const int code = (int)Solve(p, options, 1, 0.1, &r);
  PetscCall(PetscPopErrorHandler());
  const bool right = code == PETSC_ERR_SUP && message.find(words) != std::string::npos;
  if (!right) *failed = PETSC_TRUE;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-52s %s: %s\n", options.c_str(), right ? "refused" : "WRONG", message.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem     heat, convection;
  PetscBool   failed = PETSC_FALSE, any;
  PetscInt    d = 3, n = 8, count = 32;
  char given[256] = "-ksp_type ttgmres -ksp_rtol 1e-10 -pc_type ttkron";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-d", &d, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  std::vector<PetscInt> only((size_t)count); // numbers of steppers in their table
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-only", only.data(), &count, &any));
  only.resize(any ? (size_t)count : 0);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solver", given, sizeof(given), NULL));
  const std::string solver = given;
  heat.d = convection.d = d;
  heat.n = convection.n = n;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-assembled", &heat.assembled, NULL));
  convection.assembled = heat.assembled;
  PetscCall(Create(heat, 0.02, 0));
  PetscCall(Create(convection, 0.02, 0.1));
  const char *parts[] = {"-heat", "-convection", "-control", "-refusals"};
  bool        run[4];
  bool        none = true;
  for (int i = 0; i < 4; i++) {
    PetscCall(PetscOptionsHasName(NULL, NULL, parts[i], &any));
    run[i] = any;
    none   = none && !any;
  }
  if (none || run[0]) PetscCall(Orders(heat, solver, "heat", only, &failed));
  if (none || run[1]) PetscCall(Orders(convection, solver, "convection-diffusion", only, &failed));
  if (none || run[2]) PetscCall(Control(convection, solver, only, &failed));
  heat.imex = PETSC_FALSE;
  if (none || run[3]) {
    PetscCall(Refused(heat, "-ts_type pseudo", "-ts_type beuler", &failed));
    PetscCall(Refused(heat, "-ts_type glle", "-ts_type bdf", &failed));
    PetscCall(Refused(heat, "-ts_type irk", "-ts_type bdf", &failed));
    PetscCall(Refused(heat, "-ts_type rk -ts_adapt_wnormtype INFINITY", "-ts_adapt_wnormtype 2", &failed));
  }
  PetscCall(Destroy(heat));
  PetscCall(Destroy(convection));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, failed ? "FAILED\n" : "done\n"));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
