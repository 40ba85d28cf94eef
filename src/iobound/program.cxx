#include "iobound/program.hpp"

#include <algorithm>
#include <map>

namespace petsctt::iobound {

Bound lower_bound(const Program &p, double M)
{
  Bound b;
  for (const Statement &s : p.statements) {
    b.intensities.push_back(intensity(s, M));
    b.each.push_back(s.executions / b.intensities.back().rho);
    b.Q += b.each.back();
  }
  // An array that several statements read is loaded once at least where it is loaded most: of every other statement no more than its own loads
  // can be saved.
  std::map<std::string, std::vector<double>> shared;
  for (std::size_t i = 0; i < p.statements.size(); ++i) {
    std::map<std::string, double> mine; // a statement may read an array twice
    for (const Access &a : p.statements[i].inputs) mine[a.array] += loads(p.statements[i], a, b.intensities[i]);
    for (const auto &m : mine) shared[m.first].push_back(std::min(m.second, b.each[i]));
  }
  for (auto &s : shared) {
    std::sort(s.second.begin(), s.second.end());
    for (std::size_t i = 0; i + 1 < s.second.size(); ++i) b.reuse += s.second[i];
  }
  b.Q = std::max(b.Q - b.reuse, b.each.empty() ? 0.0 : *std::max_element(b.each.begin(), b.each.end()));
  return b;
}

// Arrays of different statements have different names unless sharing them is meant: parts of a matrix that one statement has updated are not the
// inputs of another any more.
Program matmul(double N)
{
  return {"matmul", {{"multiply", 3, {{"C", {0, 1}}, {"A", {0, 2}}, {"B", {2, 1}}}, N * N * N}}};
}

Program lu(double N)
{
  return {"lu",
          {{"column", 2, {{"A(i,k)", {0, 1}}}, N * (N - 1) / 2, 1},
           {"update", 3, {{"A(i,j)", {0, 1}}, {"L(i,k)", {0, 2}}, {"U(k,j)", {2, 1}}}, N * (N - 1) * (N - 2) / 3}}};
}

Program cholesky(double N)
{
  return {"cholesky",
          {{"root", 1, {{"A(k,k)", {0}}}, N, 1},
           {"column", 2, {{"A(i,k)", {0, 1}}}, N * (N - 1) / 2, 1},
           {"update", 3, {{"A(i,j)", {0, 1}}, {"L(i,k)", {0, 2}}, {"L(j,k)", {1, 2}}}, N * (N - 1) * (N - 2) / 6}}};
}

Program tt_apply(double n, double r)
{
  return {"tt-apply", {{"apply", 4, {{"Y", {0, 1, 3}}, {"A", {1, 2}}, {"X", {0, 2, 3}}}, n * n * r * r}}};
}

Program tt_gram(double n, double r, double M)
{
  // variables a, i, b, c of the first, a, i, b, d of the second
  const Statement first = {"times G", 4, {{"T'", {0, 1, 2}}, {"G", {0, 3}}, {"X", {3, 1, 2}}}, n * r * r * r};
  Statement       second = {"times X", 4, {{"H", {3, 2}}, {"X", {0, 1, 3}}, {"T", {0, 1, 2}}}, n * r * r * r};
  second.inputs[2].weight = producer_weight(first, M);
  return {"tt-gram", {first, second}};
}

Program qr_update(double m, double n)
{
  return {"qr-update",
          {{"product", 3, {{"W'", {2, 1}}, {"V", {0, 2}}, {"A'", {0, 1}}}, m * n * (n - 1) / 2},
           {"update", 3, {{"A", {0, 1}}, {"V", {0, 2}}, {"W", {2, 1}}}, m * n * (n - 1) / 2}}};
}

} // namespace petsctt::iobound
