#include "tt/train.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace petsctt {

Train::Train(SpacePtr space) : space_(std::move(space)), cores_(space_->d()) { set_zero(); }

std::vector<Int> Train::ranks() const
{
  std::vector<Int> r(d() + 1);
  for (Int k = 0; k <= d(); ++k) r[k] = this->r(k);
  return r;
}

Int Train::max_rank() const
{
  Int r = 1;
  for (const Core &c : cores_) r = std::max(r, c.r1);
  return r;
}

Count Train::local_entries() const
{
  Count n = 0;
  for (const Core &c : cores_) n += c.count();
  return n;
}

double Train::global_entries() const
{
  double n = 0;
  for (Int k = 0; k < d(); ++k) n += (double)cores_[k].r0 * (double)space_->N(k) * (double)cores_[k].r1;
  return n;
}

Core &Train::core_rw(Int k)
{
  left_  = std::min(left_, k);
  right_ = std::min(right_, d() - 1 - k);
  return cores_[k];
}

void Train::set_core(Int k, Core c)
{
  PETSCTT_REQUIRE(c.n == space_->n(k), PETSC_ERR_ARG_SIZ, "Core %lld has %lld local mode indices, its space has %lld", (long long)k, (long long)c.n, (long long)space_->n(k));
  core_rw(k) = std::move(c);
}

void Train::check() const
{
  for (Int k = 0; k < d(); ++k) {
    const Core &c = cores_[k];
    PETSCTT_REQUIRE(c.r0 >= 1 && c.r1 >= 1, PETSC_ERR_ARG_SIZ, "Core %lld has TT ranks %lld, %lld; they must be at least 1", (long long)k, (long long)c.r0, (long long)c.r1);
    if (k) PETSCTT_REQUIRE(cores_[k - 1].r1 == c.r0, PETSC_ERR_ARG_SIZ, "TT ranks of cores %lld and %lld differ: %lld and %lld", (long long)k - 1, (long long)k, (long long)cores_[k - 1].r1, (long long)c.r0);
  }
  PETSCTT_REQUIRE(cores_.front().r0 == 1 && cores_.back().r1 == 1, PETSC_ERR_ARG_SIZ, "The outer TT ranks are %lld and %lld; they must be 1", (long long)cores_.front().r0, (long long)cores_.back().r1);
}

void Train::set_zero()
{
  for (Int k = 0; k < d(); ++k) {
    cores_[k] = Core(1, space_->n(k), 1);
    std::fill(cores_[k].data(), cores_[k].data() + cores_[k].count(), Scalar(0));
  }
  scale_ = Scaled();
  left_ = right_ = 0;
}

} // namespace petsctt
