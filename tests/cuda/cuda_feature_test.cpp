// cuda_feature_test.cpp -- layers along an axis of a row on the GPU: the bits of the layer along time, whatever lies side by side
// and however a run is cut, and near the CPU. SPDX-License-Identifier: Apache-2.0
#include "cuda/both_sessions.h"
#include "support/feature_blobs.h"

namespace rnnp_test {
namespace {

using rnnp::Cell;

const Cell kCells[] = {Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear};

// Rows side by side as the batch of the layer along time; more than go together, too.
TEST(CudaFeature, GivesTheBitsOfALayerAlongTime) {
  constexpr uint32_t kSteps = 3;
  for (const Cell cell : kCells) {
    for (const uint32_t rows : {2u, 37u}) {
      if (rows == 37 && cell != Cell::kLstm) continue;
      FeatureWeights stored;
      stored.masked = cell == Cell::kGru || (cell == Cell::kLstm && rows == 2);
      const std::vector<float> x = feature_rows(stored, size_t{kSteps} * rows, 3);
      CudaOptions time_options;
      time_options.batch = rows;
      time_options.max_steps = kSteps;
      CudaRunner time(along_time(cell, true, stored).bytes(), time_options),
          inner(along_the_row(cell, true, kSteps, rows, stored).bytes());
      EXPECT_EQ(time.run(x), inner.run(x)) << int(cell) << " rows " << rows;
    }
  }
}

TEST(CudaFeature, GivesTheSameBitsHoweverTheRunIsCut) {
  constexpr uint32_t kSteps = 3, kBatch = 2;
  for (const Cell cell : kCells) {
    for (const uint32_t rows : {1u, 3u}) {
      if (rows == 3 && cell != Cell::kGru) continue;
      const std::vector<uint8_t> blob = along_the_row(cell, true, 4, rows).bytes();
      const std::vector<float> x = random_floats(size_t{kSteps} * kBatch * 4 * rows * kFeatureIn, 4);
      CudaOptions whole, pieces;
      whole.batch = pieces.batch = kBatch;
      pieces.chunk = 2;
      pieces.launch_steps = 3;
      pieces.kernels = RNNP_CUDA_STEPS;
      CudaRunner all(blob, whole);
      const std::vector<float> want = all.run(x);
      for (const size_t cut : {size_t{0}, size_t{1}}) {
        CudaRunner some(blob, pieces);
        ASSERT_EQ(want, some.run(x, cut)) << int(cell) << ": rows " << rows << ", calls of " << cut;
      }
    }
  }
}

// Final states too, which lie apart from y.
TEST(CudaFeature, RunsAsOnTheCpu) {
  for (const Cell cell : kCells) {
    for (const uint32_t rows : {1u, 3u}) {
      BothSessions both(along_the_row(cell, rows == 1, 3, rows).bytes(), 2, 4);
      std::mt19937 random(4);
      for (const size_t steps : {size_t{4}, size_t{1}}) both.expect_same(steps, 2, nullptr, nullptr, 0, &random, 1e-5);
    }
  }
}

}  // namespace
}  // namespace rnnp_test
