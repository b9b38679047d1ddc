// depthwise_ref.cpp -- the depthwise row in plain loops: every CPU runs it, every other row is tested against it.
// Room: kernels. Contract: kernels.h, DepthwiseArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

constexpr uint32_t kChannels = 8;  // channels whose sums stay in registers

template <uint32_t kCount>
void some_channels(const DepthwiseArgs &a, uint32_t first, uint32_t count) {
  float sum[kChannels];
  const uint32_t lanes = kCount != 0 ? kCount : count;
  for (uint32_t i = 0; i < lanes; ++i) sum[i] = a.start != nullptr ? a.start[first + i] : 0.0f;
  for (uint32_t tap = 0; tap < a.taps; ++tap) {
    const float *w = a.w[tap] + first, *x = a.x[tap] + first;
    for (uint32_t i = 0; i < lanes; ++i) sum[i] += w[i] * x[i];
  }
  for (uint32_t i = 0; i < lanes; ++i) a.y[first + i] = sum[i];
}

void ref_depthwise(const DepthwiseArgs *args) {
  uint32_t first = 0;
  for (; args->channels - first >= kChannels; first += kChannels) some_channels<kChannels>(*args, first, kChannels);
  if (first < args->channels) some_channels<0>(*args, first, args->channels - first);
}

}  // namespace

#define RNNPACK_IN_depthwise_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_depthwise
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
