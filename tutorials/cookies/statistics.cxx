#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace cookies {

namespace {

// Vectors with entries 1/N[k] for the modes from `first` on: means are contractions with them.
static PetscErrorCode create_mean_weights(Vec x, PetscInt first, std::vector<Vec> &weights)
{
  PetscInt        d;
  const PetscInt *N;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, &N));
  weights.assign(d, NULL);
  for (PetscInt k = first; k < d; ++k) {
    PetscCall(VecTTCreateModeVec(x, k, &weights[k]));
    PetscCall(VecSet(weights[k], 1.0 / (PetscReal)N[k]));
  }
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode contract_space(Vec x, Vec f, Vec *Q)
{
  PetscInt d;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, NULL));
  std::vector<PetscBool> contract(d, PETSC_FALSE);
  std::vector<Vec>       weights(d, NULL);
  contract[0] = PETSC_TRUE;
  weights[0]  = f;
  PetscCall(VecTTContract(x, contract.data(), weights.data(), Q));
  PetscCall(VecTTSetMaxRank(*Q, 0)); // what follows is to be as good as x: neither its rank cap nor its tolerance
  PetscCall(VecTTSetRoundRtol(*Q, 1e-14));
  PetscCall(VecTTRound(*Q, 1e-13, 0, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode moments(Vec Q, PetscReal *mean, PetscReal *variance)
{
  std::vector<Vec> weights;
  Vec              centred, constant;
  PetscScalar      m;
  PetscReal        full, norm;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetFullSize(Q, &full, NULL));
  PetscCall(create_mean_weights(Q, 0, weights));
  PetscCall(VecTTContractAll(Q, weights.data(), &m));
  for (Vec &w : weights) PetscCall(VecDestroy(&w));
  PetscCall(VecDuplicate(Q, &constant));
  PetscCall(VecDuplicate(Q, &centred));
  PetscCall(VecTTSetConstant(constant, m));
  PetscCall(VecWAXPY(centred, -1.0, constant, Q));
  PetscCall(VecNorm(centred, NORM_2, &norm));
  PetscCall(VecDestroy(&constant));
  PetscCall(VecDestroy(&centred));
  *mean     = PetscRealPart(m);
  *variance = (norm / PetscSqrtReal(full)) * (norm / PetscSqrtReal(full));
  PetscFunctionReturn(0);
}

PetscErrorCode extremes(Vec Q, std::vector<PetscInt> &argmin, std::vector<PetscInt> &argmax, PetscBool *exact)
{
  PetscInt        p, imin, imax;
  const PetscInt *N;
  PetscReal       full, min, max;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(Q, &p, &N));
  PetscCall(VecTTGetFullSize(Q, &full, NULL));
  argmin.assign(p, 0);
  argmax.assign(p, 0);
  *exact = full <= 2e8 ? PETSC_TRUE : PETSC_FALSE;
  if (*exact) { // the index of an entry counts the first mode fastest
    PetscCall(VecMin(Q, &imin, &min));
    PetscCall(VecMax(Q, &imax, &max));
    for (PetscInt i = 0; i < p; imin /= N[i], imax /= N[i], ++i) {
      argmin[i] = imin % N[i];
      argmax[i] = imax % N[i];
    }
    PetscFunctionReturn(0);
  }
  PetscCheck(p < 20, PETSC_COMM_WORLD, PETSC_ERR_SUP, "%" PetscInt_FMT " parameters have too many corners", p);
  const PetscInt           corners = (PetscInt)1 << p;
  std::vector<PetscInt>    index(corners * p);
  std::vector<PetscScalar> value(corners);
  for (PetscInt c = 0; c < corners; ++c)
    for (PetscInt i = 0; i < p; ++i) index[c * p + i] = (c >> i) & 1 ? N[i] - 1 : 0;
  PetscCall(VecTTGetEntries(Q, corners, index.data(), value.data()));
  const auto     less = [](PetscScalar a, PetscScalar b) { return PetscRealPart(a) < PetscRealPart(b); };
  const auto     at   = [&](std::vector<PetscScalar>::iterator v) { return index.begin() + (v - value.begin()) * p; };
  const auto     low = at(std::min_element(value.begin(), value.end(), less)), high = at(std::max_element(value.begin(), value.end(), less));
  argmin.assign(low, low + p);
  argmax.assign(high, high + p);
  PetscFunctionReturn(0);
}

PetscErrorCode corrected_value(Vec x, const std::vector<Mat> &space, const std::vector<PetscReal> &alpha, Vec f, const PetscInt index[], PetscReal *plain, PetscReal *corrected)
{
  std::vector<PetscInt> at(space.size(), 0); // the index of mode 0 is not used
  Vec                   u, r, w;
  PetscScalar           fu, ru;

  PetscFunctionBeginUser;
  for (std::size_t i = 1; i < space.size(); ++i) at[i] = index[i - 1];
  PetscCall(VecDuplicate(f, &u));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(VecDuplicate(f, &w));
  PetscCall(VecTTExtract(x, 0, at.data(), u));
  PetscCall(VecCopy(f, r));
  for (std::size_t i = 0; i < space.size(); ++i) {
    PetscCall(MatMult(space[i], u, w));
    PetscCall(VecAXPY(r, i ? -alpha[at[i]] : -1, w));
  }
  PetscCall(VecTDot(f, u, &fu));
  PetscCall(VecTDot(r, u, &ru));
  *plain     = PetscRealPart(fu);
  *corrected = PetscRealPart(fu + ru);
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

PetscErrorCode moment_fields(Vec x, Vec like, Vec *mean, Vec *deviation)
{
  PetscInt           d, r0, n, r1, only = 0;
  PetscReal          full;
  Vec                m, c, rank_one;
  PetscScalar        scale, *sd;
  PetscInt64         exponent;
  const PetscScalar *core;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(like, mean));
  PetscCall(VecDuplicate(like, deviation));
  PetscCall(VecTTGetModes(x, &d, NULL));
  std::vector<Vec>       weights;
  std::vector<PetscBool> contract(d, PETSC_TRUE);
  contract[0] = PETSC_FALSE;
  PetscCall(create_mean_weights(x, 1, weights));
  PetscCall(VecTTContract(x, contract.data(), weights.data(), &m)); // a train of one mode
  for (Vec &w : weights) PetscCall(VecDestroy(&w));
  PetscCall(VecTTExtract(m, 0, &only, *mean));

  // c = x - mean x 1 x ... x 1; with its other cores made right-orthogonal, the sum over all parameters of c(i,:)^2 is the square of
  // row i of its first core.
  std::vector<Vec> factors(d, NULL);
  factors[0] = *mean;
  PetscCall(VecDuplicate(x, &rank_one));
  PetscCall(VecDuplicate(x, &c));
  PetscCall(VecTTSetMaxRank(c, 0));
  PetscCall(VecTTSetRoundRtol(c, 1e-13));
  PetscCall(VecTTSetRankOne(rank_one, factors.data()));
  PetscCall(VecWAXPY(c, -1.0, rank_one, x));
  PetscCall(VecTTOrthogonalize(c, 0));
  PetscCall(VecTTGetFullSize(c, &full, NULL));
  PetscCall(VecTTGetScale(c, &scale, &exponent));
  PetscCall(VecTTGetCoreRead(c, 0, &r0, &n, &r1, &core)); // 1 x n x r1, n nodes of this process
  PetscCall(VecGetSize(like, &r0));
  const PetscReal factor = std::ldexp(PetscAbsScalar(scale), (int)exponent) / PetscSqrtReal(full / (PetscReal)r0);
  PetscCall(VecGetArrayWrite(*deviation, &sd));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal sum = 0;
    for (PetscInt b = 0; b < r1; ++b) sum += PetscRealPart(core[i + n * b] * PetscConj(core[i + n * b]));
    sd[i] = factor * PetscSqrtReal(sum);
  }
  PetscCall(VecRestoreArrayWrite(*deviation, &sd));
  PetscCall(VecTTRestoreCoreRead(c, 0, NULL, NULL, NULL, &core));
  PetscCall(VecDestroy(&m));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&rank_one));
  PetscFunctionReturn(0);
}

} // namespace cookies
