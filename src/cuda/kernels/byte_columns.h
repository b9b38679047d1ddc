// byte_columns.h -- rows of x and h as bytes, and sums of bytes as numbers, by the invariant of the CPU's kernels (docs/KERNELS.md,
// "Int8"): the same bits. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_BYTE_COLUMNS_H_
#define RNNPACK_CUDA_KERNELS_BYTE_COLUMNS_H_

#include <math.h>

#include "cuda/kernels/args.h"
#include "cuda/simt.h"

namespace rnnp {
namespace cuda {

// The nearest integer of -127 to 127, halves to the even one; of NaN 0.
SIMT_FN int32_t byte_of(float v) {
  if (!(v == v)) return 0;
  return static_cast<int32_t>(rintf(v < -127.0f ? -127.0f : v > 127.0f ? 127.0f : v));
}

SIMT_FN float larger_finite(float most, float v) {
  const float size = fabsf(v);
  return size > most && size < INFINITY ? size : most;
}

// What a row's numbers are multiplied by to become bytes, and what one of these is worth. factor: 0 where it is the row's own.
struct ByteStep {
  float to_byte, worth;
};
SIMT_FN ByteStep step_of_bytes(float factor, float most) {
  constexpr float kLeast = 1e-30f;
  if (factor != 0.0f) return {1.0f / factor, factor};
  return most >= kLeast ? ByteStep{127.0f / most, most / 127.0f} : ByteStep{0.0f, 0.0f};
}

// A lane's next numbers of a row of k: so many loads are under way at a time. Behind k, the first once more.
constexpr uint32_t kFloatsAtOnce = 8;
SIMT_FN void load_floats(float v[kFloatsAtOnce], const float *from, uint32_t k, uint32_t i) {
  SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) v[j] = from[i + j * kLanes < k ? i + j * kLanes : 0];
}

// The largest finite size in a row, for all lanes of the warp.
SIMT_FN float largest_of(const float *from, uint32_t k) {
  float most = 0.0f;
  SIMT_ROLLED for (uint32_t i = simt::thread() % kLanes; i < k; i += kLanes * kFloatsAtOnce) {
    float v[kFloatsAtOnce];
    load_floats(v, from, k, i);
    SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) most = larger_finite(most, v[j]);
  }
  SIMT_ROLLED for (uint32_t mask = kLanes / 2; mask != 0; mask /= 2) {
    const float other = simt::shuffle_xor(most, mask);
    if (other > most) most = other;
  }
  return most;
}

// `live` rows of k floats, a warp each, as `bytes` bytes each: zeros behind k.
template <class Row>
SIMT_FN void quantise_columns(int8_t *to, uint32_t bytes, float *steps, float factor, uint32_t k, uint32_t live, Row row) {
  const uint32_t lane = simt::thread() % kLanes;
  SIMT_ROLLED for (uint32_t n = simt::thread() / kLanes; n < live; n += kWarps) {
    const float *from = row(n);
    const ByteStep step = step_of_bytes(factor, factor != 0.0f ? 0.0f : largest_of(from, k));
    SIMT_ROLLED for (uint32_t first = lane; first < bytes; first += kLanes * kFloatsAtOnce) {
      float v[kFloatsAtOnce];
      load_floats(v, from, k, first);
      SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) {
        const uint32_t i = first + j * kLanes;
        if (i < bytes) to[n * bytes + i] = i < k ? static_cast<int8_t>(byte_of(v[j] * step.to_byte)) : 0;
      }
    }
    if (lane == 0 && steps != nullptr) steps[n] = step.worth;
  }
}

// The diagonal beside the bytes times the row's own element.
SIMT_FN float add_diagonal(const ByteScales &s, uint64_t row, float v, float own) {
  return fmaf(own, s.diagonal[row], v);
}
SIMT_FN float add_own(const ByteScales &s, uint64_t row, float v, const float *own) {
  return s.diagonal != nullptr && own != nullptr ? add_diagonal(s, row, v, *own) : v;
}
// scale: the row's.
SIMT_FN float add_bytes(const ByteScales &s, uint64_t row, float scale, float start, int32_t sum, float step, const float *own) {
  return add_own(s, row, fmaf(static_cast<float>(sum), scale * step, start), own);
}
SIMT_FN float add_bytes(const ByteScales &s, uint64_t row, float start, int32_t sum, float step, const float *own) {
  return add_bytes(s, row, s.scale[row], start, sum, step, own);
}
// Of int4: the chain of a row's groups, scaled already.
SIMT_FN float add_bytes(const ByteScales &s, uint64_t row, float start, float total, float step, const float *own) {
  return add_own(s, row, fmaf(total, step, start), own);
}
SIMT_FN float add_bytes(const ByteScales &s, uint64_t row, float, float start, float total, float step, const float *own) {
  return add_bytes(s, row, start, total, step, own);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_BYTE_COLUMNS_H_
