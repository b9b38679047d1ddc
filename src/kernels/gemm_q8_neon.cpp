// gemm_q8_neon.cpp -- the gemm rows of int8 panels with a scale for each group of k, for NEON without dot products.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_NEON) && defined(__aarch64__)
#define RNNPACK_SET neon_q8
#include "kernels/bytes_neon.h"
#include "kernels/kernel_rows.h"

namespace rnnp::neon_q8 {
namespace {

RNNPACK_INLINE int32_t sum_of_32_bytes(const uint8_t *p) {
  return vaddlvq_s8(Bytes::bytes_at(p)) + vaddlvq_s8(Bytes::bytes_at(p + 16));
}

struct GroupDot : Bytes {
  static constexpr int kMostRows = 1, kMostVectors = 4;
  static constexpr int32_t kExcess = 0;
  static constexpr size_t kStepK = 4;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.w.gates} * 16; }
  static RNNPACK_INLINE int32x4_t minus(int32_t v) { return vdupq_n_s32(-v); }
  static RNNPACK_INLINE float32x4_t to_float(int32x4_t sum) { return vcvtq_f32_s32(sum); }

  struct Weights {
    int8x16_t values;
    RNNPACK_INLINE explicit Weights(const uint8_t *p) : values(bytes_at(p)) {}
  };
  struct Partial {
    int32x4_t low, high;  // two sums of a unit each
    RNNPACK_INLINE void clear() { low = high = vdupq_n_s32(0); }
    RNNPACK_INLINE void add(int8x16_t weights, int8x16_t factor) {
      low = vpadalq_s16(low, vmull_s8(vget_low_s8(weights), vget_low_s8(factor)));
      high = vpadalq_s16(high, vmull_high_s8(weights, factor));
    }
    RNNPACK_INLINE int32x4_t added_to(int32x4_t other) const { return vaddq_s32(other, vpaddq_s32(low, high)); }
  };
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) { part->add(w.values, broadcast(a)); }
};

}  // namespace
}  // namespace rnnp::neon_q8

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_q8_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon_q8::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
