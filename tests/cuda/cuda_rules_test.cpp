// cuda_rules_test.cpp -- recurrent layers with other rules than the default ones (activations, clip, peepholes, coupled gates) on
// the GPU: which kernel runs them, near the f64 reference, and the same bits by every kernel and cut.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/cuda_runner.h"
#include "support/reference_layers.h"

namespace rnnp_test {
namespace cuda_rules_test {

using rnnp::Act;
using rnnp::Cell;

// What ONNX has for recurrent layers.
constexpr Act kActs[] = {Act::kRelu,       Act::kTanh,        Act::kSigmoid, Act::kAffine,   Act::kLeakyRelu, Act::kThresholdedRelu,
                         Act::kScaledTanh, Act::kHardSigmoid, Act::kElu,     Act::kSoftsign, Act::kSoftplus};
constexpr uint32_t kInput = 7, kBatch = 3, kSteps = 6;

struct Rules {
  Cell cell;
  uint32_t hidden, weights;
  std::vector<Act> acts;
  double clip;
  bool peephole, input_forget;
};

std::vector<uint8_t> blob_of(const Rules &rules, bool bidirectional, RecurrentLayer *layer) {
  BlobBuilder b(9, 8);
  RecurrentOptions o;
  o.cell = rules.cell;
  o.hidden = rules.hidden;
  o.acts = rules.acts;
  o.clip = rules.clip;
  o.peephole = rules.peephole;
  o.input_forget = rules.input_forget;
  o.bidirectional = bidirectional;
  o.initial_state = true;
  b.add_output(b.add_recurrent(b.add_input(kInput), kInput, o));
  std::vector<uint8_t> bytes = b.build();
  *layer = b.recurrent[0];
  return bytes;
}

CudaOptions options_of(const Rules &rules, uint32_t kernels, uint32_t max_steps = 0) {
  CudaOptions o;
  o.batch = kBatch;
  o.weights = rules.weights;
  o.kernels = kernels;
  o.max_steps = max_steps;
  return o;
}

void expect_near(const std::vector<float> &got, const RecurrentResult &want, double bound) {
  ASSERT_EQ(got.size(), want.y.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::fabs(static_cast<double>(got[i]) - want.y[i]), bound * std::max(1.0, std::fabs(want.y[i]))) << i;
}

// Forwards, whole and in pieces; then in both directions with lengths.
void expect_same_bits(const Rules &rules) {
  const double bound = rules.weights == RNNP_CUDA_F32 ? 1e-5 : 2e-2;
  const std::vector<float> x = random_floats(kSteps * kBatch * kInput, 3);
  const std::vector<double> reference_x(x.begin(), x.end());
  RecurrentLayer layer;
  std::vector<uint8_t> bytes = blob_of(rules, false, &layer);
  CudaRunner resident(bytes, options_of(rules, 0)), steps(bytes, options_of(rules, RNNP_CUDA_STEPS));
  ASSERT_EQ(resident.layer().kernel, RNNP_CUDA_RESIDENT) << resident.layer().reason;
  ASSERT_NE(std::string(resident.layer().reason).find("any activation"), std::string::npos) << resident.layer().reason;
  const std::vector<float> y = resident.run(x);
  expect_near(y, run_recurrent(layer, reference_x, kSteps, kBatch), bound);
  ASSERT_EQ(y, steps.run(x));
  for (uint32_t row = 0; row < kBatch; ++row) ASSERT_EQ(resident.save(row), steps.save(row));
  CudaOptions in_pieces = options_of(rules, 0);
  in_pieces.chunk = 5;
  in_pieces.launch_steps = 2;
  CudaRunner pieces(bytes, in_pieces);
  ASSERT_EQ(y, pieces.run(x));
  ASSERT_EQ(resident.save(0), pieces.save(0));

  bytes = blob_of(rules, true, &layer);
  const std::vector<int32_t> lengths = {4, 0, kSteps};
  CudaRunner both(bytes, options_of(rules, 0, kSteps)), by_steps(bytes, options_of(rules, RNNP_CUDA_STEPS, kSteps));
  const std::vector<float> rows = both.run_rows(x, kBatch, lengths.data());
  expect_near(rows, run_recurrent(layer, reference_x, kSteps, kBatch, lengths), bound);
  ASSERT_EQ(rows, by_steps.run_rows(x, kBatch, lengths.data()));
  for (uint32_t row = 0; row < kBatch; ++row) ASSERT_EQ(both.save(row), by_steps.save(row));
}

class CudaRules : public testing::TestWithParam<Cell> {};

// Each activation in each place of a cell.
TEST_P(CudaRules, EveryActivationIsResident) {
  constexpr size_t kCount = sizeof kActs / sizeof kActs[0];
  for (size_t i = 0; i < kCount && !HasFatalFailure(); ++i) {
    const Rules rules = {GetParam(),
                         40 + static_cast<uint32_t>(i),
                         i % 2 != 0 ? RNNP_CUDA_F16 : RNNP_CUDA_F32,
                         {kActs[i], kActs[(i + 3) % kCount], kActs[(i + 7) % kCount]},
                         1.5,
                         false,
                         false};
    SCOPED_TRACE("activation " + std::to_string(i));
    expect_same_bits(rules);
  }
}

// One block, several; of f32 weights beyond those in registers.
TEST_P(CudaRules, ClipPeepholesAndCoupledGatesAreResident) {
  const bool lstm = GetParam() == Cell::kLstm;
  for (const uint32_t weights : {RNNP_CUDA_F32, RNNP_CUDA_F16}) {
    for (const uint32_t hidden : {5u, 45u, weights == RNNP_CUDA_F32 ? 300u : 66u}) {
      if (hidden == 300 && GetParam() != Cell::kRnn) continue;
      if (HasFatalFailure()) return;
      SCOPED_TRACE(std::to_string(weights) + ", " + std::to_string(hidden) + " units");
      expect_same_bits({GetParam(), hidden, weights, {}, 0.75, lstm, lstm && hidden != 45});
      if (lstm && hidden == 45) expect_same_bits({GetParam(), hidden, weights, {}, 0, true, false});
      if (lstm && hidden == 5) expect_same_bits({GetParam(), hidden, weights, {}, 0, false, true});
    }
  }
}

std::string name_of_cell(const testing::TestParamInfo<Cell> &param) {
  constexpr const char *kNames[] = {"Rnn", "Lstm", "Gru", "GruLinear"};
  return kNames[uint32_t(param.param)];
}
INSTANTIATE_TEST_SUITE_P(Cells, CudaRules, testing::Values(Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear), name_of_cell);

}  // namespace cuda_rules_test
}  // namespace rnnp_test
