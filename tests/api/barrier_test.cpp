// barrier_test.cpp -- threads that meet: calls that some of them take no part in, peers that come late, sessions of one model side
// by side. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <thread>

#include <atomic>

#include "support/plain_sessions.h"
#include "support/random_model.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::Cell;

std::vector<uint8_t> layer(Cell cell, uint32_t hidden, bool bidirectional = false) {
  BlobBuilder b(1);
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = hidden;
  o.bidirectional = bidirectional;
  b.add_output(b.add_recurrent(b.add_input(16), 16, o));
  return b.build();
}

// Large enough that runs are shared by two threads without being forced, small enough that a single step is not.
TEST(ThreadedBarriers, StepsBesideRunsOfTheTeam) {
  for (const Cell cell : {Cell::kGru, Cell::kGruLinear, Cell::kLstm}) {
    const std::vector<uint8_t> blob = layer(cell, 96);
    Options shared;
    shared.threads = 2;
    shared.all_threads = false;
    Runner one(blob), two(blob, shared);
    rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
    ASSERT_EQ(RNNP_OK, rnnp_session_get_info(two.session(), &facts));
    ASSERT_EQ(2u, facts.threads);
    const std::vector<float> x = random_floats(20 * 16, 3);
    for (const size_t cut : {size_t{0}, size_t{1}, size_t{0}, size_t{7}, size_t{1}, size_t{0}})
      ASSERT_EQ(one.run(x, cut), two.run(x, cut)) << "cell " << uint32_t(cell) << ", cut " << cut;
  }
}

// Teams of one and of two threads count their own syncs; all three meet after the layer.
TEST(ThreadedBarriers, TeamsOfUnequalSize) {
  const std::vector<uint8_t> blob = layer(Cell::kGru, 24, true);
  Options whole, shared;
  whole.max_steps = shared.max_steps = 12;
  shared.threads = 3;
  Runner one(blob, whole), three(blob, shared);
  for (uint32_t call = 0; call < 20; ++call) {
    const std::vector<float> x = random_floats((1 + call % 12) * 16, call);
    ASSERT_EQ(one.run(x), three.run(x)) << "call " << call;
  }
}

// Two threads of which the second is let go by the first one's waiting.
struct LatePeer {
  std::atomic<uint32_t> waits{0}, gaps{0}, next{0};
  static constexpr uint32_t kWaits = 5;

  static void parallel(void *ctx, void (*task)(void *, uint32_t), void *arg) {
    LatePeer &peer = *static_cast<LatePeer *>(ctx);
    std::thread second([&] {
      while (peer.waits < kWaits) std::this_thread::yield();
      task(arg, 1);
    });
    task(arg, 0);
    second.join();
  }
  static void wait(void *ctx, uint32_t times) {
    LatePeer &peer = *static_cast<LatePeer *>(ctx);
    if (peer.waits < kWaits && times != peer.next++) ++peer.gaps;
    ++peer.waits;
    std::this_thread::yield();
  }
};

TEST(ThreadedBarriers, WhoWaitsLongAsksTheExecutorAndCounts) {
  LatePeer peer;
  const rnnp_executor executor = {sizeof(rnnp_executor), 2, &peer, LatePeer::parallel, LatePeer::wait};
  Options o;
  o.executor = &executor;
  Runner one(layer(Cell::kLstm, 24)), late(layer(Cell::kLstm, 24), o);
  const std::vector<float> x = random_floats(3 * 16, 1);
  EXPECT_EQ(one.run(x), late.run(x));
  EXPECT_GE(peer.waits, LatePeer::kWaits);
  EXPECT_EQ(0u, peer.gaps);
}

TEST(ThreadedBarriers, AnExecutorThatCannotWaitIsRefused) {
  LatePeer peer;
  const rnnp_executor executor = {sizeof(rnnp_executor), 2, &peer, LatePeer::parallel, nullptr};
  Options o;
  o.executor = &executor;
  EXPECT_THROW(Runner(layer(Cell::kLstm, 24), o), std::runtime_error);
}

TEST(ThreadedBarriers, SessionsOfOneModelSideBySide) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    const AlignedBytes bytes(random_model(seed));
    rnnp_model model;
    ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, bytes.data(), bytes.size(), 0));
    std::vector<std::string> wrong(3);
    std::vector<std::thread> walkers;
    for (uint32_t i = 0; i < 3; ++i)
      walkers.emplace_back([&, i] {
        ThreadTeam team(1 + i % 2);
        wrong[i] = walk_beside_plain(&model, seed * 10 + i, i % 2 ? &team : nullptr, 8);
      });
    for (std::thread &t : walkers) t.join();
    for (const std::string &w : wrong) ASSERT_EQ("", w) << "model " << seed;
  }
}

}  // namespace
