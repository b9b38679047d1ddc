// panel_types.h -- how a vector of stored weights becomes factors, for the formats whose sums are in f32.
// Room: kernels; included by the bodies after a vec_<isa>.h. Contract: exact, each stored number has one value.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_TYPES_H_
#define RNNPACK_KERNELS_PANEL_TYPES_H_

#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// kKr consecutive k of a unit lie together, in kColumnBytes bytes. kMostRows: of one block; what is gained by fewer bytes is
// gained where rows are few.
struct PanelF32 {
  static constexpr int kKr = 1, kColumnBytes = 4, kMostRows = 8;
  static RNNPACK_INLINE void load(const uint8_t *at, F (&w)[1]) {
    w[0] = Vec::load(static_cast<const float *>(static_cast<const void *>(at)));
  }
};

struct PanelF16 {
  static constexpr int kKr = 1, kColumnBytes = 2, kMostRows = 4;
  template <class V = Vec>
  static RNNPACK_INLINE void load(const uint8_t *at, F (&w)[1]) {
    w[0] = V::load_f16(at);
  }
  template <class V>
  static RNNPACK_INLINE void fetch_next(const uint8_t **at, F (&w)[1]) {
    w[0] = V::fetch_f16(at);
  }
};

struct PanelBf16 {
  static constexpr int kKr = 2, kColumnBytes = 4, kMostRows = 4;
  template <class V = Vec>
  static RNNPACK_INLINE void load(const uint8_t *at, F (&w)[2]) {
    V::load_bf16(at, &w[0], &w[1]);
  }
  template <class V>
  static RNNPACK_INLINE void fetch_next(const uint8_t **at, F (&w)[2]) {
    V::fetch_bf16(at, &w[0], &w[1]);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PANEL_TYPES_H_
