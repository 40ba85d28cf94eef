#ifndef PETSCTT_MAT_SOLVER_CONFLUX_AIJ_COVER_HPP
#define PETSCTT_MAT_SOLVER_CONFLUX_AIJ_COVER_HPP

#include <petscsys.h>

#include <vector>

namespace petsctt {

// Smallest set of vertices of a bipartite graph that has an end of every edge. Left vertex l has the edges to the right vertices to[first[l]] ..
// to[first[l + 1] - 1]. Sets in_left, in_right to 0 or 1. Matching of Hopcroft and Karp (SIAM J. Comput. 2, 1973) and the theorem of Koenig:
// O(edges sqrt(vertices)).
void minimum_vertex_cover(PetscInt right, const std::vector<PetscInt> &first, const std::vector<PetscInt> &to, std::vector<char> &in_left, std::vector<char> &in_right);

} // namespace petsctt

#endif
