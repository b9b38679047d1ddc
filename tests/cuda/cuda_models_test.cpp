// cuda_models_test.cpp -- random models of every kind of layer, state, input and output as CUDA sessions beside CPU sessions: calls
// of any length, rows and lengths, states that move from one to the other between calls. SPDX-License-Identifier: Apache-2.0
#include "cuda/both_sessions.h"
#include "pack/panel_format.h"
#include "support/blob_tables.h"
#include "support/random_model.h"

namespace rnnp_test {
namespace {

class CudaModels : public testing::TestWithParam<uint32_t> {};

// Single weights have no kernel: few of the random models have them.
bool is_refused(const std::vector<uint8_t> &bytes) {
  const AlignedBytes blob(bytes);
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  const rnnp_cuda_device device = small_device(4);
  rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
  o.max_steps = 8;
  o.device = &device;
  rnnp_refusal why = RNNP_REFUSAL_INIT;
  const rnnp_status status = rnnp_cuda_session_explain(&model, &o, &why);
  if (status == RNNP_OK) return false;
  EXPECT_EQ(status, RNNP_E_LAYOUT) << why.op << ": " << why.reason;
  const std::string reason = why.reason;  // single weights, other --weights, or products of bf16
  EXPECT_TRUE(reason.find("weights") != std::string::npos || reason.find("--arithmetic bf16") != std::string::npos) << reason;
  return true;
}

// Where rows are rounded to int8 the last bit of x may move an element by a step of max|x| / 127, times weights of up to 2, and
// more behind several layers. CudaBits holds these kernels to their bits.
double bound_of(const std::vector<uint8_t> &blob) {
  const BlobTables tables(blob);
  const bool bytes = std::any_of(tables.matrices.begin(), tables.matrices.end(), [](const rnnp::BlobMatrix &m) {
    return rnnp::find_panel_format(m.format).factor == rnnp::DType::kI8;
  });
  return bytes ? 0.25 : 1e-4;
}

TEST_P(CudaModels, RunAsOnTheCpu) {
  constexpr uint32_t kSeeds = 30, kBatch = 3;
  constexpr size_t kSteps = 5;
  uint32_t ran = 0;
  for (uint32_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; ++seed) {
    const std::vector<uint8_t> blob = random_model(seed, true);
    if (is_refused(blob)) continue;
    ++ran;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    BothSessions both(blob, kBatch, kSteps);
    for (int call = 0; call < 3 && !testing::Test::HasFailure(); ++call) {
      const size_t steps = 1 + random() % kSteps;
      std::vector<uint32_t> rows = {0, 1, 2};
      std::shuffle(rows.begin(), rows.end(), random);
      const uint32_t batch = 1 + static_cast<uint32_t>(random() % kBatch);
      std::vector<int32_t> lengths(batch);
      for (int32_t &n : lengths) n = static_cast<int32_t>(random() % (steps + 1));
      both.expect_same(steps, batch, random() % 2 != 0 ? lengths.data() : nullptr, random() % 2 != 0 ? rows.data() : nullptr,
                       random() % 4 == 0 ? RNNP_RUN_LAST_STEP : 0, &random, bound_of(blob));
      both.cpu().load(0, both.gpu().save(0));  // from the GPU to the CPU,
      both.gpu().load(1, both.cpu().save(1));  // and back
    }
  }
  EXPECT_GT(ran, kSeeds * 2 / 3);
}

INSTANTIATE_TEST_SUITE_P(Random, CudaModels, testing::Range(0u, 4u));

// x reversed, and what is reversed added to x; lengths by the call, by an input, by none.
TEST(CudaModels, EachRowIsReversedInsideItsOwnLength) {
  constexpr uint32_t kElems = 7, kBatch = 4, kSteps = 9;
  for (const bool lengths_input : {false, true}) {
    BlobBuilder b(5);
    const uint32_t x = b.add_input(kElems), given = lengths_input ? b.add_lengths_input() : rnnp::kNone;
    const uint32_t y = b.add_time_reverse(x, given);
    const rnnp::AttrBinary twice = {uint32_t(rnnp::Binary::kAdd), 1, {kElems}, {1}, {1}};
    b.add_output(y, "reversed");
    b.add_output(b.add_node(rnnp::OpKind::kBinary, &twice, sizeof twice, {y, x}, kElems, true), "sum");
    BothSessions both(b.build(), kBatch, kSteps);
    std::mt19937 random(8);
    const int32_t lengths[kBatch] = {9, 7, 0, 1};
    for (int call = 0; call < 8; ++call) {  // of those with an input of lengths some leave it out
      const bool by_call = !lengths_input && call % 2 == 0;
      both.expect_same(kSteps, kBatch, by_call ? lengths : nullptr, nullptr, 0, &random, 0);
    }
  }
}

// GRU -> loop of a sum, which starts from an input or goes on, with a dense layer -> GRU, or the same as a model of single steps.
// ahead: behind a reversal. constant: it starts from numbers in the blob.
std::vector<uint8_t> with_loop(bool loop, bool ahead, bool constant = false) {
  constexpr uint32_t kElems = 7;
  BlobBuilder b(9);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = kElems;
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {kElems}, {1}, {1}};
  const auto sum = [&](uint32_t left, uint32_t right) {
    return b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {left, right}, kElems, true);
  };
  const uint32_t x = b.add_input(kElems), start = constant ? rnnp::kNone : b.add_state_input(kElems, "start");
  const uint32_t g = b.add_recurrent(ahead ? b.add_time_reverse(x) : x, kElems, gru);
  uint32_t state;
  if (loop) b.begin_loop();
  const uint32_t before = b.add_state_read(kElems, &state, start),
                 bent = b.add_dense(sum(before, g), kElems, kElems, rnnp::Act::kTanh);
  const uint32_t after = sum(bent, g);
  if (constant) b.start_state_at(state, random_floats(kElems, 12));
  b.add_state_write(state, after);
  if (loop) b.end_loop();
  b.add_output(b.add_recurrent(after, kElems, gru), "y");
  b.add_output(bent, "bent");
  return b.build();
}

TEST(CudaModels, LoopsGoStepByStepInsideAChunk) {
  constexpr uint32_t kBatch = 3, kSteps = 11;
  for (const auto &[ahead, constant] :
       {std::pair(false, false), std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
    BothSessions both(with_loop(true, ahead, constant), kBatch, kSteps);
    std::mt19937 random(4);
    const int32_t lengths[kBatch] = {11, 4, 0};
    const uint32_t rows[kBatch] = {2, 0, 1};
    for (int call = 0; call < 6; ++call) {
      both.expect_same(kSteps, kBatch, call % 2 != 0 ? lengths : nullptr, call % 3 == 1 ? rows : nullptr, 0, &random, 1e-5);
      both.cpu().load(0, both.gpu().save(0));
    }
  }
}

TEST(CudaModels, LoopsGiveTheBitsOfSingleSteps) {
  constexpr uint32_t kBatch = 2, kSteps = 10;
  const std::vector<float> x = random_floats(size_t{kSteps} * kBatch * 7, 6);
  CudaOptions o;
  o.batch = kBatch;
  CudaRunner single(with_loop(false, false), o);
  const std::vector<float> want = single.run(x);
  for (const uint32_t chunk : {1u, 3u, 64u})
    for (const size_t cut : {size_t{0}, size_t{1}, size_t{4}}) {
      o.chunk = chunk;
      CudaRunner loops(with_loop(true, false), o);
      EXPECT_EQ(want, loops.run(x, cut)) << "chunks of " << chunk << ", cut " << cut;
    }
}

// What the CPU looks at before a call, the GPU finds in it.
TEST(CudaModels, AnIndexOutsideItsTableIsToldByTheWait) {
  BlobBuilder b(1, 8);
  std::vector<float> table(5 * 4);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const rnnp::AttrGather a = {5, 4, 1, b.add_weights(table)};
  b.add_output(b.add_node(rnnp::OpKind::kGather, &a, sizeof a, {b.add_index_input(1, 5)}, 4, true));
  CudaRunner runner(b.build());
  SharedArray<int32_t> x({3, 5, -5, -6});
  SharedArray<float> y(16, -1.0f);
  ASSERT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_E_INDEX);
  EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_OK) << "said once";
  EXPECT_EQ(y.vector(), (std::vector<float>{12, 13, 14, 15, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace rnnp_test
