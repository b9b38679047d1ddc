// byte_entries_body.h -- blocks of int8: rows as bytes, whole sums. Room: kernels; included after Words, the vectors of bytes.
// Contract: docs/KERNELS.md, "Sparse" and "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_ENTRIES_BODY_H_
#define RNNPACK_KERNELS_BYTE_ENTRIES_BODY_H_

#include "kernels/byte_rows.h"
#include "kernels/gemm_bsr_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ByteEntries : Words {
  using Element = uint8_t;
  using Scratch = ByteRowScratch<Words::kZero>;
  static constexpr int kChains = Words::kChains;
  static constexpr size_t kEntryBytes = kEntryUnits * kBlockK, kPartBytes = kWidth * kBlockK;

  struct Sum {
    Words::I all;
    RNNPACK_INLINE void begin(const GemmArgs &g, size_t column) { all = Words::start(g.w.unit_sums + column); }
    RNNPACK_INLINE void clear() { all = Words::zero(); }
    RNNPACK_INLINE void add(Words::Factor factor, const uint8_t *weights) { Words::add_dot(&all, factor, weights); }
    RNNPACK_INLINE void join(const Sum &other) { all = Words::add(all, other.all); }
    RNNPACK_INLINE F floats() const { return Words::floats(all); }
  };
  static RNNPACK_INLINE F worth(const GemmArgs &g, size_t column, F scale) {
    return Vec::mul(Vec::load(g.w.scales + column), scale);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_ENTRIES_BODY_H_
