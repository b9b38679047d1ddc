// vec_vfpv4.h -- the vector words of the kernel bodies in the Arm scalar FPU.
// Room: kernels; included only by *_vfpv4.cpp. Contract: vec_scalar.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_VFPV4_H_
#define RNNPACK_KERNELS_VEC_VFPV4_H_

#include "kernels/vec_scalar.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec : ScalarVec {
  static RNNPACK_INLINE F sqrt(F a) {
    F root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(a));
    return root;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_VFPV4_H_
