// vec_rvf.h -- the vector words of the kernel bodies in RISC-V's single-precision FPU (extension F). Denormals cannot be flushed.
// Room: kernels; included only by *_rvf.cpp. Contract: vec_scalar.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_RVF_H_
#define RNNPACK_KERNELS_VEC_RVF_H_

#include "kernels/vec_scalar.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec : ScalarVec {
  static RNNPACK_INLINE F sqrt(F a) {
    F root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(a));
    return root;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_RVF_H_
