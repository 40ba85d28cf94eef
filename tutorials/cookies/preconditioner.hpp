#ifndef PETSCTT_TUTORIALS_COOKIES_PRECONDITIONER_HPP
#define PETSCTT_TUTORIALS_COOKIES_PRECONDITIONER_HPP

// A preconditioner that is made for the cookies problem, from PETScTT's own parts: PCTTKRON and a MATTT.
#include <petsctt.h>

#include <vector>

namespace cookies {

// diag(values) on mode k of `like`, stored as the mode is: on every process when it is replicated, otherwise with its row layout.
PetscErrorCode create_diagonal(Vec like, PetscInt k, const std::vector<PetscReal> &values, Mat *D);

// Makes pc, whose operators are set, a PCSHELL that applies
//
//   P^{-1} = M^{-1} - M^{-1} B M^{-1},    M = A(m, ..., m), m the mean of the samples,    B = sum_i A_i x diag(g(alpha_i)),
//   g(alpha) = (m + 2) (alpha - m) / (alpha + 2).
//
// Why: A(alpha) = M + sum_i (alpha_i - m) A_i. What the parameters change is the energy in the discs. A harmonic function has the same
// energy inside a circle as its continuation has outside, so that M v = (m + 1) A_i v + A_i v for those parts v of the solution
// that live about disc i, up to the influence of its neighbours: M^{-1} A_i is nearly 1/(m + 2) times a projection, and projections of
// different discs hardly meet. For a projection p, (1 + c p)^{-1} = 1 - c/(1 + c) p, which gives g. The mean-based preconditioner M^{-1}
// alone leaves a condition number of about alpha_max; with the correction, five to ten steps do where it takes fifty.
//
// The correction costs a second solve with M and one product with B per application, and symmetry is kept. The inner PCTTKRON has
// the prefix of pc, so that -pc_ttkron_mode_0_... choose its solver. space: A_0, ..., A_p, referenced. Collective.
PetscErrorCode set_corrected_mean(PC pc, Vec like, const std::vector<Mat> &space, const std::vector<PetscReal> &alpha);

} // namespace cookies

#endif
