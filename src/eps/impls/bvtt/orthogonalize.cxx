// One step of Gram-Schmidt.
#include "eps/impls/bvtt/bvtt.hpp"
#include "sys/guard.hpp"

namespace petsctt {

// v := v - V c with c = V^H v over the constraints and the columns before j, or v in place of column j when v is given; h += c. All dots first, then one sum that
// is rounded once, whatever -bv_orthog_type: the modified variant would round once per column. What cancels to less than the tolerance becomes zero, and a
// norm of zero is how SLEPc learns of a dependent vector. Norms are computed, which is cheap for a rounded train, not estimated from
// the coefficients as SLEPc does.
PetscErrorCode BVGramSchmidt_TT(BV bv, PetscInt j, Vec v, PetscBool *which, PetscScalar *h, PetscScalar *c, PetscReal *onorm, PetscReal *norm)
{
  const PetscInt           nc = bv->nc, m = nc + j;
  Vec                      w = v ? v : columns_of(bv)[j], z = w;
  Vec                     *V = columns_of(bv) - nc;
  PetscScalar             *scratch = c;
  const PetscScalar       *omega;
  std::vector<PetscScalar> a;

  PetscFunctionBegin;
  if (onorm) PetscCall(BVNormVec(bv, w, NORM_2, onorm));
  PetscCallTT(a.assign(m, 0));
  if (bv->matrix) {
    PetscCall(BV_IPMatMult(bv, w));
    z = bv->Bx;
  }
  if (m > 0) PetscCall(VecMDot(z, m, V, a.data()));
  for (PetscInt i = 0; i < j && which; i++)
    if (!which[i]) a[nc + i] = 0;

  if (!c) PetscCall(VecGetArray(bv->buffer, &scratch)); // its first column
  for (PetscInt i = 0; i < m; i++) scratch[i] = a[i];
  if (!c) PetscCall(VecRestoreArray(bv->buffer, &scratch));

  if (bv->indef) PetscCall(VecGetArrayRead(bv->omega, &omega));
  for (PetscInt i = 0; i < m; i++) a[i] = bv->indef ? -a[i] / PetscRealPart(omega[i]) : -a[i];
  if (bv->indef) PetscCall(VecRestoreArrayRead(bv->omega, &omega));
  if (m > 0) PetscCall(bvtt_combine(bv, 1, &w, 1, m, a.data(), m, V));
  if (!v) PetscCall(PetscObjectStateIncrease((PetscObject)bv));
  if (norm) PetscCall(BVNormVec(bv, w, NORM_2, norm));
  PetscCall(BV_AddCoefficients(bv, j, h, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
