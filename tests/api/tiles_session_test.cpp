// tiles_session_test.cpp -- whole sessions of int8 and bf16 layers with tiles, beside the same ones without: a program that may use
// AMX, or one for which its instructions are emulated. The facts of the CPU are this file's: its platform_cpu takes the place of
// the library's. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "platform/isa_of_cpu.h"
#include "platform/platform.h"
#include "support/session_fixture.h"
#include "support/tile_emulator.h"

namespace rnnp {

CpuFacts platform_cpu() {
  const uint32_t isa = isa_of_cpu();
  const uint32_t tiles = RNNP_ISA_AMX_INT8 | ((isa & RNNP_ISA_AVX512_BF16) != 0 ? RNNP_ISA_AMX_BF16 : 0);
  return {make_tiles_run() ? isa | tiles : isa, 32u << 10, 1u << 20, 8u << 20};
}

}  // namespace rnnp

namespace tiles_session_test {

using namespace rnnp_test;

struct Layers {
  rnnp::Cell cell;
  rnnp::DType dtype;
  uint32_t tiles, without;  // the set, and the one that it builds on
};

constexpr uint32_t kInt8[2] = {RNNP_ISA_AMX_INT8, RNNP_ISA_AVX512_VNNI}, kBf16[2] = {RNNP_ISA_AMX_BF16, RNNP_ISA_AVX512_BF16};

std::vector<uint8_t> layers(rnnp::Cell cell, rnnp::DType dtype) {
  BlobBuilder b(3);
  b.weights = b.recurrent_weights = dtype;
  b.rounds_lhs = dtype == rnnp::DType::kBf16;
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = 40;
  const uint32_t y = b.add_recurrent(b.add_input(24), 24, o);
  b.add_output(b.add_dense(y, 40, 20));
  return b.build();
}

class TileSessions : public testing::TestWithParam<Layers> {
 protected:
  void SetUp() override {
    if ((rnnp::platform_cpu().isa & GetParam().tiles) == 0) GTEST_SKIP() << "this CPU has no AMX, and nothing to emulate it beside";
  }
};

TEST_P(TileSessions, GiveTheBitsOfDotProducts) {
  const std::vector<uint8_t> blob = layers(GetParam().cell, GetParam().dtype);
  for (const uint32_t batch : {1u, 4u, 16u, 35u}) {
    const std::vector<float> x = random_floats(size_t{12} * batch * 24, batch);
    Options o;
    o.batch = batch;
    o.isa = GetParam().without;
    const std::vector<float> want = Runner(blob, o).run(x);
    for (const uint32_t threads : {1u, 2u}) {
      o.isa = 0;
      o.threads = threads;
      const uint64_t before = rnnp::tile_products();
      EXPECT_EQ(want, Runner(blob, o).run(x)) << batch << " rows, " << threads << " threads";
      EXPECT_EQ(want, Runner(blob, o).run(x, 1)) << batch << " rows, " << threads << " threads";
      if (rnnp::tiles_are_emulated() && threads == 1) {
        EXPECT_LT(before, rnnp::tile_products()) << batch << " rows of 12 steps";
      }
      EXPECT_FALSE(rnnp::tiles_are_in_use());
    }
  }
}

std::vector<Layers> all_layers() {
  std::vector<Layers> all;
  for (const rnnp::Cell cell : {rnnp::Cell::kLstm, rnnp::Cell::kGru, rnnp::Cell::kGruLinear}) {
    all.push_back({cell, rnnp::DType::kI8, kInt8[0], kInt8[1]});
    all.push_back({cell, rnnp::DType::kBf16, kBf16[0], kBf16[1]});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cells, TileSessions, testing::ValuesIn(all_layers()));

// A thread's first tiles trap; no step does. Of either kind alone, too.
struct TouchedThreads {
  static void parallel(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
    TouchedThreads &self = *static_cast<TouchedThreads *>(ctx);
    const uint64_t before = rnnp::tile_configurations();
    self.team.executor()->parallel(self.team.executor()->ctx, task, arg);
    self.configured += rnnp::tile_configurations() - before;
  }
  ThreadTeam team{2};
  uint64_t configured = 0;
};

TEST(TileThreads, TouchTilesInEveryThreadWhenTheyAreMade) {
  for (const uint32_t *set : {kInt8, kBf16}) {
    if ((rnnp::platform_cpu().isa & set[0]) == 0 || !rnnp::tiles_are_emulated()) GTEST_SKIP() << "tiles are not emulated here";
    TouchedThreads threads;
    rnnp_executor executor = *threads.team.executor();
    executor.parallel = TouchedThreads::parallel;
    executor.ctx = &threads;
    // The team's own wait has the team's context.
    executor.wait = [](void *ctx, uint32_t times) {
      const rnnp_executor *own = static_cast<TouchedThreads *>(ctx)->team.executor();
      own->wait(own->ctx, times);
    };
    Options o;
    o.executor = &executor;
    o.isa = set[0];
    const Runner runner(layers(rnnp::Cell::kLstm, set == kInt8 ? rnnp::DType::kI8 : rnnp::DType::kBf16), o);
    EXPECT_EQ(2u, threads.configured);
  }
}

}  // namespace tiles_session_test
