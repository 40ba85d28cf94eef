#ifndef PETSCTT_SYS_HANDLE_HPP
#define PETSCTT_SYS_HANDLE_HPP

#include <petscksp.h>
#include <petscsf.h>
#include <petscviewer.h>

#include <utility>

namespace petsctt {

// Owner of a PETSc object for the length of a scope, so that an error return leaks nothing. Destruction is collective as the
// object's destroy function is, so on an error path it relies on all processes failing alike.
template <class T, PetscErrorCode (*Destroy)(T *)> class Handle {
public:
  Handle() = default;
  explicit Handle(T h) : h_(h) { }
  Handle(const Handle &)            = delete;
  Handle &operator=(const Handle &) = delete;
  Handle(Handle &&o) noexcept : h_(o.release()) { }
  Handle &operator=(Handle &&o) noexcept
  {
    std::swap(h_, o.h_);
    return *this;
  }
  ~Handle()
  {
    if (h_) (void)Destroy(&h_);
  }

  T  get() const { return h_; }
  T *out() { return &h_; } // for the creation functions of PETSc; must be empty
  T  release()
  {
    T h = h_;
    h_  = nullptr;
    return h;
  }
  operator T() const { return h_; }

private:
  T h_ = nullptr;
};

using VecHandle     = Handle<Vec, VecDestroy>;
using MatHandle     = Handle<Mat, MatDestroy>;
using ISHandle      = Handle<IS, ISDestroy>;
using ScatterHandle = Handle<VecScatter, VecScatterDestroy>;
using LayoutHandle  = Handle<PetscLayout, PetscLayoutDestroy>;
using SFHandle      = Handle<PetscSF, PetscSFDestroy>;
using KSPHandle     = Handle<KSP, KSPDestroy>;
using ViewerHandle  = Handle<PetscViewer, PetscViewerDestroy>;
using RandomHandle  = Handle<PetscRandom, PetscRandomDestroy>;

} // namespace petsctt

#endif
