// row_bytes_mve.h -- rows of floats on their way to bytes, in tail-predicated loops of Helium. Room: kernels; included once by
// gemm_*_mve.cpp. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ROW_BYTES_MVE_H_
#define RNNPACK_KERNELS_ROW_BYTES_MVE_H_

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/largest_finite.h"

namespace rnnp::RNNPACK_SET {
namespace {

// NaN counts for none, and an infinity makes the slow way necessary. k > 0.
RNNPACK_NOINLINE float largest_mve(const float *a, size_t k) {
  float32x4_t most, next;
  const float *at = a;
  __asm__(
      "vmov.i32 %q[most], #0\n\tdlstp.32 lr, %[k]\n1:\n\tvldrw.u32 %q[next], [%[at]], #16\n\t"
      "vmaxnma.f32 %q[most], %q[next]\n\tletp lr, 1b"
      : [most] "=&w"(most), [next] "=&w"(next), [at] "+r"(at)
      : [k] "r"(k), "m"(*static_cast<const float(*)[]>(static_cast<const void *>(a)))
      : "lr");
  const float all = vmaxnmvq_f32(0.0f, most);
  return all < __builtin_inff() ? all : largest_finite(a, k);
}

// Conversions saturate, and make 0 of NaN. k > 0.
RNNPACK_INLINE void to_bytes_mve(const float *a, size_t k, float to_byte, int8_t *to) {
  const int32x4_t least = vdupq_n_s32(-127), most = vdupq_n_s32(127);
  float32x4_t x;
  __asm__ volatile(
      "dlstp.32 lr, %[k]\n1:\n\tvldrw.u32 %q[x], [%[a]], #16\n\tvmul.f32 %q[x], %q[x], %[to_byte]\n\t"
      "vcvtn.s32.f32 %q[x], %q[x]\n\tvmax.s32 %q[x], %q[x], %q[least]\n\tvmin.s32 %q[x], %q[x], %q[most]\n\t"
      "vstrb.32 %q[x], [%[to]], #4\n\tletp lr, 1b"
      : [x] "=&w"(x), [a] "+r"(a), [to] "+r"(to)
      : [k] "r"(k), [to_byte] "r"(to_byte), [least] "w"(least), [most] "w"(most)
      : "lr", "memory");
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ROW_BYTES_MVE_H_
