// All KSP types that PETSc has registered, on tensor trains: the Laplacian of a 4-dimensional cube without preconditioner and the cookies
// problem of the tutorial, with its preconditioner. What counts is the residual recomputed from the solution. Prints a table;
//
//   ksp_types -write FILE   writes it as docs/stock_types.md, too
//   ksp_types -check FILE   fails if a verdict differs from that file's
//   ksp_types -types cg,gmres [-laplace_only]   some types only
#include "cookies.hpp"
#include "preconditioner.hpp"

#include <petsctt.h>

#include <petsc/private/kspimpl.h> // KSPList, and which norms and sides a type supports

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// The tolerances asked for. They are in the options database, where vectors look for the accuracy of their roundings.
struct Problem {
  Mat         A = NULL, assembled = NULL; // assembled: the same operator as an ordinary matrix, if it is small enough
  Vec         b = NULL, b_assembled = NULL;
  std::vector<Mat>       space; // of the cookies problem: A_0, ...
  std::vector<PetscReal> alpha;
  std::string rtol = "1e-6", options; // options: before those of the type
  PetscInt    max_it = 300;
};

struct Outcome {
  bool               run = false;
  PetscErrorCode     error = (PetscErrorCode)0;
  std::string        message, reason_name; // of the error; without KSP_
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt           its = 0, rank = 0;
  PetscReal          residual = 0, rtol = 0; // true, relative
  bool               true_norm = false;      // the type can test the norm of b - A x with this preconditioner
  double             seconds = 0; // of the processor

  bool converged() const { return run && !error && reason > 0; }
  bool reached() const { return converged() && residual <= 1.001 * rtol; }
};

struct Row {
  std::string type, options, verdict, note;
  Outcome     laplace, cookies, ordinary; // ordinary: the Laplacian with ordinary vectors
};

// Options which a type needs here. A type can have several rows; one without options is tried for those not listed.
struct Variant {
  const char *type, *options;
  bool        laplace, cookies;
  const char *note;
};
static const char *const normal = "normal equations, whose condition number is the square: not done within minutes on the cookies problem";
static const char *const left   = "tests the preconditioned norm: a smaller tolerance for it";

static const std::vector<Variant> variants = {
  {KSPCR, "", true, false, "PETSc 3.18 does not update the unpreconditioned norm, with ordinary vectors neither"},
  {KSPCR, "-ksp_rtol 2e-5", false, true, left},
  {KSPPIPECR, "", true, false, "as cr"},
  {KSPPIPECR, "-ksp_rtol 2e-5", false, true, left},
  {KSPLCD, "", true, false, ""},
  {KSPLCD, "-ksp_rtol 2e-5", false, true, left},
  {KSPMINRES, "", true, false, ""},
  {KSPMINRES, "-ksp_rtol 1e-4", false, true, left},
  {KSPSYMMLQ, "", true, false, ""},
  {KSPSYMMLQ, "-ksp_rtol 2e-5", false, true, left},
  {KSPPIPELCG, "", true, false, ""},
  {KSPPIPELCG, "-ksp_rtol 2e-5", false, true, left},
  {KSPCGLS, "", true, false, normal},
  {KSPCGNE, "", true, false, normal},
  {KSPLSQR, "", true, false, normal},
  {KSPTCQMR, "", true, false, "does not converge on the cookies problem within minutes"},
  {KSPCHEBYSHEV, "", true, false, ""},
  {KSPCHEBYSHEV, "-ksp_chebyshev_esteig_noisy 0 -ksp_chebyshev_esteig_steps 30", true, false, "estimates the spectrum from b"},
  {KSPCHEBYSHEV, "-ksp_chebyshev_esteig_noisy 0", false, true, "estimates the spectrum from b"},
  {KSPRICHARDSON, "-ksp_richardson_scale SCALE", true, false, "scale 2/(smallest + largest eigenvalue)"},
  {KSPRICHARDSON, "", false, true, ""},
  {KSPQCG, "", true, false, "a trust region of radius 1 by default; preconditions from both sides, which PCTTKRON does not do"},
  {KSPTSIRM, "-pc_type ksp -ksp_ksp_type cg -ksp_ksp_max_it 10 -ksp_pc_type none", true, false, "needs PCKSP"},
};

static std::string error_message;

static PetscErrorCode keep_message(MPI_Comm, int, const char *, const char *, PetscErrorCode n, PetscErrorType p, const char *mess, void *)
{
  if (p == PETSC_ERROR_INITIAL) error_message = mess ? mess : "";
  return n;
}

// Options for the length of a scope.
class ScopedOptions {
public:
  PetscErrorCode set(const std::string &text)
  {
    std::istringstream in(text);
    std::string        name, value;

    PetscFunctionBeginUser;
    while (in >> name >> value) {
      PetscCall(PetscOptionsSetValue(NULL, name.c_str(), value.c_str()));
      names_.push_back(name);
    }
    PetscFunctionReturn(0);
  }
  PetscErrorCode clear()
  {
    PetscFunctionBeginUser;
    for (const std::string &n : names_) PetscCall(PetscOptionsClearValue(NULL, n.c_str()));
    names_.clear();
    PetscFunctionReturn(0);
  }

private:
  std::vector<std::string> names_;
};

// The matrix of mode k of A's vectors with entries of -u'' (times (N+1)^2).
static PetscErrorCode laplace_factor(Vec like, PetscInt k, PetscInt N, Mat *L)
{
  PetscBool       replicated;
  PetscInt        start, end;
  const PetscReal h2 = (PetscReal)((N + 1) * (N + 1));

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(like, k, &replicated, &start, &end));
  PetscCall(MatCreateAIJ(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, end - start, end - start, N, N, 3, NULL, 2, NULL, L));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, N - 1); ++j) PetscCall(MatSetValue(*L, i, j, i == j ? 2 * h2 : -h2, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

// Four modes of N points; b = 1 set by VecSet(), which also stores a norm that PETSc has worked out from the size of the vector.
static PetscErrorCode laplace_problem(PetscInt N, Problem &p)
{
  const PetscInt d = 4, modes[4] = {N, N, N, N}, kinds[4] = {PETSC_TT_DISTRIBUTED, PETSC_TT_AUTO, PETSC_TT_AUTO, PETSC_TT_AUTO};

  PetscFunctionBeginUser;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, kinds, modes, &p.A));
  PetscCall(MatCreateVecs(p.A, NULL, &p.b));
  for (PetscInt k = 0; k < d; ++k) {
    Mat factors[4] = {NULL, NULL, NULL, NULL};
    PetscCall(laplace_factor(p.b, k, N, &factors[k]));
    PetscCall(MatTTAddTerm(p.A, 1.0, factors));
    PetscCall(MatDestroy(&factors[k]));
  }
  PetscCall(MatAssemblyBegin(p.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(p.A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(VecSet(p.b, 1.0));
  PetscCall(MatTTGetAssembled(p.A, &p.assembled));
  PetscCall(MatCreateVecs(p.assembled, NULL, &p.b_assembled));
  PetscCall(VecSet(p.b_assembled, 1.0));
  p.rtol   = "1e-6";
  p.max_it = 800;
  PetscFunctionReturn(0);
}

// The cookies problem with four discs and `samples` values of each parameter in [0, alpha_max].
static PetscErrorCode cookies_problem(PetscInt samples, PetscReal alpha_max, Problem &p)
{
  std::string      file;
  DM               dm;
  Vec              f;
  PetscInt         discs;

  PetscFunctionBeginUser;
  PetscCall(cookies::find_mesh("2x2", file));
  PetscCall(cookies::read_mesh(PETSC_COMM_WORLD, file.c_str(), &dm, &discs));
  PetscCall(cookies::assemble(dm, discs, p.space, &f));
  const PetscInt        d = discs + 1;
  std::vector<PetscInt> n(d, PETSC_TT_AUTO), N(d, samples);
  PetscCall(VecGetLocalSize(f, &n[0]));
  PetscCall(VecGetSize(f, &N[0]));
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, n.data(), N.data(), &p.A));
  PetscCall(MatCreateVecs(p.A, NULL, &p.b));
  for (PetscInt j = 0; j < samples; ++j) p.alpha.push_back(alpha_max * (PetscReal)j / (PetscReal)(samples - 1));
  for (PetscInt i = 0; i < d; ++i) {
    std::vector<Mat> factors(d, NULL);
    factors[0] = p.space[i];
    if (i > 0) PetscCall(cookies::create_diagonal(p.b, i, p.alpha, &factors[i]));
    PetscCall(MatTTAddTerm(p.A, 1.0, factors.data()));
    if (i > 0) PetscCall(MatDestroy(&factors[i]));
  }
  PetscCall(MatAssemblyBegin(p.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p.A, MAT_FINAL_ASSEMBLY));
  std::vector<Vec> factors(d, NULL);
  factors[0] = f;
  PetscCall(VecTTSetRankOne(p.b, factors.data()));
  PetscCall(MatSetOption(p.A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&dm));
  p.rtol   = "1e-3";
  p.max_it = 60;
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(Problem &p)
{
  PetscFunctionBeginUser;
  for (Mat &M : p.space) PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&p.A));
  PetscCall(MatDestroy(&p.assembled));
  PetscCall(VecDestroy(&p.b));
  PetscCall(VecDestroy(&p.b_assembled));
  PetscFunctionReturn(0);
}

// ||b - A x|| / ||b||, with roundings that do not show in it.
static PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal rtol, PetscReal *residual)
{
  Vec       r;
  PetscReal norm;
  PetscBool tt;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)b, VECTT, &tt));
  PetscCall(VecDuplicate(b, &r));
  if (tt) PetscCall(VecTTSetRoundRtol(r, PetscMax(1e-4 * rtol, 1e-13)));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

// The norm of b - A x where the type can test it (from the right if there is a choice of sides), else what the type does by default.
static PetscErrorCode choose_norm(KSP ksp, bool *true_norm)
{
  const char *type;

  PetscFunctionBeginUser;
  *true_norm = true;
  PetscCall(KSPGetType(ksp, &type));
  // PETSc 3.18, with ordinary vectors as well: KSPCR goes on testing the first norm for ever if it is to test the unpreconditioned one,
  // and KSPBCGSL from the right forgets to precondition its solution.
  if (!std::strcmp(type, KSPCR) || !std::strcmp(type, KSPPIPECR) || !std::strcmp(type, KSPBCGSL)) *true_norm = false;
  else if (ksp->normsupporttable[KSP_NORM_UNPRECONDITIONED][PC_RIGHT]) {
    PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  } else if (ksp->normsupporttable[KSP_NORM_UNPRECONDITIONED][PC_LEFT]) {
    PetscCall(KSPSetPCSide(ksp, PC_LEFT));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  } else *true_norm = false;
  PetscFunctionReturn(0);
}

static PetscErrorCode set_up_and_solve(KSP ksp, Mat A, const Problem &p, const char type[], Vec b, Vec x, bool *true_norm)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  if (p.space.empty()) PetscCall(PCSetType(pc, PCNONE));
  else PetscCall(cookies::set_corrected_mean(pc, p.b, p.space, p.alpha));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(choose_norm(ksp, true_norm));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, p.max_it));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscFunctionReturn(0);
}

// One solve. Errors are returned in the outcome, and the objects they leave behind are not used again.
static PetscErrorCode solve(const Problem &p, bool ordinary, const char type[], const std::string &options, Outcome &o)
{
  ScopedOptions  scope;
  Mat            A = ordinary ? p.assembled : p.A;
  Vec            b, x;
  KSP            ksp;
  std::clock_t   start, end;
  const char    *name;

  PetscFunctionBeginUser;
  o.run  = true;
  o.rtol = (PetscReal)std::stod(p.rtol);
  PetscCall(scope.set("-ksp_rtol " + p.rtol + " " + p.options + " " + options));
  PetscCall(VecDuplicate(ordinary ? p.b_assembled : p.b, &b));
  PetscCall(VecCopy(ordinary ? p.b_assembled : p.b, b));
  if (!ordinary) PetscCall(VecSetFromOptions(b)); // options of the type, which its other vectors inherit
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  start = std::clock();
  error_message.clear();
  PetscCall(PetscPushErrorHandler(keep_message, NULL));
  o.error = set_up_and_solve(ksp, A, p, type, b, x, &o.true_norm);
  if (!o.error) o.error = true_residual(A, b, x, o.rtol, &o.residual);
  PetscCall(PetscPopErrorHandler());
  o.message = error_message;
  end = std::clock();
  o.seconds = (double)(end - start) / CLOCKS_PER_SEC;
  if (!o.error) {
    PetscCall(KSPGetConvergedReason(ksp, &o.reason));
    PetscCall(KSPGetConvergedReasonString(ksp, &name));
    o.reason_name = name ? name : std::to_string((int)o.reason);
    PetscCall(KSPGetIterationNumber(ksp, &o.its));
    if (!ordinary) {
      PetscInt        d;
      const PetscInt *r;
      PetscCall(VecTTGetModes(x, &d, NULL));
      PetscCall(VecTTGetRanks(x, &r));
      o.rank = *std::max_element(r, r + d + 1);
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(scope.clear());
  PetscFunctionReturn(0);
}

static bool names_alternative(const std::string &message)
{
  return message.find("-ksp_type") != std::string::npos;
}

// One word per row, compared with the committed table.
static void judge(Row &r)
{
  const Outcome &l = r.laplace, &c = r.cookies;
  if (l.error || c.error) {
    const std::string &m = l.error ? l.message : c.message;
    r.verdict = names_alternative(m) ? "refused" : "fails";
    r.note    = m;
  } else if (r.type == KSPPREONLY || r.type == "none") r.verdict = "no iteration";
  else if ((!l.run || l.reached()) && (!c.run || c.reached())) r.verdict = "works";
  else if ((!l.run || l.reached()) && c.converged() && !c.true_norm) r.verdict = "works, preconditioned norm";
  else if (l.run && !l.reached() && r.ordinary.run && !r.ordinary.reached()) r.verdict = "as ordinary vectors";
  else r.verdict = "inaccurate";
}

static std::string its_of(const Outcome &o)
{
  if (!o.run) return "-";
  if (o.error) return "error " + std::to_string((int)o.error);
  return std::to_string((long long)o.its) + (o.reason > 0 ? "" : " (" + o.reason_name + ")");
}

static std::string residual_of(const Outcome &o)
{
  char text[32];
  if (!o.run || o.error) return "-";
  std::snprintf(text, sizeof(text), "%.1e%s", (double)o.residual, o.true_norm ? "" : " p");
  return text;
}

static std::string line_of(const Row &r)
{
  std::ostringstream s;
  s << "| " << r.type << " | " << r.verdict << " | " << its_of(r.ordinary) << " | " << its_of(r.laplace) << " | " << residual_of(r.laplace) << " | "
    << (r.laplace.run && !r.laplace.error ? std::to_string((long long)r.laplace.rank) : "-") << " | " << its_of(r.cookies) << " | " << residual_of(r.cookies) << " | "
    << (r.cookies.run && !r.cookies.error ? std::to_string((long long)r.cookies.rank) : "-") << " | " << (r.options.empty() ? "" : "`" + r.options + "`") << (r.options.empty() || r.note.empty() ? "" : "; ") << r.note << " |";
  return s.str();
}

static std::string key_of(const std::string &type, const std::string &options) { return options.empty() ? type : type + " " + options; }

static std::string petsc_minor() { return std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR); }

static const char *const head =
  "<!-- Generated by tests/system/ksp_types.cxx with -write; the test system.ksp_types compares its verdicts with this file. -->\n"
  "# PETSc's own Krylov solvers over tensor trains\n\n"
  "Every type of `KSP` that PETSc has registered, on two problems:\n\n"
  "* **Laplace**: the Laplacian of a four-dimensional cube, %LAPLACE% points, without preconditioner, b = 1, `-ksp_rtol %LRTOL%`; beside it the\n"
  "  iterations of the same solver for the same matrix assembled (AIJ) and ordinary vectors.\n"
  "* **Cookies**: the whole problem of the tutorial ex3, 1580 x %SAMPLES% unknowns, parameters evenly spaced in [0, %ALPHA%], with the preconditioner of\n"
  "  the tutorial, which is symmetric: twice `PCTTKRON` at the mean of the parameters and a `MATTT` in between. `-ksp_rtol %CRTOL%`.\n\n"
  "Vectors are rounded to what they choose by default, 1e-3 times `-ksp_rtol`, unless the last column says otherwise. The types test the norm of b - A x wherever they can\n"
  "(`-ksp_norm_type unpreconditioned`, `-ksp_pc_side right` where supported). Residuals in the table are ||b - A x|| / ||b||, recomputed\n"
  "from the solution; `p` marks those whose type can test the preconditioned norm only. Ranks are the largest TT ranks of the solution.\n\n"
  "* **works**: converged, and the recomputed residual is at the tolerance, on both problems unless the last column says otherwise.\n"
  "* **works, preconditioned norm**: the same on the Laplacian; for the cookies problem the preconditioned residual is at the tolerance, and the\n"
  "  residual itself is what the table says: ask for a smaller `-ksp_rtol`.\n"
  "* **inaccurate**: says it has converged, but the residual is larger than asked for; or stops short of it.\n"
  "* **as ordinary vectors**: does not solve the Laplacian with ordinary vectors either.\n"
  "* **refused**: needs what tensor trains do not have, the array of the entries as a rule; the error names solvers that work.\n"
  "* **fails**: an error of PETSc's, in the last column.\n\n"
  "Run `-ksp_monitor_true_residual`, or use `-ksp_type ttgmres`, which recomputes the residual itself and adapts the roundings.\n\n";

static const char *const columns =
  "| type | verdict | AIJ its | Laplace its | residual | rank | cookies its | residual | rank | options, remarks |\n"
  "|---|---|---|---|---|---|---|---|---|---|\n";

static void replace_all(std::string &s, const std::string &from, const std::string &to)
{
  for (auto at = s.find(from); at != std::string::npos; at = s.find(from, at + to.size())) s.replace(at, from.size(), to);
}

static PetscErrorCode write_table(const char file[], const std::vector<Row> &rows, const std::string &text)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank) PetscFunctionReturn(0);
  std::ofstream out(file);
  out << text << "PETSc " << petsc_minor() << ".\n\n" << columns;
  for (const Row &r : rows) out << line_of(r) << "\n";
  PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write %s", file);
  PetscFunctionReturn(0);
}

static std::string trimmed(const std::string &s)
{
  const auto a = s.find_first_not_of(" "), b = s.find_last_not_of(" ");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

// The verdicts must be those of the table; with another version of PETSc than the table's, or on one problem only, what works there must work.
static PetscErrorCode check_table(const char file[], const std::vector<Row> &rows, bool whole)
{
  std::ifstream                      in(file);
  std::map<std::string, std::string> verdicts;
  bool                               same_version = false;
  int                                wrong = 0;

  PetscFunctionBeginUser;
  PetscCheck(in, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "cannot read %s", file);
  for (std::string line; std::getline(in, line);) {
    if (line == "PETSc " + petsc_minor() + ".") same_version = true;
    if (line.compare(0, 2, "| ")) continue;
    std::vector<std::string> cells;
    std::istringstream       cut(line.substr(1));
    for (std::string cell; std::getline(cut, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() < 10 || cells[0] == "type") continue;
    const auto a = cells[9].find('`');
    verdicts[key_of(cells[0], a == 0 ? cells[9].substr(1, cells[9].find('`', 1) - 1) : "")] = cells[1];
  }
  for (const Row &r : rows) {
    const auto  it   = verdicts.find(key_of(r.type, r.options));
    const std::string want = it == verdicts.end() ? "(not in the table)" : it->second;
    // on another problem a type may stop just short of the tolerance, as it does with ordinary vectors (qmrcgs, 8^4 points)
    const bool  fine = !r.verdict.compare(0, 5, "works") || r.verdict == "as ordinary vectors";
    const bool  good = same_version && whole ? r.verdict == want : want.compare(0, 5, "works") || fine;
    if (!good) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, in the table: %s\n", key_of(r.type, r.options).c_str(), r.verdict.c_str(), want.c_str()));
    wrong += !good;
  }
  PetscCheck(!wrong, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%d verdicts differ from %s; if the new ones are meant, write the table anew with -write", wrong, file);
  PetscFunctionReturn(0);
}

static PetscErrorCode selected_types(std::vector<std::string> &types)
{
  char      list[4096] = "";
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(KSPRegisterAll());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-types", list, sizeof(list), &set));
  if (set) {
    std::istringstream in(list);
    for (std::string t; std::getline(in, t, ',');) types.push_back(t);
  } else {
    const char **names;
    int          n;
    PetscCall(PetscFunctionListGet(KSPList, &names, &n));
    for (int i = 0; i < n; ++i)
      if (names[i]) types.push_back(names[i]); // the count includes the NULL at the end
    PetscCall(PetscFree(names));
    std::sort(types.begin(), types.end());
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  std::vector<std::string> types;
  std::vector<Row>         rows;
  Problem                  laplace, cook;
  PetscInt                 n = 12, samples = 101;
  PetscReal                alpha_max = 100;
  PetscBool                laplace_only = PETSC_FALSE, write, check;
  char                     write_file[PETSC_MAX_PATH_LEN], check_file[PETSC_MAX_PATH_LEN];

  PetscCall(PetscInitialize(&argc, &argv, NULL, "All KSP types over tensor trains.\n"));
  PetscCall(PetscTTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-samples", &samples, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-alpha_max", &alpha_max, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-laplace_only", &laplace_only, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", write_file, sizeof(write_file), &write));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-check", check_file, sizeof(check_file), &check));
  char      rtol[32];
  PetscBool set;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-cookies_rtol", rtol, sizeof(rtol), &set));
  PetscCall(selected_types(types));
  PetscCall(laplace_problem(n, laplace));
  if (!laplace_only) PetscCall(cookies_problem(samples, alpha_max, cook));
  if (set) cook.rtol = rtol;
  for (const std::string &type : types) {
    std::vector<Variant> mine;
    for (const Variant &v : variants)
      if (type == v.type) mine.push_back(v);
    if (mine.empty()) mine.push_back({type.c_str(), "", true, true, ""});
    for (const Variant &v : mine) {
      Row row;
      if (laplace_only && !v.laplace) continue;
      row.type    = type;
      row.options = v.options;
      row.note    = v.note;
      const auto at = row.options.find("SCALE");
      if (at != std::string::npos) row.options.replace(at, 5, std::to_string(1.0 / (8. * (n + 1) * (n + 1))));
      if (v.laplace) {
        if (type != KSPTTGMRES) PetscCall(solve(laplace, true, type.c_str(), row.options, row.ordinary));
        PetscCall(solve(laplace, false, type.c_str(), row.options, row.laplace));
      }
      if (v.cookies && !laplace_only && !row.laplace.error) PetscCall(solve(cook, false, type.c_str(), row.options, row.cookies));
      judge(row);
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s  [%.1f s, %.1f s]\n", line_of(row).c_str(), row.laplace.seconds, row.cookies.seconds));
      rows.push_back(row);
    }
  }
  if (write) {
    std::string text = head;
    replace_all(text, "%LAPLACE%", std::to_string((long long)n) + "^4");
    replace_all(text, "%SAMPLES%", std::to_string((long long)samples) + "^4");
    replace_all(text, "%LRTOL%", laplace.rtol);
    replace_all(text, "%CRTOL%", cook.rtol);
    replace_all(text, "%ALPHA%", std::to_string((int)alpha_max));
    PetscCall(write_table(write_file, rows, text));
  }
  if (check) PetscCall(check_table(check_file, rows, !laplace_only));
  PetscCall(destroy(laplace));
  PetscCall(destroy(cook));
  PetscCall(PetscFinalize());
  return 0;
}
