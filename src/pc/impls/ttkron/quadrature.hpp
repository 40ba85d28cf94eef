#ifndef PETSCTT_PC_IMPLS_TTKRON_QUADRATURE_HPP
#define PETSCTT_PC_IMPLS_TTKRON_QUADRATURE_HPP

// 1/x as a sum of exponentials. Pure arithmetic, no MPI.
#include "base/numbers.hpp"

#include <vector>

namespace petsctt {

struct ExponentialSum {
  std::vector<Real> weight, exponent; // 1/x is about sum_q weight[q] exp(-exponent[q] x); all positive, exponents ascending
  Real              error = 0;        // largest |1 - x sum| found on [least, largest]
};

// The trapezoidal rule for 1/x = int exp(u - x e^u) du, whose relative error with step h is at most 2 sqrt(4 pi^2/h) exp(-pi^2/h) on the whole line
// (G. Beylkin, L. Monzon, Approximation by exponential sums revisited, 2010). It ends on the right where exp(-least e^u) is small; the terms on the
// left, infinitely many of exponents next to nothing, are one term with the same sum and the same mean exponent, which is right to second order (ours).
// Steps and ends are refined until |1 - x sum| <= eps holds at 400 points of [least, largest], equally spaced in log x: about
// (log(largest/least) + log(1/eps)) log(1/eps)/10 terms. 0 < least <= largest, 1e-12 <= eps < 1.
ExponentialSum exponential_sum(Real least, Real largest, Real eps);

} // namespace petsctt

#endif
