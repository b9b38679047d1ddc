// gemm_dot_neon.cpp -- the gemm row of bf16 products by multiply-adds of NEON: vec_neon.h put under gemm_dot_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_NEON) && defined(__aarch64__)
#define RNNPACK_SET neon
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"

namespace rnnp::neon {
namespace {

// As rounded_to_bf16 (bf16_rows.h).
RNNPACK_INLINE Vec::F round_lanes(Vec::F x) {
  const uint32x4_t bits = vreinterpretq_u32_f32(x), high = vdupq_n_u32(0xffff0000u);
  const uint32x4_t last = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vandq_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), last), high);
  const uint32x4_t nan = vandq_u32(vorrq_u32(bits, vdupq_n_u32(0x00400000)), high);
  const uint32x4_t of_number = vbslq_u32(vceqq_f32(x, x), rounded, nan);
  const uint32x4_t small = vceqq_u32(vandq_u32(bits, vdupq_n_u32(0x7f800000)), vdupq_n_u32(0));
  return vreinterpretq_f32_u32(vbslq_u32(small, vandq_u32(bits, vdupq_n_u32(0x80000000u)), of_number));
}

}  // namespace
}  // namespace rnnp::neon

// The vector words come before the bodies that use them.
#include "kernels/dot_words.h"
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
