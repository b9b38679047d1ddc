// profile_test.cpp -- a clock as a trace: each node's calls are put down to it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/profile.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/files/files.h"
#include "compiler/options/load_model.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/random_call.h"

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
  Session(const rnnp_model &model, const NodeClock *clock) : memory_(1 << 20, 64) {
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    options.max_batch = kBatch;
    options.chunk_steps = kChunkSteps;
    EXPECT_EQ(rnnp_session_init(&session_, &model, &options, memory_.data(), memory_.size()), RNNP_OK);
    EXPECT_EQ(rnnp_session_set_trace(session_, clock != nullptr ? clock->trace() : nullptr), RNNP_OK);
  }
  rnnp_session *get() const { return session_; }

 private:
  AlignedBytes memory_;
  rnnp_session *session_ = nullptr;
};

TEST(NodeClock, CountsEachNodesCallsOncePerChunkAndOncePerStep) {
  const auto blob = detector();
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  ASSERT_EQ(rnnp_model_get_info(&blob->model, &facts), RNNP_OK);
  NodeClock clock(facts.node_count);
  const Session timed(blob->model, &clock);
  const RandomCall call(blob->model, 10, kBatch);
  ASSERT_EQ(rnnp_run_io(timed.get(), call.io()), RNNP_OK);
  for (const NodeTime &time : clock.take_times()) {
    EXPECT_EQ(time.calls, 3u);  // chunks of 4, 4 and 2 steps
    EXPECT_GT(time.ns, 0);
  }
  ASSERT_EQ(rnnp_step(timed.get(), call.io()->inputs[0].data, call.io()->outputs[0].data), RNNP_OK);
  for (const NodeTime &time : clock.take_times()) EXPECT_EQ(time.calls, 1u);
  for (const NodeTime &time : clock.take_times()) EXPECT_EQ(time.calls, 0u);
}

TEST(Profile, HasATimeForEveryNodeAndForTheWholeCall) {
  const auto blob = detector();
  for (const size_t steps : {size_t{1}, size_t{20}}) {
    const Profile found = profile(blob->model, {steps, kBatch, 0});
    ASSERT_EQ(found.node_us.size(), 4u);
    for (const double us : found.node_us) EXPECT_TRUE(us >= 0 && us < 1e6) << us;
    EXPECT_GE(found.spans.size(), 10u * 4);  // of ten calls, in one chunk or more
    EXPECT_EQ(found.spans.size() % (10 * 4), 0u);
    for (size_t i = 1; i < found.spans.size(); ++i)
      EXPECT_GE(found.spans[i].begin_us, found.spans[i - 1].begin_us + found.spans[i - 1].us);
    EXPECT_TRUE(found.call_us > 0 && found.call_us < 1e6) << found.call_us;
  }
}

}  // namespace
}  // namespace rnnp::compiler
