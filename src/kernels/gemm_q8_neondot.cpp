// gemm_q8_neondot.cpp -- the gemm rows of int8 panels with a scale for each group of k, for NEON with dot products.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONDOT
#define RNNPACK_SET neondot_q8
#include "kernels/bytes_neon.h"
#include "kernels/kernel_rows.h"

namespace rnnp::neondot_q8 {
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
    int32x4_t sum;
    RNNPACK_INLINE void clear() { sum = vdupq_n_s32(0); }
    RNNPACK_INLINE void add(int8x16_t weights, int8x16_t factor) { sum = vdotq_s32(sum, weights, factor); }
    RNNPACK_INLINE int32x4_t added_to(int32x4_t other) const { return vaddq_s32(other, sum); }
  };
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) { part->add(w.values, broadcast(a)); }
};

}  // namespace
}  // namespace rnnp::neondot_q8

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_q8_neondot , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neondot_q8::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONDOT
