#ifndef PETSCTT_MAT_IMPLS_TT_BLOCKS_HPP
#define PETSCTT_MAT_IMPLS_TT_BLOCKS_HPP

#include "base/numbers.hpp"

#include <vector>

// The train of block matrices behind a MATTT as pure data: coefficients and the numbers of the factors, no PETSc objects.
namespace petsctt {

constexpr Int identity_factor = -1;

// Numbers below that of the identity stand for diagonal matrices whose entries are kept with the operator, 0 being the first of them.
constexpr bool is_diagonal_factor(Int f) { return f < identity_factor; }
constexpr Int  diagonal_factor(Int number) { return identity_factor - 1 - number; }
constexpr Int  diagonal_number(Int f) { return identity_factor - 1 - f; }

// c times factor f of the mode in block (i, j) of a core; identity_factor stands for the identity. Several entries of one
// block are summed.
struct Entry {
  Int    i, j, f;
  Scalar c;
};

// One core: an s0 x s1 grid of blocks, as a list of the entries that are not zero.
struct BlockCore {
  Int                s0 = 1, s1 = 1;
  std::vector<Entry> entries;
};

// d cores; s0 of the first and s1 of the last core are 1. The zero operator is a train of 1 x 1 grids without entries.
using BlockTrain = std::vector<BlockCore>;

BlockTrain zero_blocks(Int d);
bool       is_zero(const BlockTrain &A);

// A += c f_0 x f_1 x ...: every inner block rank grows by one. Cost O(d).
void add_term(BlockTrain &A, Scalar c, const std::vector<Int> &f);
// A += c B; both count their factors alike. Cost O(entries of B).
void add_blocks(BlockTrain &A, Scalar c, const BlockTrain &B);
void scale_blocks(BlockTrain &A, Scalar c);
void conjugate_coefficients(BlockTrain &A);

// Sorts the entries of a core by (j, i, f), sums equal ones and drops those that are zero.
void normalize(BlockCore &core);

// Merges states of every bond whose rows to the right (columns to the left) are proportional, entry by entry to a few units in
// the last place, and drops states that nothing reaches. The operator stays the same; block ranks never grow. Repeated until nothing
// changes. Cost O(E log E) for E entries and sweep.
void merge(BlockTrain &A);

} // namespace petsctt

#endif
