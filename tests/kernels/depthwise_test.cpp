// depthwise_test.cpp -- each channel by itself: exact on small integers at every number of channels and taps.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_support.h"

namespace rnnp {
namespace {

class DepthwiseTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(DepthwiseTest, ExactAtEveryNumberOfChannelsAndTaps) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(3);
  for (const uint32_t channels : {1u, 3u, 7u, 8u, 9u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 100u}) {
    for (const uint32_t taps : {0u, 1u, 2u, 9u}) {
      const Rows x(taps + 1, channels, channels + 3), w(taps + 1, channels, channels), start(1, channels, 0);
      std::vector<const float *> x_rows, w_rows;
      for (uint32_t tap = 0; tap < taps; ++tap) {
        for (uint32_t c = 0; c < channels; ++c) {
          x.at(tap, c) = random.integer(5);
          w.at(tap, c) = random.integer(5);
        }
        x_rows.push_back(x.row(tap));
        w_rows.push_back(w.row(tap));
      }
      for (uint32_t c = 0; c < channels; ++c) start.at(0, c) = random.integer(9);
      for (const bool biased : {false, true}) {
        const Rows y(1, channels, 0);
        const DepthwiseArgs args = {x_rows.data(), w_rows.data(), biased ? start.data() : nullptr, y.data(), taps, channels};
        GetParam()->depthwise(&args);
        for (uint32_t c = 0; c < channels; ++c) {
          float want = biased ? start.at(0, c) : 0.0f;
          for (uint32_t tap = 0; tap < taps; ++tap) want += x.at(tap, c) * w.at(tap, c);
          ASSERT_EQ(want, y.at(0, c)) << channels << " channels, " << taps << " taps, channel " << c;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DepthwiseTest, testing::ValuesIn(kernels_of({KernelFamily::kDepthwise})), kernel_name);

}  // namespace
}  // namespace rnnp
