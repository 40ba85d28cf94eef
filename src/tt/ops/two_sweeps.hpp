#ifndef PETSCTT_TT_OPS_TWO_SWEEPS_HPP
#define PETSCTT_TT_OPS_TWO_SWEEPS_HPP

#include "tt/ops/random_sum.hpp"

namespace petsctt {

// out := sum of the terms, rounded in two sweeps; the sum, its block cores and their orthogonal factors are never formed.
//
// The sweep from the right finds for every bond k a matrix W_k, (sum of the r_k) x l, with the same Gram matrix W_k W_k^H as the rows of the
// part of the sum right of the bond: the triangle of an orthogonal factorisation without its Q. The sweep from the left carries C, the part
// up to core k in terms of the orthonormal bases chosen so far; the singular values of C W_k are those of the whole across the bond, and
// the leading left singular vectors U are the new core. U is C W V S^-1 from the factors that are there, made orthonormal once more with the
// Cholesky factor of U^H U. With l < sum of r_k where W_k shows rows that depend on others: exact redundancy is dropped in the first sweep.
//
// method qr: W and the singular values from triangles by ops/local_r.hpp, accurate to round-off. The error returned is that of the truncations.
// method gram: from Gram matrices (Al Daas, Ballard, Manning 2022, "Parallel tensor train rounding using Gram SVD"), fewer flops and, in the
// first sweep, one sum for each core; singular values below sqrt(machine epsilon) times the norms they are computed from are noise. That floor is computed at
// every bond; where it is above a tenth of the truncation allowed there, the sweeps go on with qr, whose type is then reported. The error
// returned includes the floor.
//
// Collective. Cost per core, n points, ranks R before and t after (of the formed sum; block structure makes the products cheaper): qr
// 4 n R^3 + 5 n t R^2 + 7 n t^2 R flops, gram 3 n R^3 + 3 n t R^2 + 4 n t^2 R; messages: tree, broadcast, in the second sweep one sum more.
RoundInfo two_sweeps(const SpacePtr &space, const std::vector<LazyTerm> &terms, const RoundOptions &options, RoundType method, Train &out);

// Frobenius norm of a sum, scale included, by the first sweep with method qr.
Scaled norm_of_sum(const SpacePtr &space, const std::vector<LazyTerm> &terms);

} // namespace petsctt

#endif
