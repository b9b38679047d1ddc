// cuda_twins_test.cpp -- that the emulator would notice a broken exchange: the resident kernel compiled with one fault of
// kernels/exchange.h must differ from the right bits, or not end, under some order of its threads; without one, under none.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cuda/kernels/resident_mma.h"

namespace rnnp::cuda {
namespace {

constexpr uint32_t kHidden = 64, kUnits = 16, kSteps = 20, kOrders = 20;

struct Outcome {
  std::vector<float> y;
  bool ended;
  uint32_t timed_out;
};

void kernel(const void *args) {
  resident_mma<Weights::kF16, Cell::kLstm, 8, 5>(*static_cast<const RecurrentArgs *>(args));
}

Outcome run(uint64_t seed) {
  const Shape s = {4, kHidden, kUnits};
  const uint32_t blocks = kHidden / kUnits;
  std::vector<uint64_t> image(blocks * mma_image_bytes(s) / 8);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = 0x0001000100010001u * (0x2400 + i * 37 % 512) ^ (i % 3 ? 0x8000000080000000u : 0);
  std::vector<float> preact(kSteps * blocks * mma_rows(s)), h(kHidden), c(kHidden), y(kSteps * kHidden, NAN);
  for (size_t i = 0; i < preact.size(); ++i) preact[i] = static_cast<float>(i * 31 % 201) / 100.0f - 1.0f;
  std::vector<uint64_t> words(4 * (kHidden / 2 + 2));
  uint32_t control[kControlWords] = {1, 0, 0, 0};
  RecurrentArgs a = {};
  a.r = static_cast<const uint8_t *>(static_cast<const void *>(image.data()));
  a.preact = preact.data();
  a.h = h.data();
  a.c = c.data();
  a.y = y.data();
  a.y_row = kHidden;
  a.state_row = kHidden;
  a.words = words.data();
  a.word_count = static_cast<uint32_t>(words.size());
  a.control = control;
  a.hidden = kHidden;
  a.units = kUnits;
  a.batch = a.columns = 1;
  a.steps = kSteps;
  a.spin_limit = 20000;
  const bool ended =
      simt::run_grid({blocks, kThreads, resident_mma_shared(s, 1, 1, 5).bytes, seed, simt::Meets::kGrid, 0}, kernel, &a);
  return {y, ended, control[kTimedOut]};
}

bool has_nan(const std::vector<float> &y) {
  return std::any_of(y.begin(), y.end(), [](float v) { return std::isnan(v); });
}

// Shared memory begins as NaNs, which right bits never have. Else: one warp of one block at a time changes nothing, so any order of
// the right kernel would do; the broken ones are held against the first.
TEST(CudaTwins, AFaultInTheExchangeIsSeenAndNoneIsSeenWhereThereIsNone) {
  const Outcome first = run(1);
  uint32_t odd = has_nan(first.y);
  for (uint64_t seed = 2; seed <= kOrders; ++seed) {
    const Outcome other = run(seed);
    const bool same = std::memcmp(other.y.data(), first.y.data(), first.y.size() * sizeof(float)) == 0;
    odd += !other.ended || other.timed_out != 0 || has_nan(other.y) || !same;
  }
  if (RNNPACK_CUDA_FAULT == 0) {
    EXPECT_EQ(odd, 0u);
  } else {
    EXPECT_GT(odd, 0u);
  }
}

}  // namespace
}  // namespace rnnp::cuda
