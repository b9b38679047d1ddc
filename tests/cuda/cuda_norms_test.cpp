// cuda_norms_test.cpp -- layer-normalised LSTMs on the GPU beside the CPU: every form of their norms, initial and final states,
// lengths and rows that a call names; as graphs; and what is told of how they run. SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cuda/both_sessions.h"

namespace rnnp_test {
namespace cuda_norms_test {

using rnnp::Cell;

constexpr uint32_t kInput = 6, kForms = 16;

RecurrentOptions form_of(uint32_t form, uint32_t hidden) {
  RecurrentOptions o;
  o.cell = Cell::kLstmNorm;
  o.hidden = hidden;
  o.by_gate = form & 1;
  o.joint = form & 2;
  o.keeps_c = form & 4;
  o.bidirectional = form & 8;
  return o;
}

std::vector<uint8_t> blob_of(const RecurrentOptions &o, rnnp::DType weights, bool given) {
  BlobBuilder b(o.hidden, 8);
  b.weights = b.recurrent_weights = weights;
  const uint32_t x = b.add_input(kInput), states = o.hidden * (o.bidirectional ? 2 : 1);
  uint32_t h = rnnp::kNone, c = rnnp::kNone;
  std::vector<uint32_t> more;
  if (given) more = {b.add_state_input(states, "h"), b.add_state_input(states, "c"), b.add_lengths_input()};
  b.add_output(b.add_recurrent(x, kInput, o, &h, &c, more), "y");
  b.add_output(h, "h after");
  b.add_output(c, "c after");
  return b.build();
}

// Calls of any length, of any rows, with lengths or not; states go from one to the other between calls.
void expect_same_as_on_the_cpu(const std::vector<uint8_t> &blob, uint32_t weights, double bound, uint32_t seed) {
  constexpr uint32_t kBatch = 10;
  constexpr size_t kSteps = 5;
  std::mt19937 random(seed);
  BothSessions both(blob, kBatch, kSteps, weights);
  for (int call = 0; call < 4 && !testing::Test::HasFailure(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const size_t steps = call == 1 ? 1 : 2 + random() % (kSteps - 1);
    const uint32_t batch = call == 0 ? kBatch : 1 + static_cast<uint32_t>(random() % 3);
    std::vector<uint32_t> rows = {7, 0, 9};
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<int32_t> lengths(batch);
    for (int32_t &n : lengths) n = static_cast<int32_t>(random() % (steps + 1));
    both.expect_same(steps, batch, call % 2 != 0 ? lengths.data() : nullptr, call != 0 ? rows.data() : nullptr, 0, &random, bound);
    both.cpu().load(7, both.gpu().save(7));
    both.gpu().load(9, both.cpu().save(0));
    both.cpu().load(9, both.cpu().save(0));
  }
}

TEST(CudaNorms, EveryFormRunsAsOnTheCpu) {
  for (uint32_t form = 0; form < kForms; ++form) {
    SCOPED_TRACE("form " + std::to_string(form));
    const std::vector<uint8_t> blob = blob_of(form_of(form, 5 + 9 * (form % 5)), rnnp::DType::kF32, form % 3 != 1);
    expect_same_as_on_the_cpu(blob, RNNP_CUDA_F32, 1e-5, form);
    if (form % 5 == 0) expect_same_as_on_the_cpu(blob, RNNP_CUDA_F16, 2e-2, form);
  }
}

TEST(CudaNorms, ALayerMayHaveMoreUnitsThanABlockHasThreads) {
  std::mt19937 random(2);
  for (const uint32_t form : {0u, 3u}) {
    BothSessions both(blob_of(form_of(form, 300), rnnp::DType::kF32, false), 2, 3);
    both.expect_same(3, 2, nullptr, nullptr, 0, &random, 1e-5);
  }
}

// R h is the CPU's but for the order of the two sums where one norm is of both.
TEST(CudaNorms, OfBytesTheyAreNearTheCpu) {
  for (const rnnp::DType weights : {rnnp::DType::kI8, rnnp::DType::kI4}) {
    for (const uint32_t form : {1u, 6u, 8u}) {
      SCOPED_TRACE("form " + std::to_string(form));
      expect_same_as_on_the_cpu(blob_of(form_of(form, 33), weights, false), RNNP_CUDA_F32, 2e-2, form);
    }
  }
}

// Rows by list, and in order; h ends where the next run looks for it.
TEST(CudaNorms, AGraphGoesOnFromTheStatesAsTheyAre) {
  constexpr uint32_t kHidden = 21;
  const std::vector<uint8_t> blob = blob_of(form_of(8, kHidden), rnnp::DType::kF32, false);
  for (const size_t steps : {size_t{1}, size_t{4}}) {
    CudaOptions o;
    o.batch = 3;
    o.max_steps = 4;
    CudaRunner captured(blob, o), plain(blob, o);
    const TestStream stream;
    const std::vector<uint32_t> rows = {2, 0};
    const std::vector<int32_t> lengths = {static_cast<int32_t>(steps), 1};
    SharedArray<float> x(random_floats(steps * 2 * kInput, 1)), y(steps * 2 * 2 * kHidden, 0.0f);
    const rnnp_const_buffer from = {x.data(), 0, 0};
    const rnnp_buffer to[3] = {{y.data(), 0, 0}, {}, {}};
    rnnp_io io = RNNP_IO_INIT;
    io.batch = 2;
    io.steps = steps;
    io.input_count = 1;
    io.output_count = 3;
    io.inputs = &from;
    io.outputs = to;
    io.rows = rows.data();
    io.lengths = lengths.data();
    rnnp_cuda_graph *graph = nullptr;
    ASSERT_EQ(rnnp_cuda_graph_make(&graph, captured.session(), &io, stream.get()), RNNP_OK);
    for (int run = 0; run < 3; ++run) {
      ASSERT_EQ(rnnp_cuda_graph_run(captured.session(), graph, stream.get()), RNNP_OK);
      ASSERT_EQ(rnnp_cuda_wait(captured.session(), stream.get()), RNNP_OK);
      EXPECT_EQ(y.vector(), plain.run_rows(x.vector(), 2, lengths.data(), rows.data())) << run;
      for (uint32_t row = 0; row < o.batch; ++row) EXPECT_EQ(captured.save(row), plain.save(row)) << row;
    }
    rnnp_cuda_graph_free(graph);
  }
}

TEST(CudaNorms, AreToldHowTheyRun) {
  const std::vector<uint8_t> blob = blob_of(form_of(0, 40), rnnp::DType::kF32, false);
  for (const uint32_t weights : {RNNP_CUDA_F32, RNNP_CUDA_F16}) {
    CudaOptions o;
    o.batch = 2;
    o.weights = weights;
    CudaRunner runner(blob, o);
    const rnnp_cuda_layer_info f = runner.layer();
    EXPECT_EQ(f.kernel, RNNP_CUDA_STEPS);
    EXPECT_EQ(f.steps_per_launch, 1u);
    EXPECT_GT(f.predicted_ns, 0u);
    EXPECT_EQ(f.shared_bytes == 0, weights == RNNP_CUDA_F32);
    const std::string reason = f.reason;
    EXPECT_EQ(reason.rfind("two launches for each step, ", 0), 0u) << reason;
    EXPECT_NE(reason.find("layer norms need all units at once"), std::string::npos) << reason;
    rnnp_cuda_layer_info plan = RNNP_CUDA_LAYER_INFO_INIT;
    ASSERT_EQ(rnnp_cuda_plan(runner.model(), &runner.options(), 0, &plan), RNNP_OK);
    EXPECT_EQ(plan.reason, reason);
  }
}

}  // namespace cuda_norms_test
}  // namespace rnnp_test
