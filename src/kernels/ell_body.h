// ell_body.h -- single weights with an index each: an entry is one weight of every unit of a panel and gate, and what it is
// multiplied by is gathered from the row. Room: kernels; included by gemm_ell_<isa>.cpp after Pairs, what gathers. Contract:
// docs/KERNELS.md, "Sparse". One sum for each unit: an entry takes longer to gather than its multiply-add takes.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ELL_BODY_H_
#define RNNPACK_KERNELS_ELL_BODY_H_

#include "kernels/byte_rows.h"
#include "kernels/float_rows.h"
#include "kernels/gemm_bsr_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr int kPairStrips = static_cast<int>(kEntryUnits);

struct FloatPairs : Pairs {
  using Element = float;
  using Scratch = FloatRows;
  static constexpr int kMostRows = 1, kChains = 1;
  static constexpr size_t kEntryBytes = kEntryUnits * sizeof(float), kPartBytes = kWidth * sizeof(float);

  struct Sum {
    F all;
    RNNPACK_INLINE void clear() { all = Vec::set1(0.0f); }
    RNNPACK_INLINE void begin(const GemmArgs &, size_t) { clear(); }
    RNNPACK_INLINE void add(F factor, const uint8_t *weights) {
      all = Vec::fma(factor, Vec::load(static_cast<const float *>(static_cast<const void *>(weights))), all);
    }
    RNNPACK_INLINE void join(const Sum &) {}
    RNNPACK_INLINE F floats() const { return all; }
  };
  template <int kStrips>
  static RNNPACK_INLINE auto factors(const float *row, const uint16_t *k) {
    return Pairs::gather_floats(row, k);
  }
  static RNNPACK_INLINE F worth(const GemmArgs &, size_t, F scale) { return scale; }
};

struct BytePairs : Pairs {
  using Element = uint8_t;
  using Scratch = ByteRowScratch<Pairs::kZero>;
  static constexpr int kMostRows = 1, kChains = 1;
  static constexpr size_t kEntryBytes = kEntryUnits, kPartBytes = kWidth;

  struct Sum {
    Pairs::I all;
    RNNPACK_INLINE void clear() { all = Pairs::zero(); }
    RNNPACK_INLINE void begin(const GemmArgs &g, size_t column) { all = Pairs::start(g.w.unit_sums + column); }
    RNNPACK_INLINE void add(Pairs::Factor factor, const uint8_t *weights) { Pairs::add_product(&all, factor, weights); }
    RNNPACK_INLINE void join(const Sum &) {}
    RNNPACK_INLINE F floats() const { return Pairs::floats(all); }
  };
  template <int kStrips>
  static RNNPACK_INLINE auto factors(const uint8_t *row, const uint16_t *k) {
    return Pairs::gather_bytes(row, k);
  }
  static RNNPACK_INLINE F worth(const GemmArgs &g, size_t column, F scale) {
    return Vec::mul(Vec::load(g.w.scales + column), scale);
  }
};

template <class Entries>
void gemm_ell_run(const GemmArgs *args) {
  for_rows<Entries>(args, [&](const BlockRows<Entries> &b, size_t rows) { add_rows<Entries, kPairStrips>(args, b, rows); });
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ELL_BODY_H_
