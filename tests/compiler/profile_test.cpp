// profile_test.cpp -- operators with a clock around them are the same operators, and each node's calls are put down to it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/profile.h"

#include <gtest/gtest.h>

#include "compiler/cli/files.h"
#include "compiler/cli/model_options.h"
#include "compiler/cli/opened_blob.h"
#include "compiler/cli/profiled_ops.h"
#include "compiler/cli/random_call.h"
#include "compiler/compile.h"

namespace rnnp::compiler {
namespace {

constexpr uint32_t kBatch = 2, kChunkSteps = 4;

std::unique_ptr<OpenedBlob> detector() {
  const auto model = load_model(RNNPACK_MODELS "/vad_gru/model.onnx", {});
  const Compiled compiled = compile_model(*model, "generic");
  auto blob = std::make_unique<OpenedBlob>(OpenedBlob{AlignedBytes(compiled.blob.size(), 64), {}});
  std::copy(compiled.blob.begin(), compiled.blob.end(), blob->bytes.data());
  EXPECT_EQ(rnnp_model_open(&blob->model, blob->bytes.data(), blob->bytes.size(), 0), RNNP_OK);
  return blob;
}

class Session {
 public:
  Session(const rnnp_registry &registry, const rnnp_model &model) : memory_(1 << 20, 64) {
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    options.max_batch = kBatch;
    options.chunk_steps = kChunkSteps;
    EXPECT_EQ(rnnp_session_init_with(&registry, &session_, &model, &options, memory_.data(), memory_.size()), RNNP_OK);
  }
  rnnp_session *get() const { return session_; }

 private:
  AlignedBytes memory_;
  rnnp_session *session_ = nullptr;
};

TEST(ProfiledOps, GiveTheBitsOfTheOperatorsTheySurroundInRunsAndInSteps) {
  const auto blob = detector();
  const Session plain(rnnp_default_registry, blob->model), timed(timed_registry(), blob->model);
  const RandomCall a(blob->model, 10, kBatch), b(blob->model, 10, kBatch);
  ASSERT_EQ(rnnp_run_io(plain.get(), a.io()), RNNP_OK);
  ASSERT_EQ(rnnp_run_io(timed.get(), b.io()), RNNP_OK);
  EXPECT_EQ(a.results(), b.results());
  ASSERT_EQ(rnnp_step(plain.get(), a.io()->inputs[0].data, a.io()->outputs[0].data), RNNP_OK);
  ASSERT_EQ(rnnp_step(timed.get(), b.io()->inputs[0].data, b.io()->outputs[0].data), RNNP_OK);
  EXPECT_EQ(a.results(), b.results());
}

TEST(ProfiledOps, CountEachNodesCallsOncePerChunkAndOncePerStep) {
  const auto blob = detector();
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  ASSERT_EQ(rnnp_model_get_info(&blob->model, &facts), RNNP_OK);
  const Session timed(timed_registry(), blob->model);
  const RandomCall call(blob->model, 10, kBatch);
  take_node_times(facts.node_count);
  ASSERT_EQ(rnnp_run_io(timed.get(), call.io()), RNNP_OK);
  for (const NodeTime &time : take_node_times(facts.node_count)) {
    EXPECT_EQ(time.calls, 3u);  // chunks of 4, 4 and 2 steps
    EXPECT_GT(time.ns, 0);
  }
  ASSERT_EQ(rnnp_step(timed.get(), call.io()->inputs[0].data, call.io()->outputs[0].data), RNNP_OK);
  for (const NodeTime &time : take_node_times(facts.node_count)) EXPECT_EQ(time.calls, 1u);
  for (const NodeTime &time : take_node_times(facts.node_count)) EXPECT_EQ(time.calls, 0u);
}

TEST(Profile, HasATimeForEveryNodeAndForTheWholeCall) {
  const auto blob = detector();
  for (const size_t steps : {size_t{1}, size_t{20}}) {
    const Profile found = profile(blob->model, {steps, kBatch, 0});
    ASSERT_EQ(found.node_us.size(), 4u);
    for (const double us : found.node_us) EXPECT_TRUE(us >= 0 && us < 1e6) << us;
    EXPECT_TRUE(found.call_us > 0 && found.call_us < 1e6) << found.call_us;
  }
}

}  // namespace
}  // namespace rnnp::compiler
