// depthwise_body.h -- each channel by itself: y[c] = start[c] + sum over taps of w[tap][c] * x[tap][c].
// Room: kernels; included once by depthwise_<isa>.cpp. Reads start and the taps' rows; writes y.
// Contract: kernels.h, DepthwiseArgs.
// Why so: a few vectors of channels stay in registers over all taps, so y is written once and weights stream.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_DEPTHWISE_BODY_H_
#define RNNPACK_KERNELS_DEPTHWISE_BODY_H_

#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <int kVectors>
RNNPACK_INLINE void depthwise_block(const DepthwiseArgs &a, uint32_t first) {
  Vec::F acc[kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kVectors; ++i) acc[i] = a.start != nullptr ? Vec::load(a.start + first + i * Vec::kWidth) : Vec::set1(0.0f);
  for (uint32_t tap = 0; tap < a.taps; ++tap) {
    const float *w = a.w[tap] + first, *x = a.x[tap] + first;
    RNNPACK_UNROLL
    for (int i = 0; i < kVectors; ++i) acc[i] = Vec::fma(Vec::load(w + i * Vec::kWidth), Vec::load(x + i * Vec::kWidth), acc[i]);
  }
  RNNPACK_UNROLL
  for (int i = 0; i < kVectors; ++i) Vec::store(a.y + first + i * Vec::kWidth, acc[i]);
}

RNNPACK_INLINE void depthwise_rest(const DepthwiseArgs &a, uint32_t first, uint32_t count) {
  Vec::F acc = a.start != nullptr ? Vec::load_first(a.start + first, count) : Vec::set1(0.0f);
  for (uint32_t tap = 0; tap < a.taps; ++tap)
    acc = Vec::fma(Vec::load_first(a.w[tap] + first, count), Vec::load_first(a.x[tap] + first, count), acc);
  Vec::store_first(a.y + first, acc, count);
}

void depthwise_run(const DepthwiseArgs *args) {
  constexpr uint32_t kWidth = Vec::kWidth;
  const uint32_t channels = args->channels;
  uint32_t first = 0;
  for (; channels - first >= 4 * kWidth; first += 4 * kWidth) depthwise_block<4>(*args, first);
  for (; channels - first >= kWidth; first += kWidth) depthwise_block<1>(*args, first);
  if (first < channels) depthwise_rest(*args, first, channels - first);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_DEPTHWISE_BODY_H_
