// cuda_variants_test.cpp -- that the emulator would notice a broken exchange: the resident kernels compiled with one fault of
// kernels/exchange.h must differ from the right bits, or not end, under some order of its threads; without one, under none.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cuda/kernels/resident_blocks.h"
#include "cuda/kernels/resident_cluster.h"

namespace rnnp::cuda {
namespace {

constexpr uint32_t kHidden = 64, kSteps = 20, kOrders = 20, kLastFaultOfAll = 5;

struct Outcome {
  std::vector<float> y;
  bool ended;
  uint32_t timed_out;
};

// A kernel on an image of its own, in blocks of so many units.
struct Variant {
  void (*kernel)(const void *args);
  uint32_t units, shared_bytes, words_of_row;
  uint32_t bundles;
  std::vector<uint64_t> image;
  simt::Sync sync = simt::Sync::kGrid;
  uint32_t places = 2;
};

std::vector<uint64_t> mma_image(const Shape &s) {
  std::vector<uint64_t> image(kHidden / s.units * mma_image_bytes(s) / 8);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = 0x0001000100010001u * (0x2400 + i * 37 % 512) ^ (i % 3 ? 0x8000000080000000u : 0);
  return image;
}

Variant mma_variant() {
  const Shape s = {4, kHidden, 16};
  return {
      [](const void *args) { resident_mma<Weights::kF16, Cell::kLstm, 8, 5, false>(*static_cast<const RecurrentArgs *>(args)); },
      s.units,
      resident_mma_shared(s, 1, 1, 5).bytes,
      ceil_div(kHidden, 128) * 64,
      0,
      mma_image(s)};
}

Variant cluster_variant() {
  const Shape s = {4, kHidden, 16};
  return {[](const void *args) { resident_cluster<Weights::kF16, Cell::kLstm, 8, 2>(*static_cast<const RecurrentArgs *>(args)); },
          s.units,
          resident_cluster_shared(8, 1, 2).bytes,
          0,
          0,
          mma_image(s),
          simt::Sync::kCluster};
}

// Slots of any word: what they read of one another is what is tried here.
Variant bsr_variant() {
  const GatherShape s = {4, kHidden, 32, {2, 2, 2, 2}};
  std::vector<uint64_t> image(kHidden / s.units * gather_block_bytes(s) / 8);
  uint8_t *bytes = static_cast<uint8_t *>(static_cast<void *>(image.data()));
  for (size_t bundle = 0; bundle < image.size() * 8 / kBundleBytes; ++bundle) {
    for (uint32_t i = 0; i < kLanes * kBundleSlots; ++i) {
      const float weight = static_cast<float>((bundle * 131 + i * 37) % 101) / 500.0f - 0.1f;
      const bool last = bundle % 2 == 1 && i % 4 == 0;
      const uint16_t word = static_cast<uint16_t>((bundle * 5 + i) % (kHidden / 4) | (last ? kLastBundle : 0));
      std::memcpy(bytes + bundle * kBundleBytes + weight_in_bundle(i / 4, i % 4), &weight, sizeof weight);
      std::memcpy(bytes + bundle * kBundleBytes + index_in_bundle(i / 4, i % 4), &word, sizeof word);
    }
  }
  return {
      [](const void *args) { resident_blocks<Weights::kBlocks, Cell::kLstm, 1, 30>(*static_cast<const RecurrentArgs *>(args)); },
      s.units,
      gather_shared(Weights::kBlocks, s, 1, 1, 30).bytes,
      kHidden,
      2,
      image};
}

// wraps: the launch begins where all words are cleared first, and some of them look as if they were fresh.
Outcome run(const Variant &variant, uint64_t seed, bool wraps, uint32_t spins = 20000) {
  const uint32_t blocks = kHidden / variant.units;
  std::vector<float> preact(kSteps * kHidden * 4), h(kHidden), c(kHidden), y(kSteps * kHidden, NAN);
  for (size_t i = 0; i < preact.size(); ++i) preact[i] = static_cast<float>(i * 31 % 201) / 100.0f - 1.0f;
  std::vector<uint64_t> words(4 * (variant.words_of_row + 2), wraps ? uint64_t{2} << 32 | 0x7fff7fff : 0);
  for (size_t i = variant.words_of_row; wraps && i < 2 * size_t{variant.words_of_row}; ++i)
    words[i] = uint64_t{1} << 32 | 0x7fff7fff;
  uint32_t control[kControlWords] = {wraps ? kClearFromEpoch : 1, 0, 0}, findings[kFindings] = {};
  RecurrentArgs a = {};
  a.r = static_cast<const uint8_t *>(static_cast<const void *>(variant.image.data()));
  a.preact = preact.data();
  a.h = h.data();
  a.c = c.data();
  a.y = y.data();
  a.y_row = kHidden;
  a.state_row = kHidden;
  a.words = words.data();
  a.word_count = static_cast<uint32_t>(words.size());
  a.control = control;
  a.findings = findings;
  a.hidden = kHidden;
  a.units = variant.units;
  a.batch = a.columns = 1;
  a.places = variant.places;
  a.steps = kSteps;
  a.spin_limit = spins;
  for (uint32_t &bundles : a.bundles) bundles = variant.bundles;
  simt::Launch launch = {blocks, kThreads, variant.shared_bytes, seed, variant.sync, 0};
  launch.old_values = true;
  const bool ended = simt::run_grid(launch, variant.kernel, &a);
  return {y, ended, findings[kFoundTimeOut]};
}

bool has_nan(const std::vector<float> &y) {
  return std::any_of(y.begin(), y.end(), [](float v) { return std::isnan(v); });
}

// Shared memory begins as NaNs, which right bits never have. Else: one warp of one block at a time changes nothing, so any order of
// the right kernel would do; the broken ones are held against the first.
void expect_seen(const Variant &variant, bool is_sound) {
  const Outcome first = run(variant, 1, false);
  uint32_t odd = has_nan(first.y);
  for (uint64_t seed = 2; seed <= kOrders && (is_sound || odd == 0); ++seed) {
    const Outcome other = run(variant, seed, seed % 2 != 0);
    const bool same = std::memcmp(other.y.data(), first.y.data(), first.y.size() * sizeof(float)) == 0;
    odd += !other.ended || other.timed_out != 0 || has_nan(other.y) || !same;
  }
  if (is_sound) {
    EXPECT_EQ(odd, 0u);
  } else {
    EXPECT_GT(odd, 0u);
  }
}

TEST(CudaVariants, AFaultInTheExchangeIsSeenAndNoneIsSeenWhereThereIsNone) {
  expect_seen(mma_variant(), RNNPACK_CUDA_FAULT == 0 || RNNPACK_CUDA_FAULT > kLastFaultOfAll);
}

// With one place for partial sums a step's places are found anew.
TEST(CudaVariants, AndSoItIsWhereEachStepFindsItsPlaces) {
  Variant variant = mma_variant();
  variant.places = 1;
  expect_seen(variant, RNNPACK_CUDA_FAULT == 0 || RNNPACK_CUDA_FAULT > kLastFaultOfAll);
}

TEST(CudaVariants, AndSoItIsOfSparseLayers) {
  expect_seen(bsr_variant(), RNNPACK_CUDA_FAULT == 0 || RNNPACK_CUDA_FAULT > kLastFaultOfAll);
}

// There are no words there; and without time-outs all that was sent has come before anybody leaves.
TEST(CudaVariants, AndOfClusters) {
  constexpr bool kOfWords = RNNPACK_CUDA_FAULT >= 3 && RNNPACK_CUDA_FAULT <= 5;
  expect_seen(cluster_variant(), RNNPACK_CUDA_FAULT == 0 || kOfWords || RNNPACK_CUDA_FAULT == 7);
}

// Blocks that give up at different times.
TEST(CudaVariants, NoBlockOfAClusterLeavesWhileOthersStoreIntoIt) {
  if (RNNPACK_CUDA_FAULT != 0 && RNNPACK_CUDA_FAULT != 7) GTEST_SKIP() << "it would not end for another reason";
  uint32_t timed_out = 0, never_ended = 0;
  for (uint64_t seed = 1; seed <= kOrders; ++seed) {
    const Outcome o = run(cluster_variant(), seed, false, 20);
    timed_out += o.timed_out, never_ended += !o.ended;
  }
  EXPECT_GT(timed_out, 0u);
  EXPECT_EQ(never_ended != 0, RNNPACK_CUDA_FAULT == 7);
}

}  // namespace
}  // namespace rnnp::cuda
