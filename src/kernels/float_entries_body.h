// float_entries_body.h -- blocks of f32: rows with zeros behind them, and four sums of a unit, one for each k of a block.
// Room: kernels; included after Quads, the vectors of four k. Contract: docs/KERNELS.md, "Blocks".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_
#define RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_

#include "kernels/gemm_blocks_body.h"

namespace rnnp {
namespace {

struct FloatEntries : Quads {
  static constexpr int kChains = 1;
  static constexpr size_t kEntryBytes = kEntryUnits * kBlockK * sizeof(float), kPartBytes = kWidth * sizeof(float);

  struct Scratch {
    float *first;
    size_t elems;
    explicit Scratch(const GemmArgs &g) : first(static_cast<float *>(g.scratch)), elems(align_up(size_t{g.k} + 2 * kBlockK, 16)) {}
    const float *row(size_t m) const { return first + m * elems; }
    float scale(size_t) const { return 1.0f; }
    RNNPACK_NOINLINE void take(const GemmArgs &g, size_t from, size_t m) const {
      const float *a = offset_bytes(g.a, from * g.a_row_bytes);
      float *to = first + m * elems;
      for (size_t k = 0; k < g.k; ++k) to[k] = a[k];
      for (size_t k = g.k; k < elems; ++k) to[k] = 0.0f;
    }
  };
  struct Sum {
    F of[kBlockK];
    RNNPACK_INLINE void clear() {
      RNNPACK_UNROLL
      for (F &sum : of) sum = Vec::set1(0.0f);
    }
    RNNPACK_INLINE void add(F factor, const uint8_t *weights) {
      const float *w = static_cast<const float *>(static_cast<const void *>(weights));
      of[0] = Vec::fma(Quads::lane<0>(factor), Vec::load(w), of[0]);
      of[1] = Vec::fma(Quads::lane<1>(factor), Vec::load(w + kEntryUnits), of[1]);
      of[2] = Vec::fma(Quads::lane<2>(factor), Vec::load(w + 2 * kEntryUnits), of[2]);
      of[3] = Vec::fma(Quads::lane<3>(factor), Vec::load(w + 3 * kEntryUnits), of[3]);
    }
  };
  static RNNPACK_INLINE void finish(const GemmArgs &g, const VectorPlace &place, const Sum &sum, float scale) {
    const F all = Vec::add(Vec::add(sum.of[0], sum.of[1]), Vec::add(sum.of[2], sum.of[3]));
    finish_vector(g, place, all, Vec::set1(scale));
  }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_FLOAT_ENTRIES_BODY_H_
