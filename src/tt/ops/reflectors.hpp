#ifndef PETSCTT_TT_OPS_REFLECTORS_HPP
#define PETSCTT_TT_OPS_REFLECTORS_HPP

#include "base/numbers.hpp"

namespace petsctt {

// Householder factorisations of matrices with one long dimension m and one short dimension n, in matrix products. LAPACK's own work column
// by column up to 128 columns, that is, at the speed of memory. Storage is that of LAPACK's geqrf (tall, A m x n) and gelqf (wide, A
// n x m): the triangle and, beside it, the k = min(m,n) reflectors, with tau.
//
// The product of reflectors is I - V T V^H, where T^-1 = diag(1/tau) + the strict upper triangle of V^H V (Joffrain, Low, Quintana-Orti,
// van de Geijn, Van Zee: Accumulating Householder transformations, revisited, ACM TOMS 32, 2006).

// A = Q R or A = L Q. Recursive halving of n. Cost about 2 m n^2 flops and a third of that for the T's.
void factor_tall(Count m, Count n, Scalar *A, Count lda, Scalar *tau);
void factor_wide(Count m, Count n, Scalar *A, Count lda, Scalar *tau);

// out (m x c, packed) := Q [C; 0], C k x c packed; out (c x m) := [C 0] Q, C c x k packed. out is not A. Cost 2 m k (k + c).
void times_leading_tall(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, const Scalar *C, Scalar *out);
void times_leading_wide(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, const Scalar *C, Scalar *out);

// The first k columns (rows) of A := those of Q. Cost 4 m k^2.
void expand_tall(Count m, Count k, Scalar *A, Count lda, const Scalar *tau);
void expand_wide(Count m, Count k, Scalar *A, Count lda, const Scalar *tau);

} // namespace petsctt

#endif
