#ifndef PETSCTT_TT_OPS_PANEL_HPP
#define PETSCTT_TT_OPS_PANEL_HPP

#include "base/numbers.hpp"

namespace petsctt {

constexpr Count panel_columns = 8;

// Householder factorisation of [R; B], R w x w upper triangular (ldr), B m x w (ldb), w <= panel_columns, column by column in one pass over the
// panel for each: R becomes the new triangle, column j of B the part v_j of the reflector I - tau_j [e_j; v_j] [e_j; v_j]^H.
// For real scalars the loops are compiled for AVX2 as well and chosen when the processor has it.
void factor_panel(Count w, Scalar *R, Count ldr, Count m, Scalar *B, Count ldb, Scalar *tau);

} // namespace petsctt

#endif
