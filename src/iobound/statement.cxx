#include "iobound/statement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt::iobound {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Solves the symmetric positive definite system H x = g of a few unknowns in place (Cholesky).
void solve(std::vector<double> &H, std::vector<double> &g)
{
  const int n = (int)g.size();
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k)
      for (int i = j; i < n; ++i) H[i + n * j] -= H[i + n * k] * H[j + n * k];
    const double d = std::sqrt(std::max(H[j + n * j], std::numeric_limits<double>::min()));
    for (int i = j; i < n; ++i) H[i + n * j] /= d;
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) g[i] -= H[i + n * k] * g[k];
    g[i] /= H[i + n * i];
  }
  for (int i = n; i-- > 0;) {
    for (int k = i + 1; k < n; ++k) g[i] -= H[k + n * i] * g[k];
    g[i] /= H[i + n * i];
  }
}

// With x = log D: maximise sum x_t subject to sum_j w_j exp(sum_{t in phi_j} x_t) <= X, x >= 0. Convex; followed along the central path of the
// logarithmic barrier tau sum x + log(X - sum_j ..) + sum log x by Newton steps.
class Barrier {
public:
  Barrier(const Statement &s, double X) : s_(s), X_(X), n_(s.variables) { }

  std::vector<double> maximise()
  {
    double small = 1e-3, used = 0;
    // a start inside: all x equal and so small that half of what X leaves is free
    std::vector<double> x((std::size_t)n_, small);
    for (int tries = 0; tries < 60; ++tries) {
      used = words(x);
      if (used < X_) break;
      small /= 2;
      std::fill(x.begin(), x.end(), small);
    }
    for (double tau = 1; tau < 1e11; tau *= 4)
      for (int step = 0; step < 60; ++step)
        if (!newton(x, tau)) break;
    return x;
  }

private:
  double words(const std::vector<double> &x) const
  {
    double sum = 0;
    for (const Access &a : s_.inputs) {
      double e = 0;
      for (int t : a.variables) e += x[(std::size_t)t];
      sum += a.weight * std::exp(e);
    }
    return sum;
  }

  double value(const std::vector<double> &x, double tau) const
  {
    const double slack = 1 - words(x) / X_;
    double       v     = slack > 0 ? std::log(slack) : -infinite;
    for (double t : x) v += t > 0 ? tau * t + std::log(t) : -infinite;
    return v;
  }

  bool newton(std::vector<double> &x, double tau) const
  {
    const std::size_t   n = (std::size_t)n_;
    std::vector<double> g(n), H(n * n, 0), w(n, 0);
    double              slack = X_;
    std::vector<double> W(n * n, 0);
    for (const Access &a : s_.inputs) {
      double e = 0;
      for (int t : a.variables) e += x[(std::size_t)t];
      const double size = a.weight * std::exp(e);
      slack -= size;
      for (int t : a.variables) {
        w[(std::size_t)t] += size;
        for (int u : a.variables) W[(std::size_t)t + n * (std::size_t)u] += size;
      }
    }
    for (std::size_t t = 0; t < n; ++t) {
      g[t] = tau + 1 / x[t] - w[t] / slack;
      for (std::size_t u = 0; u < n; ++u) H[t + n * u] = W[t + n * u] / slack + w[t] * w[u] / slack / slack; // of minus the objective
      H[t + n * t] += 1 / x[t] / x[t];
    }
    std::vector<double> d = g;
    solve(H, d);
    double decrement = 0;
    for (std::size_t t = 0; t < n; ++t) decrement += d[t] * g[t];
    if (!(decrement > 1e-9)) return false;
    const double now = value(x, tau);
    for (double length = 1; length > 1e-12; length /= 2) {
      std::vector<double> y = x;
      for (std::size_t t = 0; t < n; ++t) y[t] += length * d[t];
      if (value(y, tau) > now) {
        x = y;
        return true;
      }
    }
    return false;
  }

  const Statement &s_;
  double           X_;
  int              n_;
};

} // namespace

Largest largest_part(const Statement &s, double X)
{
  Largest             best;
  std::vector<char>   bounded((std::size_t)s.variables, 0);
  double              least = 0; // words of a single execution
  for (const Access &a : s.inputs) {
    least += a.weight;
    for (int t : a.variables) bounded[(std::size_t)t] = 1;
  }
  best.D.assign((std::size_t)s.variables, 1);
  if (std::find(bounded.begin(), bounded.end(), 0) != bounded.end()) {
    best.executions = infinite;
    return best;
  }
  if (X <= least) return best;
  const std::vector<double> x = Barrier(s, X).maximise();
  double                    sum = 0;
  for (std::size_t t = 0; t < x.size(); ++t) {
    best.D[t] = std::exp(x[t]);
    sum += x[t];
  }
  best.executions = std::exp(sum);
  return best;
}

Intensity intensity(const Statement &s, double M)
{
  Intensity  best;
  const auto ratio = [&](double y, Largest *part) { // y = log((X - M) / M)
    const double X = M + M * std::exp(y);
    Largest      p = largest_part(s, X);
    const double r = p.executions / (X - M);
    if (part) *part = std::move(p);
    return r;
  };
  // The ratio falls and then grows, or falls all the way: psi grows like a power of X of at least one.
  double       a = std::log(1e-6), b = std::log(1e9);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double       c = b - golden * (b - a), d = a + golden * (b - a), fc = ratio(c, nullptr), fd = ratio(d, nullptr);
  while (b - a > 1e-7) {
    if (fc < fd) {
      b  = d;
      d  = c;
      fd = fc;
      c  = b - golden * (b - a);
      fc = ratio(c, nullptr);
    } else {
      a  = c;
      c  = d;
      fc = fd;
      d  = a + golden * (b - a);
      fd = ratio(d, nullptr);
    }
  }
  const double y = (a + b) / 2, limit = ratio(std::log(1e9), nullptr);
  best.rho       = ratio(y, &best.part);
  best.X0        = limit <= best.rho * (1 + 1e-6) ? infinite : M + M * std::exp(y); // no minimum but a limit
  if (s.used_once > 0) best.rho = std::min(best.rho, 1.0 / s.used_once);
  return best;
}

double producer_weight(const Statement &s, double M)
{
  return std::min(1.0, 1 / intensity(s, M).rho);
}

double loads(const Statement &s, const Access &a, const Intensity &i)
{
  double size = a.weight;
  for (int t : a.variables) size *= i.part.D[(std::size_t)t];
  return size * s.executions / i.part.executions;
}

} // namespace petsctt::iobound
