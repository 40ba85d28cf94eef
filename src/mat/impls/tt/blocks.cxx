#include "mat/impls/tt/blocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace petsctt {

BlockTrain zero_blocks(Int d)
{
  return BlockTrain((std::size_t)d);
}

bool is_zero(const BlockTrain &A)
{
  return std::any_of(A.begin(), A.end(), [](const BlockCore &core) { return core.entries.empty(); });
}

void add_term(BlockTrain &A, Scalar c, const std::vector<Int> &f)
{
  BlockTrain one = zero_blocks((Int)A.size());
  for (std::size_t k = 0; k < A.size(); k++) one[k].entries.push_back({0, 0, f[k], 1});
  add_blocks(A, c, one);
}

// The cores of the sum are block diagonal, the first one a block row and the last one a block column; c goes into the first.
void add_blocks(BlockTrain &A, Scalar c, const BlockTrain &B)
{
  if (c == Scalar(0) || is_zero(B)) return;
  if (is_zero(A)) {
    A = B;
    scale_blocks(A, c);
    return;
  }
  const std::size_t d = A.size();
  for (std::size_t k = 0; k < d; k++) {
    const Int i0 = k == 0 ? 0 : A[k].s0, j0 = k + 1 == d ? 0 : A[k].s1;
    for (const Entry &e : B[k].entries) A[k].entries.push_back({i0 + e.i, j0 + e.j, e.f, k == 0 ? c * e.c : e.c});
    if (k > 0) A[k].s0 += B[k].s0;
    if (k + 1 < d) A[k].s1 += B[k].s1;
  }
}

void scale_blocks(BlockTrain &A, Scalar c)
{
  if (c == Scalar(0)) A = zero_blocks((Int)A.size());
  else
    for (Entry &e : A[0].entries) e.c *= c;
}

void conjugate_coefficients(BlockTrain &A)
{
  for (BlockCore &core : A)
    for (Entry &e : core.entries) e.c = conj(e.c);
}

void normalize(BlockCore &core)
{
  auto &e   = core.entries;
  auto  key = [](const Entry &a) { return std::make_tuple(a.j, a.i, a.f); };
  std::stable_sort(e.begin(), e.end(), [&](const Entry &a, const Entry &b) { return key(a) < key(b); });
  std::size_t n = 0;
  for (std::size_t p = 0; p < e.size(); p++) {
    if (n > 0 && key(e[n - 1]) == key(e[p])) e[n - 1].c += e[p].c;
    else {
      if (n > 0 && e[n - 1].c == Scalar(0)) n--;
      e[n++] = e[p];
    }
  }
  if (n > 0 && e[n - 1].c == Scalar(0)) n--;
  e.resize(n);
}

namespace {

// A's mirror image: the cores in reverse order with rows and columns of the grids exchanged.
void reverse(BlockTrain &A)
{
  std::reverse(A.begin(), A.end());
  for (BlockCore &core : A) {
    std::swap(core.s0, core.s1);
    for (Entry &e : core.entries) std::swap(e.i, e.j);
  }
}

// What is to the right of one state: the entries of its row, as positions and coefficients.
struct Row {
  std::vector<std::pair<Int, Int>> where; // (j, f)
  std::vector<Scalar>              c;
};

bool proportional(const std::vector<Scalar> &a, const std::vector<Scalar> &b, Scalar &ratio)
{
  ratio = a[0] / b[0];
  for (std::size_t p = 1; p < a.size(); p++)
    if (!(abs(a[p] - ratio * b[p]) <= 8 * PETSC_MACHINE_EPSILON * abs(a[p]))) return false;
  return true;
}

// Merges the states of the bond between `left` and `right` whose rows in `right` are proportional. Returns whether any went.
bool merge_bond(BlockCore &left, BlockCore &right)
{
  normalize(left);
  normalize(right); // entries of one row come in the order of (j, f)
  const Int        S = right.s0;
  std::vector<Row> rows((std::size_t)S);
  for (const Entry &e : right.entries) {
    rows[e.i].where.push_back({e.j, e.f});
    rows[e.i].c.push_back(e.c);
  }
  std::vector<bool> reached((std::size_t)S, false);
  for (const Entry &e : left.entries) reached[e.j] = true;

  std::map<std::vector<std::pair<Int, Int>>, std::vector<Int>> alike; // representatives with entries in the same places
  std::vector<Int>    to((std::size_t)S, -1);    // new number of the state, -1: dropped
  std::vector<Int>    rep((std::size_t)S, -1);
  std::vector<Scalar> factor((std::size_t)S, 1); // row = factor * row of its representative
  Int                 kept = 0;
  for (Int s = 0; s < S; s++) {
    if (!reached[s] || rows[s].c.empty()) continue;
    std::vector<Int> &list = alike[rows[s].where];
    for (Int r : list)
      if (rep[s] < 0 && proportional(rows[s].c, rows[r].c, factor[s])) rep[s] = r;
    if (rep[s] < 0) {
      rep[s] = s;
      factor[s] = 1;
      list.push_back(s);
      to[s] = kept++;
    } else to[s] = to[rep[s]];
  }
  if (kept == S) return false;

  std::vector<Entry> e;
  for (const Entry &x : left.entries)
    if (to[x.j] >= 0) e.push_back({x.i, to[x.j], x.f, x.c * factor[x.j]});
  left.entries.swap(e);
  e.clear();
  for (const Entry &x : right.entries)
    if (rep[x.i] == x.i) e.push_back({to[x.i], x.j, x.f, x.c});
  right.entries.swap(e);
  left.s1 = right.s0 = std::max<Int>(kept, 1);
  normalize(left);
  normalize(right);
  return true;
}

bool merge_sweep(BlockTrain &A)
{
  bool changed = false;
  for (std::size_t k = A.size() - 1; k > 0; k--) changed = merge_bond(A[k - 1], A[k]) || changed;
  return changed;
}

} // namespace

void merge(BlockTrain &A)
{
  if (A.size() == 1) normalize(A[0]);
  for (bool changed = true; changed && !is_zero(A);) {
    changed = merge_sweep(A);
    reverse(A);
    changed = merge_sweep(A) || changed;
    reverse(A);
  }
  for (BlockCore &core : A) normalize(core); // the mirror image was sorted by rows
  if (is_zero(A)) A = zero_blocks((Int)A.size());
}

} // namespace petsctt
