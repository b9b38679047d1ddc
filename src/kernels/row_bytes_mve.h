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

// Of finite values, NaN counting for none; an infinity makes the slow way necessary. k > 0.
RNNPACK_INLINE float largest_mve(const float *a, size_t k, bool *finite) {
  float32x4_t most, next;
  const float *at = a;
  __asm__(
      "vmov.i32 %q[most], #0\n\tdlstp.32 lr, %[k]\n1:\n\tvldrw.u32 %q[next], [%[at]], #16\n\t"
      "vmaxnma.f32 %q[most], %q[next]\n\tletp lr, 1b"
      : [most] "=&w"(most), [next] "=&w"(next), [at] "+r"(at)
      : [k] "r"(k), "m"(*static_cast<const float(*)[]>(static_cast<const void *>(a)))
      : "lr");
  const float all = vmaxnmvq_f32(0.0f, most);
  *finite = all < __builtin_inff();
  return *finite ? all : largest_finite(a, k);
}

#define TO_BYTES(limits)                                                                           \
  "dlstp.32 lr, %[k]\n1:\n\tvldrw.u32 %q[x], [%[a]], #16\n\tvmul.f32 %q[x], %q[x], %[to_byte]\n\t" \
  "vcvtn.s32.f32 %q[x], %q[x]\n\t" limits "vstrb.32 %q[x], [%[to]], #4\n\tletp lr, 1b"
// Conversions saturate, and make 0 of NaN. k > 0. Near: no product is 127.5 or more.
RNNPACK_INLINE void to_bytes_mve(const float *a, size_t k, float to_byte, int8_t *to, bool near) {
  float32x4_t x;
  if (near) {
    __asm__ volatile(TO_BYTES("") : [x] "=&w"(x), [a] "+r"(a), [to] "+r"(to) : [k] "r"(k), [to_byte] "r"(to_byte) : "lr", "memory");
    return;
  }
  __asm__ volatile(TO_BYTES("vmax.s32 %q[x], %q[x], %q[least]\n\tvmin.s32 %q[x], %q[x], %q[most]\n\t")
                   : [x] "=&w"(x), [a] "+r"(a), [to] "+r"(to)
                   : [k] "r"(k), [to_byte] "r"(to_byte), [least] "w"(vdupq_n_s32(-127)), [most] "w"(vdupq_n_s32(127))
                   : "lr", "memory");
}
#undef TO_BYTES

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ROW_BYTES_MVE_H_
