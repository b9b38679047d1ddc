// byte_floats.h -- rows of floats on their way to bytes. Room: kernels; included after a vec_<isa>.h. Contract: docs/KERNELS.md,
// "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_FLOATS_H_
#define RNNPACK_KERNELS_BYTE_FLOATS_H_

#include <stddef.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct RowFloats {
  // Zeros from k on.
  static RNNPACK_INLINE Vec::F load(const float *a, size_t k, size_t i) {
    if (i + Vec::kWidth <= k) return Vec::load(a + i);
    return i < k ? Vec::load_first(a + i, k - i) : Vec::set1(0.0f);
  }
  // The largest size of those that are finite.
  static RNNPACK_INLINE float largest(const float *a, size_t k) {
    Vec::F most = Vec::set1(0.0f);
    for (size_t i = 0; i < k; i += Vec::kWidth) {
      const Vec::F size = Vec::abs(load(a, k, i));
      most = Vec::select(Vec::lt(size, Vec::set1(__builtin_inff())), Vec::max(size, most), most);
    }
    float lanes[Vec::kWidth], all = 0.0f;
    Vec::store(lanes, most);
    for (const float lane : lanes) all = lane > all ? lane : all;
    return all;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_FLOATS_H_
