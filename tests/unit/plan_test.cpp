// plan_test.cpp -- the planner as a table: shapes, threads and cache sizes in; tiles, teams, chunk, bytes out.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/op.h"
#include "ops/recurrent_plan.h"

namespace plan_test {

using namespace rnnp;

constexpr PanelFormat kNr16 = find_panel_format(1), kNr4 = find_panel_format(3);
constexpr uint32_t kKiB = 1024, kMiB = 1024 * kKiB;

struct Row {
  const char *name;
  RecurrentShape shape;
  PlanLimits limits;
  // expected
  uint32_t gates, tiles, teams, team_threads, chunk_steps, serpentine;
  size_t row_bytes, preact_bytes, gate_bytes, scratch_bytes;
};

// clang-format off
const Row kRows[] = {
  // cell, I, H, W, R, directions      batch steps threads L1 L2 L3 chunk     gates tiles teams threads chunk serpentine row  preact   gates  scratch
  {"lstm, one stream",
   {Cell::kLstm, 64, 64, kNr16, kNr16, 1},      {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 4,  1, 1, 32, 1, 1088,  34816, 0, 34816},
  {"short rows: half of a small L1 of them",
   {Cell::kLstm, 17, 16, kNr16, kNr16, 1},      {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 1,  1, 1, 64, 0, 256, 16384, 0, 16384},
  {"few inputs of one row: the step takes them",
   {Cell::kLstm, 16, 16, kNr16, kNr16, 1},      {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 1,  1, 1, 64, 0, 256, 0, 0, 0},
  {"of more units: fewer",
   {Cell::kLstm, 8, 32, kNr16, kNr16, 1},       {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 2,  1, 1, 32, 1, 512, 0, 0, 0},
  {"and no more than a quarter of them",
   {Cell::kLstm, 9, 32, kNr16, kNr16, 1},       {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 2,  1, 1, 32, 1, 512, 16384, 0, 16384},
  {"of two rows: not",
   {Cell::kLstm, 4, 16, kNr16, kNr16, 1},       {2, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 1,  1, 1, 32, 0, 256, 16384, 0, 16384},
  {"two inputs of a large cell",
   {Cell::kGruLinear, 2, 64, kNr16, kNr16, 1},  {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            3, 4,  1, 1, 32, 1, 768, 0, 0, 0},
  {"of a large cell of one gate: not",
   {Cell::kRnn, 2, 64, kNr16, kNr16, 1},        {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            1, 4,  1, 1, 64, 1, 256, 16384, 0, 16384},
  {"gru takes nothing in its step",
   {Cell::kGru, 1, 16, kNr16, kNr16, 1},        {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            3, 1,  1, 1, 85, 0, 192, 16320, 64, 16448},
  {"weights that are not in L2 are read for many rows",
   {Cell::kLstm, 64, 64, kNr16, kNr16, 1},      {1, 1000, 1, 32 * kKiB, 100 * kKiB, 0, 0},     4, 4,  1, 1, 128, 1, 1088, 139264, 0, 139264},
  {"lstm, microcontroller",
   {Cell::kLstm, 64, 64, kNr4, kNr4, 1},       {1, 1, 1, 0, 0, 0, 1},                  4, 16, 1, 1, 1, 0, 1088,  0, 0, 0},
  {"lstm as large as L2",
   {Cell::kLstm, 256, 256, kNr16, kNr16, 1},    {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 16, 1, 1, 128, 1, 4160, 532480, 0, 532480},
  {"a thread's share exceeds L1: sweeps",
   {Cell::kLstm, 256, 256, kNr16, kNr16, 1},    {1, 1000, 2, 32 * kKiB, kMiB, 0, 0},            4, 16, 1, 2, 128, 1, 4160, 532480, 0, 532480},
  {"two directions, two threads",
   {Cell::kLstm, 256, 256, kNr16, kNr16, 2},    {1, 1000, 2, 32 * kKiB, kMiB, 0, 0},            4, 16, 2, 1, 128, 1, 4160, 532480, 0, 1064960},
  {"two directions, one thread",
   {Cell::kLstm, 256, 256, kNr16, kNr16, 2},    {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},            4, 16, 1, 1, 128, 1, 4160, 532480, 0, 532480},
  {"two directions, three threads: teams of one and two",
   {Cell::kLstm, 256, 256, kNr16, kNr16, 2},    {1, 1000, 3, 32 * kKiB, kMiB, 0, 0},            4, 16, 2, 1, 128, 1, 4160, 532480, 0, 1064960},
  {"Deep Speech 2",
   {Cell::kLstm, 800, 800, kNr16, kNr16, 1},    {20, 300, 1, 32 * kKiB, kMiB, 0, 0},            4, 50, 1, 1, 13, 1, 12864, 3344640, 0, 3344640},
  {"never more steps than a call has",
   {Cell::kRnn, 17, 8, kNr16, kNr16, 1},        {1, 5, 1, 32 * kKiB, kMiB, 0, 0},               1, 1,  1, 1, 5, 0, 64, 320, 0, 320},
  {"gru keeps z and r*h, and always buffers",
   {Cell::kGru, 40, 40, kNr16, kNr16, 1},       {3, 1, 1, 32 * kKiB, kMiB, 0, 0},               3, 3,  1, 1, 1, 1, 576, 1728, 576, 2880},
  {"gru linear does not",
   {Cell::kGruLinear, 40, 40, kNr16, kNr16, 1}, {3, 1, 1, 32 * kKiB, kMiB, 0, 0},               3, 3,  1, 1, 1, 1, 576, 0, 0, 0},
  {"asked for 10 steps",
   {Cell::kLstm, 64, 64, kNr16, kNr16, 1},      {1, 1000, 1, 32 * kKiB, kMiB, 0, 10},           4, 4,  1, 1, 10, 1, 1088, 10880, 0, 10880},
  {"small L2 bounds the memory",
   {Cell::kLstm, 1024, 1024, kNr16, kNr16, 1},  {4, 1000, 1, 32 * kKiB, 128 * kKiB, 0, 0},      4, 64, 1, 1, 7, 1, 16448, 460544, 0, 460544},
  {"R within seven eighths of L3: sweeps",
   {Cell::kLstm, 1024, 1024, kNr16, kNr16, 1},  {1, 1000, 1, 32 * kKiB, kMiB, 24 * kMiB, 0}, 4, 64, 1, 1, 255, 1, 16448, 4194240, 0, 4194240},
  {"two teams' R beyond it: forward",
   {Cell::kLstm, 1024, 1024, kNr16, kNr16, 2},  {1, 1000, 2, 32 * kKiB, kMiB, 24 * kMiB, 0}, 4, 64, 2, 1, 255, 0, 16448, 4194240, 0, 8388480},
  {"R from memory: forward",
   {Cell::kLstm, 2048, 2048, kNr16, kNr16, 1},  {1, 1000, 1, 32 * kKiB, kMiB, 32 * kMiB, 0}, 4, 128, 1, 1, 127, 0, 32832, 4169664, 0, 4169664},
  {"nothing known of L3: sweeps",
   {Cell::kLstm, 2048, 2048, kNr16, kNr16, 1},  {1, 1000, 1, 32 * kKiB, kMiB, 0, 0},         4, 128, 1, 1, 127, 1, 32832, 4169664, 0, 4169664},
};
// clang-format on

TEST(Plan, Table) {
  for (const Row &r : kRows) {
    SCOPED_TRACE(r.name);
    const RecurrentPlan p = plan_recurrent(r.shape, r.limits);
    EXPECT_EQ(r.gates, p.gates);
    EXPECT_EQ(r.tiles, p.tiles);
    EXPECT_EQ(r.teams, p.teams);
    EXPECT_EQ(r.team_threads, p.team_threads);
    EXPECT_EQ(r.chunk_steps, p.chunk_steps);
    EXPECT_EQ(r.serpentine, p.serpentine);
    EXPECT_EQ(r.row_bytes, p.row_bytes);
    EXPECT_EQ(r.preact_bytes, p.preact_bytes);
    EXPECT_EQ(r.gate_bytes, p.gate_bytes);
    EXPECT_EQ(r.scratch_bytes, p.scratch_bytes);
  }
}

TEST(Plan, OwnersCoverEveryTileOnceAndEvenly) {
  for (uint32_t threads : {1u, 2u, 3u, 7u, 16u}) {
    for (size_t tiles : {0, 1, 2, 5, 50, 64}) {
      size_t next = 0, least = tiles, most = 0;
      for (uint32_t t = 0; t < threads; ++t) {
        size_t begin, end;
        split_range(tiles, threads, t, &begin, &end);
        EXPECT_EQ(next, begin);
        next = end;
        least = std::min(least, end - begin);
        most = std::max(most, end - begin);
      }
      EXPECT_EQ(tiles, next);
      EXPECT_LE(most - std::min(most, least), 1u);
    }
  }
}

TEST(Plan, ThreadsOnlyWhenAStepIsWorthSharing) {
  EXPECT_EQ(1u, choose_threads(4 * 32 * 32, 1, 2));
  EXPECT_EQ(2u, choose_threads(4 * 64 * 64, 1, 2));
  EXPECT_EQ(2u, choose_threads(3 * 64 * 64, 1, 2));
  EXPECT_EQ(2u, choose_threads(3 * 64 * 64, 1, 4));
  EXPECT_EQ(2u, choose_threads(4 * 64 * 64, 1, 1000));
  EXPECT_EQ(10u, choose_threads(4 * 64 * 64, 4, 1000));
  EXPECT_EQ(2u, choose_threads(4 * 32 * 32, 4, 2));
  EXPECT_EQ(1u, choose_threads(0, 1, 1));
  EXPECT_EQ(2u, choose_threads(macs_per_sync(Cell::kGruLinear, 64, 1), 1, 2));
  EXPECT_EQ(1u, choose_threads(macs_per_sync(Cell::kGru, 64, 1), 1, 2));
  EXPECT_EQ(2u, choose_threads(macs_per_sync(Cell::kGru, 128, 1), 1, 2));
}

TEST(Plan, ShortCallsStayOnOneThread) {
  EXPECT_EQ(2u, choose_parallel_steps(2 * 4 * 64 * 64, 1));
  EXPECT_EQ(1u, choose_parallel_steps(2 * 4 * 128 * 128, 1));
  EXPECT_EQ(1u, choose_parallel_steps(2 * 4 * 64 * 64, 2));
  EXPECT_EQ(1u, choose_parallel_steps(0, 1));
}

TEST(Plan, ImpossibleSizesSaturateInsteadOfWrapping) {
  const RecurrentPlan p =
      plan_recurrent({Cell::kLstm, 1u << 20, 1u << 20, kNr16, kNr16, 2}, {1u << 20, 1u << 28, 2, 32 * kKiB, kMiB, 0, 1u << 20});
  EXPECT_GE(p.scratch_bytes, size_t{1} << 60);
}

TEST(Plan, WeightsAreFarWhereAThreadsShareExceedsItsL2) {
  const RecurrentShape shape = {Cell::kLstm, 64, 256, kNr16, kNr16, 1};  // R takes 1 MiB, W a quarter of it
  const auto plan = [&](uint32_t threads, uint32_t l2) { return plan_recurrent(shape, {1, 1000, threads, 32 * kKiB, l2, 0, 0}); };
  EXPECT_EQ(1u, plan(1, kMiB).prefetch_r) << "all of L2 is not for R";
  EXPECT_EQ(0u, plan(1, kMiB).prefetch_w);
  EXPECT_EQ(0u, plan(1, 2 * kMiB).prefetch_r);
  EXPECT_EQ(0u, plan(2, kMiB).prefetch_r);
  EXPECT_EQ(1u, plan(1, 256 * kKiB).prefetch_w);
  EXPECT_EQ(0u, plan(1, 0).prefetch_r) << "nothing is known of L2";
}

TEST(Plan, ProductsApartFromTheCellsGoBackOnlyOverFarPanels) {
  constexpr PanelFormat bytes = find_panel_format(11);
  const RecurrentShape shape = {Cell::kLstm, 64, 256, bytes, bytes, 1};  // int8; R takes 256 KiB in 16 tiles
  const auto plan = [&](uint32_t l2) { return plan_recurrent(shape, {1, 1000, 1, 32 * kKiB, l2, 0, 0}); };
  EXPECT_EQ(1u, plan(128 * kKiB).serpentine);
  EXPECT_EQ(0u, plan(kMiB).serpentine);
}

}  // namespace plan_test
