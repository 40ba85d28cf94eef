static char help[] = "Rounding, inner products and norms of tensor trains: rates against DGEMM, messages and words against the cost model.\n\n";

/*
  Rounds a train of d modes of n points and formal TT rank r:
    -case a        X + X for a random train X of rank r/2: its exact TT rank is r/2
    -case b        X1/||X1|| + e X2/||X2||, random trains of rank r/2, e = 1e-6, tolerance 10 e
    -case hilbert  entries of core(i,j,k) = 1/(i+j+k+1), indices from 0; r is the rank of all cores

  Sample runs.
      ./round                                                6 modes of 200 points, rank 40
      ./round -d 10 -n 100 -r 40 -case b
      ./round -d 6 -n 1000 -r 100 -type all -formed
      ./round -d 50 -n 2000 -r 50 -dot_r 0 -sum 0            1.92 GB
      ./round -d 50 -n 2000 -r 50 -compare lapack            against the sweeps as one would write them down (one process)
      mpiexec -n 8 ./round -machine_dgemm 500                messages and words

  What to look at: README.md of this folder says what each figure means.
*/
#include "common/measure.hpp"
#include "common/model.hpp"
#include "common/textbook.hpp"

#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "base/blas.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/fill.hpp"
#include "tt/ops/r_factor.hpp"
#include "tt/ops/round.hpp"
#include "tt/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

using namespace petsctt;
using bench::Cost;
using bench::Figures;
using bench::Machine;

namespace {

struct Options {
  PetscInt  d = 6, n = 200, r = 40;
  char      kind[16] = "b", compare[16] = "none";
  std::vector<RoundType>   types;
  std::vector<std::string> names;
  PetscReal e = 1e-6, rtol = -1;
  PetscBool check = PETSC_TRUE, formed = PETSC_FALSE;
  PetscInt  sum = 10, sum_r = 12;                 // trains to add and the TT rank of each
  PetscInt  dot_d = 10, dot_n = 50, dot_r = 100;
  std::string size() const { return std::to_string((long long)d) + "x" + std::to_string((long long)n); }
};

PetscErrorCode get_options(Options &o)
{
  const char *const types[] = {"qr", "gram", "randomized", "auto", "all"}, *const cases[] = {"a", "b", "hilbert"}, *const others[] = {"none", "lapack"};
  PetscInt          type = 0, kind = 1, compare = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Rounding", NULL);
  PetscCall(PetscOptionsInt("-d", "modes", NULL, o.d, &o.d, NULL));
  PetscCall(PetscOptionsInt("-n", "points of a mode", NULL, o.n, &o.n, NULL));
  PetscCall(PetscOptionsInt("-r", "formal TT rank", NULL, o.r, &o.r, NULL));
  PetscCall(PetscOptionsEList("-type", "method, or all of them", NULL, types, 5, types[type], &type, NULL));
  PetscCall(PetscOptionsEList("-case", "what is rounded", NULL, cases, 3, cases[kind], &kind, NULL));
  PetscCall(PetscOptionsReal("-e", "size of the part that is to go in case b", NULL, o.e, &o.e, NULL));
  PetscCall(PetscOptionsReal("-rtol", "tolerance; default 10 e (1e-12 in case a)", NULL, o.rtol, &o.rtol, NULL));
  PetscCall(PetscOptionsBool("-formed", "hand over the formed train instead of the terms of the sum", NULL, o.formed, &o.formed, NULL));
  PetscCall(PetscOptionsBool("-check", "compute the error made, from the difference", NULL, o.check, &o.check, NULL));
  PetscCall(PetscOptionsEList("-compare", "other program to compare with", NULL, others, 2, others[compare], &compare, NULL));
  PetscCall(PetscOptionsInt("-sum", "trains of the sum; 0: none", NULL, o.sum, &o.sum, NULL));
  PetscCall(PetscOptionsInt("-sum_r", "TT rank of each of them", NULL, o.sum_r, &o.sum_r, NULL));
  PetscCall(PetscOptionsInt("-dot_d", "modes of inner product and norm", NULL, o.dot_d, &o.dot_d, NULL));
  PetscCall(PetscOptionsInt("-dot_n", "points of a mode", NULL, o.dot_n, &o.dot_n, NULL));
  PetscCall(PetscOptionsInt("-dot_r", "TT rank; 0: neither", NULL, o.dot_r, &o.dot_r, NULL));
  PetscOptionsEnd();
  PetscCheck(o.d >= 2 && o.n >= 1 && o.r >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "Need -d >= 2, -n >= 1, -r >= 2, got %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT, o.d, o.n, o.r);
  const RoundType kinds[] = {RoundType::qr, RoundType::gram, RoundType::randomized, RoundType::automatic};
  for (int t = 0; t < 4; ++t)
    if (type == t || type == 4) {
      o.types.push_back(kinds[t]);
      o.names.push_back(types[t]);
    }
  std::strcpy(o.kind, cases[kind]);
  std::strcpy(o.compare, others[compare]);
  if (o.rtol < 0) o.rtol = kind == 0 ? 1e-12 : 10 * o.e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

SpacePtr make_space(PetscInt d, PetscInt n)
{
  int size;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return std::make_shared<const Space>(PETSC_COMM_WORLD, std::vector<Mode>((std::size_t)d, split_evenly(n, size)));
}

Train random(const SpacePtr &space, PetscInt r, std::uint64_t seed)
{
  std::vector<Int> ranks((std::size_t)space->d() + 1, r);
  ranks.front() = ranks.back() = 1;
  return random_train(space, ranks, seed);
}

Train hilbert(const SpacePtr &space, PetscInt r)
{
  const Int d = space->d();
  Train     x(space);
  for (Int k = 0; k < d; ++k) {
    Core c(k ? r : 1, space->n(k), k + 1 < d ? r : 1);
    for (Int b = 0; b < c.r1; ++b)
      for (Int i = 0; i < c.n; ++i)
        for (Int a = 0; a < c.r0; ++a) c(a, i, b) = 1 / (Real)(a + space->start(k) + i + b + 1);
    x.set_core(k, std::move(c));
  }
  x.set_scale(Scaled(Scalar(1)));
  x.set_orthogonal(0, 0);
  return x;
}

// The trains whose sum is rounded, and the terms that refer to them.
struct Sum {
  std::vector<Train> trains;
  std::vector<Term>  terms;
};

void make_sum(const Options &o, const SpacePtr &space, Sum &s)
{
  if (!std::strcmp(o.kind, "hilbert")) {
    s.trains.push_back(hilbert(space, o.r));
    s.terms.push_back({Scaled(Scalar(1)), &s.trains[0]});
    return;
  }
  const bool twice = !std::strcmp(o.kind, "a");
  s.trains.push_back(random(space, o.r / 2, 1));
  if (!twice) s.trains.push_back(random(space, o.r / 2, 2));
  const Train &x = s.trains.front(), &y = s.trains.back();
  s.terms.push_back({Scaled(Scalar(1)) / norm(x), &x});
  s.terms.push_back({Scaled(Scalar(twice ? 1 : o.e)) / norm(y), &y});
}

// || sum - y || / || sum ||, from R factors of the train of the difference.
double true_error(const Sum &s, const Train &y)
{
  std::vector<Term> terms = s.terms;
  const SpacePtr   &space = s.trains[0].space();
  terms.push_back({Scaled(Scalar(-1)), &y});
  const Scaled difference = norm(form_sum(space, terms)), all = norm(form_sum(space, s.terms));
  return (double)real((difference / all).value());
}

std::string rank_list(const Train &x)
{
  const std::vector<Int> r = x.ranks();
  std::string            list;
  for (std::size_t k = 0; k < r.size(); ++k)
    if (r.size() <= 16 || k < 6 || k + 6 >= r.size()) list += (k ? " " : "") + std::to_string((long long)r[k]);
    else if (k == 6) list += " ...";
  return list;
}

const char *type_name(RoundType t)
{
  return t == RoundType::randomized ? "randomized" : t == RoundType::gram ? "gram" : "qr";
}

double over(double a, double b)
{
  return b > 0 ? a / b : 1; // both are 0 on one process
}

// Prints measured and modelled traffic and adds the figures name.messages ... words_over_model.
PetscErrorCode report_traffic(const std::string &name, const bench::Traffic &t, const Cost &model, Figures &figures)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  messages per process %.0f, model %.0f; words %.4g, model %.4g\n", t.messages, model.messages, t.words, model.words));
  figures.add(name + ".messages", t.messages);
  figures.add(name + ".messages_over_model", over(t.messages, model.messages));
  figures.add(name + ".words", t.words);
  figures.add(name + ".words_over_model", over(t.words, model.words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What BLAS reaches in one product, as a fraction of DGEMM measured beside it: f does `flops` of real arithmetic.
PetscErrorCode blas_rate(double flops, const std::function<void()> &f, double *fraction)
{
  const Count times = std::max<Count>(1, (Count)(4e8 / flops));
  double      seconds, dgemm;

  PetscFunctionBegin;
  PetscCall(bench::time_beside_dgemm([]() -> PetscErrorCode { return PETSC_SUCCESS; },
                                     [&]() -> PetscErrorCode {
                                       PetscFunctionBegin;
                                       PetscCallTT(for (Count i = 0; i < times; ++i) f());
                                       PetscFunctionReturn(PETSC_SUCCESS);
                                     },
                                     &seconds, &dgemm));
  *fraction = flops * (is_complex ? 4 : 1) * (double)times / seconds / dgemm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Buffer numbers(Count m, Count n)
{
  Buffer A((std::size_t)(m * n));
  fill_gaussian(1, 0, 0, m * n, A.data());
  return A;
}

Buffer triangle_of(Count r)
{
  Buffer R((std::size_t)(r * r));
  for (Count j = 0; j < r; ++j)
    for (Count i = 0; i < r; ++i) R[i + r * j] = i == j ? 1 : i < j ? 1e-3 : 0;
  return R;
}

// The rooflines of inner product and norm: the products they consist of, at their sizes.
PetscErrorCode bench_roofline(const Options &o, Figures &figures)
{
  const Count  r = o.dot_r, m = std::max<Count>(1, o.dot_n * r), b = std::min(m, RFactor::block_rows(r));
  Buffer       A = numbers(m, r), B = numbers(m, r), R = triangle_of(r), G((std::size_t)(r * r));
  const double mrr = (double)m * (double)(r * r), brr = (double)b * (double)(r * r);
  double       left = 0, right = 0, triangle = 0, square = 0;

  PetscFunctionBegin;
  PetscCall(blas_rate(2 * mrr, [&] { gemm('N', 'N', r, m, r, 1, R.data(), r, A.data(), r, 0, B.data(), r); }, &left));
  PetscCall(blas_rate(2 * mrr, [&] { gemm('C', 'N', r, r, m, 1, A.data(), m, B.data(), m, 0, G.data(), r); }, &right));
  PetscCall(blas_rate(brr, [&] { trmm('R', 'U', 'N', 'N', b, r, 1, R.data(), r, B.data(), b); }, &triangle));
  PetscCall(blas_rate(brr, [&] { gram(b, r, B.data(), b, 0, G.data(), r); }, &square));
  // per entry and rank: dot 2 + 2 flops; norm nominally 3: a product with a triangle, half of a product
  figures.add("dot.roofline", 4 / (2 / left + 2 / right));
  figures.add("norm.roofline", 3 / (1 / triangle + 1 / square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rooflines of `gram` and `qr` for a formed train of rank r that is rounded to t: a core in the middle, its nominal flops by QR sweeps over the time which
// BLAS alone takes for the products that are left of them. Memory traffic beyond that of BLAS, factorisations of r x r matrices and all else are not in it.
PetscErrorCode bench_round_roofline(const Options &o, PetscInt t_after, Figures &figures)
{
  const Count  r = o.r, t = std::max<Count>(1, t_after), m = std::min<Count>((Count)o.n * r, 100000), b = std::min(m, RFactor::block_rows(r)), u = std::min<Count>((Count)o.n * t, 50000);
  Buffer       A = numbers(m, r), B((std::size_t)(std::max(m, u) * std::max(r, t))), R = triangle_of(r), L = numbers(r, t), G((std::size_t)(r * r));
  double       triangle = 0, square = 0, left = 0, basis = 0, square_t = 0;
  const double n = (double)o.n, rd = (double)r, td = (double)t;

  PetscFunctionBegin;
  B.fill(1);
  PetscCall(blas_rate((double)(b * r * r), [&] { trmm('R', 'U', 'N', 'N', b, r, 1, R.data(), r, B.data(), b); }, &triangle));
  B.fill(1);
  PetscCall(blas_rate((double)(b * r * r), [&] { gram(b, r, B.data(), b, 0, G.data(), r); }, &square));
  PetscCall(blas_rate(2.0 * (double)(t * m * r), [&] { gemm('C', 'N', t, m, r, 1, L.data(), r, A.data(), r, 0, B.data(), t); }, &left));
  PetscCall(blas_rate(2.0 * (double)(u * r * t), [&] { gemm('N', 'N', u, t, r, 1, A.data(), u, L.data(), r, 0, B.data(), u); }, &basis));
  PetscCall(blas_rate((double)(u * t * t), [&] { gram(u, t, B.data(), u, 0, G.data(), t); }, &square_t));
  const double nominal = 5 * n * rd * rd * rd + 4 * n * td * rd * rd + 4 * n * td * td * rd;
  const double gram_time = n * rd * rd * rd * (1 / triangle + 1 / square) + n * td * rd * (2 * rd / left + rd / square + 2 * td / basis) + n * td * td * td / square_t;
  const double qr_time   = gram_time + n * (rd * rd * rd + td * rd * rd) / triangle; // the products with the inverses of the preconditioners
  figures.add("round.gram." + o.size() + ".roofline", nominal / gram_time);
  figures.add("round.qr." + o.size() + ".roofline", nominal / qr_time);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bench_round(const Options &o, RoundType type, const std::string &type_name_asked, bool last, Figures &figures)
{
  const SpacePtr    space = make_space(o.d, o.n);
  const std::string name  = "round." + type_name_asked + "." + o.size();
  Sum               s;
  Train             x, y; // formed, and the result
  RoundInfo         info;
  RoundOptions      options;
  bench::Traffic    traffic;
  bench::Memory     memory;
  double            seconds, dgemm, textbook;

  PetscFunctionBegin;
  options.type = type;
  options.rtol = o.rtol;
  PetscCallTT(make_sum(o, space, s));
  PetscCallTT(x = form_sum(space, s.terms));
  double given = 0; // entries of what is rounded
  if (o.formed) given = (double)x.local_entries();
  else
    for (const Train &t : s.trains) given += (double)t.local_entries();
  const std::vector<Int> before = x.ranks();
  const auto   round_it    = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (o.formed) PetscCallTT(info = round(y, options)); // prepared before the clock starts
    else PetscCallTT(info = round_sum(space, s.terms, options, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto prepare = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCallTT(y = Train(space); if (o.formed) y = x);
    memory.start();
    traffic.start();
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  // memory of a first rounding, with nothing kept from before; allocations of later ones
  bench::Memory cold;
  PetscCallTT(free_cached_memory());
  PetscCall(prepare());
  cold.start();
  PetscCall(round_it());
  PetscCall(cold.stop());
  PetscCall(bench::time_beside_dgemm(prepare, round_it, &seconds, &dgemm));
  PetscCall(traffic.stop());
  PetscCall(memory.stop());
  const Cost model = bench::round_cost(*space, before, y.ranks());
  const double train_bytes = std::max(given, (double)y.local_entries()) * sizeof(Scalar);

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round, case %s, %s modes, tolerance %.1e, method %s\n", o.kind, o.size().c_str(), (double)o.rtol, type_name_asked.c_str()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  TT ranks before  %s\n  TT ranks after   %s\n", rank_list(x).c_str(), rank_list(y).c_str()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %.4f s, nominal %.3g Gflop by QR sweeps; train %.3g MB, peak above it %.3g MB; %.0f allocations of %.3g MB per process after the first\n", seconds,
                        1e-9 * model.flops, 1e-6 * train_bytes, 1e-6 * cold.bytes, memory.allocations, 1e-6 * memory.allocated_bytes));
  PetscCall(report_traffic(name, traffic, model, figures));
  figures.add(name + ".seconds", seconds);
  figures.add(name + ".dgemm_fraction", model.flops / seconds / space->comm().size() / dgemm);
  figures.add(name + ".error_reported", (double)info.error);
  if (o.check) {
    double error;
    PetscCallTT(error = true_error(s, y));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  error %.3e, reported %.3e%s, by %s\n", error, (double)info.error, info.estimated ? " (estimated)" : "", type_name(info.type)));
    figures.add(name + ".error", error);
    figures.add(name + ".error_over_tolerance", error / o.rtol);
  }
  figures.add(name + ".rank", y.max_rank());
  figures.add(name + ".peak_over_train", cold.bytes / train_bytes);
  figures.add(name + ".allocations", memory.allocations);
  figures.add(name + ".allocated_over_train", memory.allocated_bytes / train_bytes);
  if (last && o.formed && o.types.size() > 1) PetscCall(bench_round_roofline(o, y.max_rank(), figures));
  if (last && !std::strcmp(o.compare, "lapack")) {
    PetscCheck(space->comm().size() == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-compare lapack runs on one process, not on %d", space->comm().size());
    PetscCall(bench::time_best(
      [&]() -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCallTT(y = x);
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      [&]() -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCallTT(bench::textbook_round(y, o.rtol));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &textbook));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  LAPACK as in the textbook: %.4f s, TT ranks %s\n", textbook, rank_list(y).c_str()));
    figures.add("round." + o.size() + ".speedup_over_lapack", textbook / seconds);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Trains of a common part of TT rank sum_r - 1 and a small part of rank 1 each, which the tolerance keeps, as the basis of a Krylov method has: added and rounded
// as a whole against formed and rounded.
PetscErrorCode bench_sum(const Options &o, Figures &figures)
{
  const SpacePtr space = make_space(o.d, o.n);
  Sum            s, parts;
  Train          y;
  RoundInfo      info;
  RoundOptions   options;
  bench::Traffic traffic;
  double         formed, whole, error;

  PetscFunctionBegin;
  PetscCheck(o.sum_r >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-sum_r %" PetscInt_FMT ": at least 2", o.sum_r);
  options.rtol = 0.01 * o.e;
  PetscCallTT({
    parts.trains.push_back(random(space, o.sum_r - 1, 1));
    for (PetscInt i = 0; i < o.sum; ++i) parts.trains.push_back(random(space, 1, 2 + (std::uint64_t)i));
    const Scaled one = Scaled(Scalar(1)) / norm(parts.trains[0]);
    for (PetscInt i = 0; i < o.sum; ++i) {
      const Train &z = parts.trains[(std::size_t)i + 1];
      s.trains.push_back(form_sum(space, {{one, &parts.trains[0]}, {Scaled(Scalar(o.e)) / norm(z), &z}}));
    }
    for (PetscInt i = 0; i < o.sum; ++i) s.terms.push_back({Scaled(Scalar(1.0 + 0.1 * (Real)i)), &s.trains[(std::size_t)i]});
  });
  const auto nothing = []() -> PetscErrorCode { return PETSC_SUCCESS; };
  const auto add     = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    traffic.start();
    PetscCallTT(info = round_sum(space, s.terms, options, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  options.type   = RoundType::qr;
  options.formed = true;
  PetscCall(bench::time_best(nothing, add, &formed));
  options.type   = RoundType::automatic;
  options.formed = false;
  PetscCall(bench::time_best(nothing, add, &whole));
  PetscCall(traffic.stop());
  PetscCallTT(error = true_error(s, y));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sum of %" PetscInt_FMT " trains of TT rank %" PetscInt_FMT ", %s modes: formed and rounded %.4f s, auto %.4f s (%s), error %.3e, TT rank %" PetscInt_FMT "\n", o.sum,
                        o.sum_r, o.size().c_str(), formed, whole, type_name(info.type), error, y.max_rank()));
  const std::string name = "round.sum" + std::to_string((long long)o.sum);
  figures.add(name + ".speedup", formed / whole);
  figures.add(name + ".error_over_tolerance", error / options.rtol);
  figures.add(name + ".messages", traffic.messages);
  figures.add(name + ".words", traffic.words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bench_products(const Options &o, Figures &figures)
{
  const SpacePtr space = make_space(o.dot_d, o.dot_n);
  Train          x, y;
  Scaled         value;
  bench::Traffic traffic;
  double         seconds, dgemm;

  PetscFunctionBegin;
  PetscCallTT(x = random(space, o.dot_r, 1); y = random(space, o.dot_r, 2));
  PetscCall(bench_roofline(o, figures));
  const auto nothing = []() -> PetscErrorCode { return PETSC_SUCCESS; };
  const auto measure = [&](const char *name, const Cost &model, const std::function<PetscErrorCode()> &f) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(bench::time_beside_dgemm(nothing, f, &seconds, &dgemm));
    PetscCall(traffic.stop());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " modes of %" PetscInt_FMT ", TT rank %" PetscInt_FMT ": %.4f s, nominal %.3g Gflop, log10 of the value %.6f\n", name, o.dot_d, o.dot_n,
                          o.dot_r, seconds, 1e-9 * model.flops, (double)value.log10_abs()));
    PetscCall(report_traffic(name, traffic, model, figures));
    figures.add(std::string(name) + ".dgemm_fraction", model.flops / seconds / space->comm().size() / dgemm);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(measure("dot", bench::dot_cost(*space, x.ranks(), y.ranks()), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    traffic.start();
    PetscCallTT(value = dot(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(measure("norm", bench::norm_cost(*space, x.ranks()), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    traffic.start();
    PetscCallTT(value = norm(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode body(Figures &figures)
{
  Options o;
  Machine machine;

  PetscFunctionBegin;
  PetscCall(get_options(o));
  PetscCall(bench::measure_machine(&machine));
  PetscCall(bench::report_machine(machine, figures));
  for (std::size_t t = 0; t < o.types.size(); ++t) PetscCall(bench_round(o, o.types[t], o.names[t], t + 1 == o.types.size(), figures));
  if (o.sum > 0) PetscCall(bench_sum(o, figures));
  if (o.dot_r > 0) PetscCall(bench_products(o, figures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return bench::run(argc, argv, help, body);
}
