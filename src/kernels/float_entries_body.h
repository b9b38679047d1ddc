// float_entries_body.h -- blocks of f32 and of bf16: rows with zeros behind them, and four sums of a unit, one for each k of a
// block. Room: kernels; included after Quads, the vectors of four k. Contract: docs/KERNELS.md, "Sparse".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_
#define RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_

#include "kernels/float_rows.h"
#include "kernels/gemm_bsr_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// How the four k of a vector of units are read.
struct WholeFloats {
  static constexpr size_t kBytes = sizeof(float);
  static constexpr size_t kPartBytes = kWidth * kBytes;
  static RNNPACK_INLINE void load(const uint8_t *weights, F (&w)[kBlockK]) {
    RNNPACK_UNROLL
    for (size_t j = 0; j < kBlockK; ++j)
      w[j] = Vec::load(static_cast<const float *>(static_cast<const void *>(weights)) + j * kEntryUnits);
  }
};
// Pairs of k lie together.
struct HalfFloats {
  static constexpr size_t kBytes = 2;
  static constexpr size_t kPartBytes = 2 * kWidth * kBytes;
  static RNNPACK_INLINE void load(const uint8_t *weights, F (&w)[kBlockK]) {
    Vec::load_bf16(weights, &w[0], &w[1]);
    Vec::load_bf16(weights + 2 * kEntryUnits * kBytes, &w[2], &w[3]);
  }
};

template <class Weights>
struct FloatEntries : Quads {
  using Element = float;
  using Scratch = FloatRows;
  static constexpr int kChains = 1;
  static constexpr size_t kEntryBytes = kEntryUnits * kBlockK * Weights::kBytes, kPartBytes = Weights::kPartBytes;

  struct Sum {
    F of[kBlockK];
    RNNPACK_INLINE void clear() {
      RNNPACK_UNROLL
      for (F &sum : of) sum = Vec::set1(0.0f);
    }
    RNNPACK_INLINE void begin(const GemmArgs &, size_t) { clear(); }
    RNNPACK_INLINE void add(F factor, const uint8_t *weights) {
      F w[kBlockK];
      Weights::load(weights, w);
      of[0] = Vec::fma(Quads::lane<0>(factor), w[0], of[0]);
      of[1] = Vec::fma(Quads::lane<1>(factor), w[1], of[1]);
      of[2] = Vec::fma(Quads::lane<2>(factor), w[2], of[2]);
      of[3] = Vec::fma(Quads::lane<3>(factor), w[3], of[3]);
    }
    RNNPACK_INLINE void join(const Sum &) {}
    RNNPACK_INLINE F floats() const { return Vec::add(Vec::add(of[0], of[1]), Vec::add(of[2], of[3])); }
  };
  static RNNPACK_INLINE F worth(const GemmArgs &, size_t, F scale) { return scale; }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_
