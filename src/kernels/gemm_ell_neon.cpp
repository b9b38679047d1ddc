// gemm_ell_neon.cpp -- the gemm rows of single weights with an index each for NEON.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_NEON) && defined(__aarch64__)
#define RNNPACK_SET neon
#include "kernels/bytes_neon.h"
#include "kernels/kernel_rows.h"

namespace rnnp::neon {
namespace {

struct Pairs : Bytes {
  using I = int32x4_t;
  static constexpr int kZero = 0;
  using Factor = int16x4_t;
  struct Floats {
    float32x4_t of[4];
  };
  struct Factors {
    Factor of[4];
  };

  static RNNPACK_INLINE Floats gather_floats(const float *row, const uint16_t *k) {
    Floats f;
    RNNPACK_UNROLL
    for (int p = 0; p < 4; ++p, k += 4) {
      float32x4_t four = vld1q_dup_f32(row + k[0]);
      four = vld1q_lane_f32(row + k[1], four, 1);
      four = vld1q_lane_f32(row + k[2], four, 2);
      f.of[p] = vld1q_lane_f32(row + k[3], four, 3);
    }
    return f;
  }
  static RNNPACK_INLINE Factors gather_bytes(const uint8_t *bytes, const uint16_t *k) {
    const int8_t *row = static_cast<const int8_t *>(static_cast<const void *>(bytes));
    Factors f;
    RNNPACK_UNROLL
    for (int p = 0; p < 4; p += 2, k += 8) {
      int8x8_t eight = vld1_dup_s8(row + k[0]);
      eight = vld1_lane_s8(row + k[1], eight, 1);
      eight = vld1_lane_s8(row + k[2], eight, 2);
      eight = vld1_lane_s8(row + k[3], eight, 3);
      eight = vld1_lane_s8(row + k[4], eight, 4);
      eight = vld1_lane_s8(row + k[5], eight, 5);
      eight = vld1_lane_s8(row + k[6], eight, 6);
      eight = vld1_lane_s8(row + k[7], eight, 7);
      const int16x8_t wide = vmovl_s8(eight);
      f.of[p] = vget_low_s16(wide);
      f.of[p + 1] = vget_high_s16(wide);
    }
    return f;
  }
  static RNNPACK_INLINE void add_product(I *sum, Factor factor, const uint8_t *weights) {
    uint32_t four;
    __builtin_memcpy(&four, weights, sizeof four);
    *sum = vmlal_s16(*sum, factor, vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))));
  }
  static RNNPACK_INLINE I zero() { return vdupq_n_s32(0); }
  static RNNPACK_INLINE I start(const int32_t *) { return zero(); }
  static RNNPACK_INLINE float32x4_t floats(I sum) { return vcvtq_f32_s32(sum); }
};

}  // namespace
}  // namespace rnnp::neon

// The words come before the body that uses them.
#include "kernels/ell_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_PAIRS_kF32 neon::FloatPairs
#define RNNPACK_PAIRS_kI8 neon::BytePairs
#define RNNPACK_IN_gemm_ell_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::gemm_ell_run<RNNPACK_PAIRS_##dtype>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
