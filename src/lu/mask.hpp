#ifndef PETSCTT_LU_MASK_HPP
#define PETSCTT_LU_MASK_HPP

#include "lu/lu.hpp"

namespace petsctt::lu {

// The pivot rows of a step that are in this grid row, and how the rows that stay close ranks: those left are at positions [0, left), in the same
// order on all layers and grid columns.
struct LU::Mask {
  Count                                left = 0;
  std::vector<Count>                   pivots;    // which of the step's pivots are here: numbers within the tile, ascending
  std::vector<Count>                   positions; // where they are, before
  std::vector<std::pair<Count, Count>> moves;     // (position of a pivot below left, position of a row that takes it)

  // Where the rows at positions [0, rows) go; -1 for pivots.
  std::vector<Count> targets(Count rows) const
  {
    std::vector<Count> to((std::size_t)rows);
    for (Count p = 0; p < rows; ++p) to[(std::size_t)p] = p;
    for (Count p : positions) to[(std::size_t)p] = -1;
    for (const auto &m : moves) to[(std::size_t)m.second] = m.first;
    return to;
  }
};

} // namespace petsctt::lu

#endif
