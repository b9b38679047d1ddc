// cuda_both_test.cpp -- both directions of a layer in one launch: the bits of one after the other, however a run is cut, and beside
// layers that use the same words. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cuda/cuda_runner.h"

namespace rnnp_test {
namespace cuda_both_test {

using rnnp::Cell;

constexpr uint32_t kInput = 9, kBatch = 2, kSteps = 6, kSms = 16, kTooFewSms = 3;

uint32_t add_layer(BlobBuilder *b, uint32_t x, Cell cell, uint32_t hidden, bool bidirectional) {
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = hidden;
  o.bidirectional = bidirectional;
  o.initial_state = true;
  return b->add_recurrent(x, b->elems_of(x), o);
}

CudaOptions options_of(uint32_t weights, uint32_t sms = kSms, uint32_t kernels = 0) {
  CudaOptions o;
  o.batch = kBatch;
  o.max_steps = kSteps;
  o.weights = weights;
  o.sms = sms;
  o.kernels = kernels;
  return o;
}

bool is_side_by_side(CudaRunner *runner, uint32_t layer = 0) {
  return std::string(runner->layer(layer).reason).find("side by side") != std::string::npos;
}

class CudaBoth : public testing::TestWithParam<Cell> {};

TEST_P(CudaBoth, HasTheBitsOfOneDirectionAfterTheOther) {
  for (const uint32_t weights : {RNNP_CUDA_F32, RNNP_CUDA_F16}) {
    for (const uint32_t hidden : {GetParam() == Cell::kRnn ? 150u : 98u, GetParam() == Cell::kRnn ? 171u : 109u}) {
      SCOPED_TRACE(std::to_string(weights) + ", " + std::to_string(hidden) + " units");
      BlobBuilder b(5, 8);
      b.add_output(add_layer(&b, b.add_input(kInput), GetParam(), hidden, true));
      const std::vector<uint8_t> bytes = b.build();
      const std::vector<float> x = random_floats(kSteps * kBatch * kInput, 2);
      CudaOptions in_pieces = options_of(weights);
      in_pieces.launch_steps = 4;  // and two; then three and three
      CudaRunner both(bytes, options_of(weights)), pieces(bytes, in_pieces), apart(bytes, options_of(weights, kTooFewSms));
      in_pieces.launch_steps = 5;
      CudaRunner one_at_the_end(bytes, in_pieces), steps(bytes, options_of(weights, kSms, RNNP_CUDA_STEPS));
      ASSERT_TRUE(is_side_by_side(&both) && is_side_by_side(&pieces)) << both.layer().reason;
      ASSERT_FALSE(is_side_by_side(&apart) || is_side_by_side(&steps)) << apart.layer().reason;
      ASSERT_EQ(both.layer().blocks % 2, 0u);
      const std::vector<int32_t> lengths = {4, 0};
      for (const int32_t *of : {static_cast<const int32_t *>(nullptr), lengths.data()}) {
        const std::vector<float> y = both.run_rows(x, kBatch, of);
        for (CudaRunner *other : {&pieces, &apart, &one_at_the_end, &steps}) {
          ASSERT_EQ(y, other->run_rows(x, kBatch, of));
          for (uint32_t row = 0; row < kBatch; ++row) ASSERT_EQ(both.save(row), other->save(row));
        }
      }
    }
  }
}

// Layers side by side and others take turns with the first exchange; the second has words of its own.
TEST_P(CudaBoth, TakesTurnsWithOtherLayers) {
  for (const uint32_t weights : {RNNP_CUDA_F32, RNNP_CUDA_F16}) {
    BlobBuilder b(6, 8);
    uint32_t x = add_layer(&b, b.add_input(kInput), GetParam(), 150, true);
    x = add_layer(&b, x, GetParam(), 90, false);
    b.add_output(add_layer(&b, x, GetParam(), 146, true));
    const std::vector<uint8_t> bytes = b.build();
    CudaOptions o = options_of(weights);
    o.launch_steps = 3;
    CudaRunner both(bytes, o), steps(bytes, options_of(weights, kSms, RNNP_CUDA_STEPS));
    ASSERT_TRUE(is_side_by_side(&both, 0) && is_side_by_side(&both, 2)) << both.layer(0).reason;
    ASSERT_EQ(both.layer(1).kernel, RNNP_CUDA_RESIDENT);
    for (uint32_t call = 0; call < 2; ++call) {
      const std::vector<float> in = random_floats((call + 4) * kBatch * kInput, call);
      ASSERT_EQ(both.run(in), steps.run(in)) << call;
    }
  }
}

std::string name_of_cell(const testing::TestParamInfo<Cell> &param) {
  constexpr const char *kNames[] = {"Rnn", "Lstm", "Gru", "GruLinear"};
  return kNames[uint32_t(param.param)];
}
INSTANTIATE_TEST_SUITE_P(Cells, CudaBoth, testing::Values(Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear), name_of_cell);

}  // namespace cuda_both_test
}  // namespace rnnp_test
