// fpenv_test.cpp -- the floating-point environment: denormals are flushed while the library computes, and the caller's rounding and
// denormals are as they were when a call returns, whatever the call.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/fpenv.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;

#if defined(__SSE2__) || defined(__x86_64__)
constexpr rnnp::FpEnv kFlushing = 0x8040, kUpwards = 0x4000;  // FTZ and DAZ; rounding control
#elif defined(__aarch64__) || (defined(__arm__) && defined(__ARM_FP))
constexpr rnnp::FpEnv kFlushing = 1u << 24, kUpwards = 1u << 22;
#else
constexpr rnnp::FpEnv kFlushing = 0, kUpwards = 0;
#endif
constexpr rnnp::FpEnv kOfInterest = kFlushing | kUpwards;

std::vector<uint8_t> network() {
  BlobBuilder b(3);
  RecurrentOptions o;
  o.hidden = 8;
  b.add_output(b.add_recurrent(b.add_input(4), 4, o));
  return b.build();
}

// Every way into a session's arithmetic.
void call(Runner *r, int way) {
  const std::vector<float> x = random_floats(4 * 6, 1);
  std::vector<float> y(6 * 8);
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out = {y.data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 6;
  io.batch = io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  if (way == 0) expect_ok(rnnp_step(r->session(), x.data(), y.data()), "step");
  if (way == 1) expect_ok(rnnp_run(r->session(), 6, x.data(), y.data()), "run");
  if (way == 2) expect_ok(rnnp_run_io(r->session(), &io), "run_io");
}

TEST(FpEnv, IsTheCallersWhenACallReturns) {
  const rnnp::FpEnv before = rnnp::fpenv_get();
  for (const uint32_t threads : {1u, 2u}) {
    Runner r(network(), {1, 0, 0, 0, threads});
    for (int way = 0; way < 3; ++way)
      for (const rnnp::FpEnv mine : {rnnp::FpEnv{0}, kFlushing, kUpwards, kFlushing | kUpwards}) {
        const rnnp::FpEnv given = (before & ~kOfInterest) | mine;
        rnnp::fpenv_set(given);
        call(&r, way);
        const rnnp::FpEnv after = rnnp::fpenv_get();
        rnnp::fpenv_set(before);
        EXPECT_EQ(given & kOfInterest, after & kOfInterest) << "way " << way << ", " << threads << " threads";
      }
  }
}

// The caller's rounding does not reach the results.
TEST(FpEnv, ResultsAreThoseOfRoundingToNearest) {
  const rnnp::FpEnv before = rnnp::fpenv_get();
  const std::vector<float> x = random_floats(4 * 6, 1);
  const std::vector<float> want = Runner(network()).run(x);
  Runner r(network());
  std::vector<float> y(want.size());
  rnnp::fpenv_set(before | kUpwards);
  const rnnp_status status = rnnp_run(r.session(), 6, x.data(), y.data());
  rnnp::fpenv_set(before);
  expect_ok(status, "run");
  EXPECT_EQ(want, y);
}

// Denormals are flushed where the CPU can: their sum is 0 inside a call, and is not outside.
TEST(FpEnv, DenormalsAreFlushedInsideACallOnly) {
  if (kFlushing == 0) GTEST_SKIP() << "this CPU cannot flush denormals";
  BlobBuilder b(1);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {1}, {1}, {1}};
  const uint32_t x = b.add_input(1);
  b.add_output(b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {x, x}, 1, true));
  const rnnp::FpEnv before = rnnp::fpenv_get();
  rnnp::fpenv_set(before & ~kFlushing);
  const std::vector<float> y = Runner(b.build()).run({1e-40f, 1e-40f, 1e-40f});
  volatile float tiny = 1e-40f;
  const float sum = tiny + tiny;
  rnnp::fpenv_set(before);
  EXPECT_EQ((std::vector<float>{0, 0, 0}), y);
  EXPECT_GT(sum, 0.0f);
}

}  // namespace
