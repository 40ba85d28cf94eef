#include "aij_cover.hpp"

#include <algorithm>

namespace petsctt {

namespace {

using std::size_t;
using std::vector;

struct Matching {
  const vector<PetscInt> &first, &to;
  vector<PetscInt>        of_left, of_right, depth, next; // partners; layer of a left vertex; edge to look at next

  Matching(PetscInt right, const vector<PetscInt> &f, const vector<PetscInt> &t) :
    first(f), to(t), of_left(f.size() - 1, -1), of_right((size_t)right, -1), depth(f.size() - 1), next(f.size() - 1)
  {
  }

  // Layers of left vertices by the length of alternating paths from the free ones. Returns whether one of them ends at a free right vertex.
  bool layers()
  {
    vector<PetscInt> queue;
    bool             free_right = false;
    for (size_t l = 0; l < of_left.size(); ++l) {
      depth[l] = of_left[l] < 0 ? 0 : -1;
      if (!depth[l]) queue.push_back((PetscInt)l);
    }
    for (size_t q = 0; q < queue.size(); ++q) {
      const size_t l = (size_t)queue[q];
      for (PetscInt e = first[l]; e < first[l + 1]; ++e) {
        const PetscInt partner = of_right[(size_t)to[(size_t)e]];
        if (partner < 0) free_right = true;
        else if (depth[(size_t)partner] < 0) {
          depth[(size_t)partner] = depth[l] + 1;
          queue.push_back(partner);
        }
      }
    }
    return free_right;
  }

  // A path from a free left vertex down the layers to a free right vertex, without recursion; its edges change sides.
  void augment(PetscInt start)
  {
    vector<PetscInt> path{start};
    while (!path.empty()) {
      const size_t l = (size_t)path.back();
      if (next[l] == first[l + 1]) { // a dead end
        path.pop_back();
        continue;
      }
      const PetscInt r = to[(size_t)next[l]], partner = of_right[(size_t)r];
      ++next[l];
      if (partner >= 0) {
        if (depth[(size_t)partner] == depth[l] + 1) path.push_back(partner);
        continue;
      }
      PetscInt give = r;
      for (size_t s = path.size(); s-- > 0;) {
        const size_t   at  = (size_t)path[s];
        const PetscInt old = of_left[at];
        of_left[at]            = give;
        of_right[(size_t)give] = (PetscInt)at;
        give                   = old;
      }
      return;
    }
  }

  void run()
  {
    while (layers()) {
      for (size_t l = 0; l < next.size(); ++l) next[l] = first[l];
      for (size_t l = 0; l < of_left.size(); ++l)
        if (of_left[l] < 0) augment((PetscInt)l);
    }
  }
};

} // namespace

void minimum_vertex_cover(PetscInt right, const vector<PetscInt> &first, const vector<PetscInt> &to, vector<char> &in_left, vector<char> &in_right)
{
  Matching m(right, first, to);
  m.run();
  // After the last search the left vertices with a depth are those that alternating paths from free ones reach.
  in_left.assign(first.size() - 1, 0);
  in_right.assign((size_t)right, 0);
  for (size_t l = 0; l + 1 < first.size(); ++l) {
    if (m.depth[l] < 0) in_left[l] = 1;
    else
      for (PetscInt e = first[l]; e < first[l + 1]; ++e) in_right[(size_t)to[(size_t)e]] = 1;
  }
}

} // namespace petsctt
