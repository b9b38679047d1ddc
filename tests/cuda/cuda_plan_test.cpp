// cuda_plan_test.cpp -- the plan as a pure function: what each device of the table, and devices with odd facts, are given, and why.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "cuda/plan.h"

namespace rnnp::cuda {
namespace {

const rnnp_cuda_device &device(const char *name) {
  for (uint32_t i = 0; i < kNamedDeviceCount; ++i) {
    if (std::strcmp(kNamedDevices[i].name, name) == 0) return kNamedDevices[i].device;
  }
  ADD_FAILURE() << name;
  return kNamedDevices[0].device;
}

LayerPlan plan(const rnnp_cuda_device &d, Cell cell, uint32_t hidden, Weights weights, uint32_t batch = 1, bool plain = true) {
  return plan_layer({cell, hidden, hidden, 1, plain, weights, weights, true}, {d, weights, batch, 256, 0, 0, 0});
}

constexpr Weights kAllWeights[] = {Weights::kF32,    Weights::kF16,        Weights::kBf16, Weights::kI8,
                                   Weights::kBlocks, Weights::kByteBlocks, Weights::kI4};

bool is_resident(const LayerPlan &p) {
  return p.resident != KernelId::count;
}

struct Row {
  const char *device;
  Cell cell;
  uint32_t hidden;
  Weights weights;
  bool resident;
};

// The sizes of the published tables: what fits where, by arithmetic alone.
const Row kRows[] = {
    {"orin64", Cell::kLstm, 256, Weights::kF16, true},      {"orin64", Cell::kLstm, 512, Weights::kF16, true},
    {"orin64", Cell::kLstm, 1024, Weights::kF16, false},    {"orin64", Cell::kLstm, 512, Weights::kF32, true},
    {"orin64", Cell::kGruLinear, 512, Weights::kF16, true}, {"orin64", Cell::kGruLinear, 1280, Weights::kF16, false},
    {"orin-nx", Cell::kLstm, 256, Weights::kF16, true},     {"orin-nx", Cell::kLstm, 640, Weights::kF16, false},
    {"orin-nx", Cell::kLstm, 256, Weights::kF32, true},     {"orin-nx", Cell::kRnn, 512, Weights::kF16, true},
    {"h100", Cell::kLstm, 256, Weights::kF16, true},        {"h100", Cell::kLstm, 512, Weights::kF16, true},
    {"h100", Cell::kLstm, 1024, Weights::kF16, true},       {"h100", Cell::kGruLinear, 1024, Weights::kF16, true},
    {"h100", Cell::kGruLinear, 2816, Weights::kF16, false}, {"h100", Cell::kLstm, 4096, Weights::kF16, false},
    {"h100", Cell::kGru, 1024, Weights::kF16, true},        {"thor", Cell::kLstm, 512, Weights::kF16, true},
};

TEST(CudaPlan, WhatFitsIsResidentAndWhatDoesNotSaysWhy) {
  for (const Row &row : kRows) {
    const LayerPlan p = plan(device(row.device), row.cell, row.hidden, row.weights);
    EXPECT_TRUE(p.fits);
    EXPECT_EQ(is_resident(p), row.resident) << row.device << " " << row.hidden << ": " << p.reason;
    EXPECT_EQ(std::string(p.reason).rfind(row.resident ? "resident" : "a launch for each step", 0), 0u) << p.reason;
    if (!row.resident) continue;
    EXPECT_LE(p.blocks, device(row.device).sm_count);
    EXPECT_LE(p.shared_bytes, device(row.device).shared_per_block);
    EXPECT_GE(p.blocks * p.units, row.hidden);
  }
}

// Every resident plan covers the layer, stays within the device and has the row tiles that its kernel was compiled for.
TEST(CudaPlan, EveryPlanIsOneThatItsKernelCanRun) {
  uint32_t resident = 0;
  for (uint32_t i = 0; i < kNamedDeviceCount; ++i) {
    for (const Cell cell : {Cell::kLstm, Cell::kGru, Cell::kGruLinear, Cell::kRnn, Cell::kLstmNorm}) {
      for (const Weights weights : kAllWeights) {
        for (uint32_t hidden = 1; hidden < 3000; hidden += 1 + hidden / 7) {
          for (const uint32_t batch : {1u, 7u, 20u}) {
            const rnnp_cuda_device &d = kNamedDevices[i].device;
            const bool plain = (hidden + batch) % 3 != 0;
            const LayerPlan p = plan(d, cell, hidden, weights, batch, plain);
            ASSERT_TRUE(p.fits);
            ASSERT_GE(p.blocks * p.units, hidden);
            ASSERT_LT((p.blocks - 1) * p.units, hidden) << "a block without units";
            ASSERT_LE(p.step_shared_bytes, d.shared_per_block);
            ASSERT_GE(p.steps_per_launch, 1u);
            if (!is_resident(p)) continue;
            ++resident;
            ASSERT_LE(p.blocks, d.sm_count);
            ASSERT_LE(p.shared_bytes, d.shared_per_block);
            for (const Resident &r : kResidents) {
              if (r.id != p.resident) continue;
              ASSERT_EQ(r.cell, cell);
              ASSERT_EQ(r.weights, weights);
              ASSERT_NE(r.generic, plain);
              const uint32_t gates = cell == Cell::kLstm ? 4 : cell == Cell::kRnn ? 1 : 3;
              if (weights != Weights::kF32) {
                ASSERT_EQ(p.units % (are_bytes(weights) ? 4 : 2), 0u) << "a word has two units, or four";
                const uint32_t tiles = half_row_tiles({gates, hidden, p.units});
                const bool whole = r.half_tiles == 0         ? p.units % kGroupUnits == 0
                                   : weights == Weights::kI4 ? tiles <= r.half_tiles
                                                             : tiles == r.half_tiles;
                ASSERT_TRUE(whole) << "blocks have whole row groups, others the row tiles of their kernel";
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(resident, 1000u);
}

// The largest layer that stays on the chip, of multiples of 32 units, one row, one direction: f32, f16, int8.
struct Largest {
  uint32_t sms;
  Cell cell;
  uint32_t f32, f16, i8;
};
const Largest kLargest[] = {
    {8, Cell::kLstm, 256, 512, 768},        {8, Cell::kGruLinear, 320, 640, 768},    {8, Cell::kGru, 320, 512, 768},
    {8, Cell::kRnn, 704, 1152, 1536},       {14, Cell::kLstm, 448, 672, 896},        {14, Cell::kGruLinear, 544, 768, 1120},
    {14, Cell::kGru, 544, 768, 1024},       {14, Cell::kRnn, 896, 1344, 2016},       {16, Cell::kLstm, 512, 768, 1024},
    {16, Cell::kGruLinear, 608, 896, 1280}, {16, Cell::kGru, 608, 768, 1024},        {16, Cell::kRnn, 1024, 1536, 2304},
    {20, Cell::kLstm, 640, 896, 1280},      {20, Cell::kGruLinear, 768, 1120, 1536}, {20, Cell::kGru, 768, 1024, 1280},
    {20, Cell::kRnn, 1280, 1920, 2816},     {132, Cell::kLstm, 1696, 2304, 3328},    {132, Cell::kGruLinear, 2048, 2560, 4096},
    {132, Cell::kGru, 1984, 2112, 3584},    {132, Cell::kRnn, 3424, 4224, 6400},
};

TEST(CudaPlan, LargestResidentLayersAreThoseOfTheTable) {
  const auto largest = [](const rnnp_cuda_device &d, Cell cell, Weights weights) {
    uint32_t most = 0;
    for (uint32_t hidden = 32; hidden < 8000; hidden += 32) most = is_resident(plan(d, cell, hidden, weights)) ? hidden : most;
    return most;
  };
  for (const Largest &row : kLargest) {
    uint32_t at = 0;
    while (at < kNamedDeviceCount - 1 && kNamedDevices[at].device.sm_count != row.sms) ++at;
    const rnnp_cuda_device &d = kNamedDevices[at].device;
    SCOPED_TRACE(std::to_string(row.sms) + " SMs, cell " + std::to_string(static_cast<uint32_t>(row.cell)));
    ASSERT_EQ(d.sm_count, row.sms);
    EXPECT_EQ(largest(d, row.cell, Weights::kF32), row.f32);
    EXPECT_EQ(largest(d, row.cell, Weights::kF16), row.f16);
    EXPECT_EQ(largest(d, row.cell, Weights::kI8), row.i8);
  }
  EXPECT_TRUE(is_resident(plan(device("h100"), Cell::kLstm, 1700, Weights::kF32)));
  const LayerPlan flagship = plan(device("orin64"), Cell::kLstm, 1024, Weights::kI8);
  EXPECT_TRUE(is_resident(flagship)) << flagship.reason;
  EXPECT_LT(flagship.predicted_ns, 2500u);
}

TEST(CudaPlan, MoreSmsNeverMakeALayerSlower) {
  for (const uint32_t hidden : {64u, 200u, 512u, 700u}) {
    uint32_t before = UINT32_MAX;
    bool was_resident = false;
    for (uint32_t sms = 2; sms <= 132; sms += 5) {
      rnnp_cuda_device d = device("h100");
      d.sm_count = sms;
      const LayerPlan p = plan(d, Cell::kLstm, hidden, Weights::kF16);
      EXPECT_GE(is_resident(p), was_resident) << hidden << " " << sms;
      if (was_resident) {
        EXPECT_LE(p.predicted_ns, before) << hidden << " " << sms;
      }
      was_resident = is_resident(p);
      before = p.predicted_ns;
    }
  }
}

// Who has no other block to tell exchanges nothing, but group after group of columns is exchanged by words.
TEST(CudaPlan, ASmallLayerIsAloneInOneBlock) {
  for (const Cell cell : {Cell::kLstm, Cell::kGruLinear, Cell::kGru, Cell::kRnn}) {
    const LayerPlan p = plan(device("orin64"), cell, 64, Weights::kF16), more = plan(device("orin64"), cell, 64, Weights::kF16, 9);
    EXPECT_EQ(p.blocks, 1u) << p.reason;
    EXPECT_LT(p.predicted_ns, 1000u);
    EXPECT_GT(more.predicted_ns, 1000u) << more.reason;
    EXPECT_GT(plan(device("orin64"), cell, 146, Weights::kF16).blocks, 1u);
  }
}

// The exchange by blocks and words, cells and groups by batch, the launch's weights, the input's product.
TEST(CudaPlan, APredictionGrowsWithAllThatAStepWaitsFor) {
  const rnnp_cuda_device &h100 = device("h100");
  const auto predicted = [](const rnnp_cuda_device &d, uint32_t input, uint32_t hidden, uint32_t batch, Weights weights,
                            uint32_t steps) {
    return plan_layer({Cell::kLstm, input, hidden, 1, true, weights, weights, true}, {d, weights, batch, 256, steps, 0, 0})
        .predicted_ns;
  };
  const uint32_t one = predicted(h100, 512, 512, 1, Weights::kF16, 0);
  EXPECT_GT(one, 700u);
  EXPECT_LT(one, 1700u);
  EXPECT_GT(predicted(h100, 512, 512, 8, Weights::kF16, 0), one) << "cells and words of eight rows";
  EXPECT_GT(predicted(h100, 512, 512, 1, Weights::kF16, 4), one + 200) << "weights for four steps";
  EXPECT_GT(predicted(h100, 8192, 512, 1, Weights::kF32, 0), predicted(h100, 512, 512, 1, Weights::kF32, 0) + 100);
  const uint32_t groups = predicted(h100, 800, 800, 20, Weights::kF16, 0);
  EXPECT_GT(groups, 2000u) << "three groups of columns, one after the other";
  EXPECT_LT(groups, 6500u);
}

TEST(CudaPlan, OptionsAndRulesDecideAndAreNamed) {
  rnnp_cuda_device d = device("orin64");
  const LayerShape shape = {Cell::kLstm, 100, 256, 1, true, Weights::kF16, Weights::kF16, true};
  const auto reason = [&](const LayerShape &s, const PlanLimits &l) { return std::string(plan_layer(s, l).reason); };
  const PlanLimits all = {d, Weights::kF16, 1, 256, 0, 0, 0};
  PlanLimits l = all;
  EXPECT_NE(reason(shape, l).find("resident: "), std::string::npos);
  l.kernels_allowed = RNNP_CUDA_STEPS;
  EXPECT_NE(reason(shape, l).find("kernels_allowed"), std::string::npos);
  l = all;
  l.sm_limit = 1;
  EXPECT_NE(reason(shape, l).find("SMs"), std::string::npos) << reason(shape, l);
  l = all;
  l.device.cooperative = 0;
  EXPECT_NE(reason(shape, l).find("cooperative"), std::string::npos);
  LayerShape odd = shape;
  odd.plain = false;
  EXPECT_EQ(reason(odd, all).rfind("resident, any activation: ", 0), 0u) << reason(odd, all);
  odd.w = odd.r = Weights::kBf16;
  EXPECT_NE(reason(odd, all).find("default activations only"), std::string::npos) << reason(odd, all);
  LayerShape bytes = shape;
  bytes.r = Weights::kI8;
  EXPECT_NE(reason(bytes, all).find("resident: "), std::string::npos) << reason(bytes, all);
  bytes.one_step = false;
  EXPECT_NE(reason(bytes, all).find("quantized to int8 by one number"), std::string::npos) << reason(bytes, all);
  bytes.r = Weights::kByteBlocks;
  EXPECT_NE(reason(bytes, all).find("quantized to int8 by one number"), std::string::npos) << reason(bytes, all);
  LayerShape large = shape;
  large.hidden = 512;
  large.w = large.r = Weights::kF32;
  l = all;
  l.device.shared_per_block = 48 * 1024;
  EXPECT_NE(reason(large, l).find("fit"), std::string::npos) << reason(large, l);
}

// Both directions in one launch, where each has room and that is predicted to take less than one after the other.
TEST(CudaPlan, DirectionsGoSideBySideWhereThatIsFaster) {
  struct Wanted {
    const char *device;
    Cell cell;
    uint32_t hidden;
    Weights weights;
    bool plain, side_by_side;
  };
  const Wanted rows[] = {{"orin64", Cell::kLstm, 256, Weights::kF16, true, true},
                         {"orin64", Cell::kLstm, 512, Weights::kF16, true, false},  // no room for both
                         {"orin64", Cell::kLstm, 64, Weights::kF16, true, false},   // each alone in a block exchanges nothing
                         {"orin64", Cell::kGru, 200, Weights::kF32, true, true},
                         {"orin64", Cell::kLstm, 256, Weights::kF16, false, false},
                         {"orin64", Cell::kLstm, 256, Weights::kBf16, true, false},
                         {"h100", Cell::kGruLinear, 512, Weights::kF16, true, true}};
  for (const Wanted &row : rows) {
    SCOPED_TRACE(std::string(row.device) + " " + std::to_string(row.hidden));
    const LayerShape shape = {row.cell, 100, row.hidden, 2, row.plain, row.weights, row.weights, true};
    PlanLimits l = {device(row.device), row.weights, 1, 256, 0, 0, 0};
    const LayerPlan p = plan_layer(shape, l);
    l.one_by_one = true;
    const LayerPlan apart = plan_layer(shape, l);
    ASSERT_TRUE(is_resident(p) && is_resident(apart)) << p.reason;
    EXPECT_EQ(p.directions, row.side_by_side ? 2u : 1u) << p.reason;
    EXPECT_EQ(apart.directions, 1u) << apart.reason;
    EXPECT_EQ(std::string(p.reason).find("side by side") != std::string::npos, row.side_by_side) << p.reason;
    EXPECT_LE(p.directions * p.blocks, l.device.sm_count);
    EXPECT_EQ(facts_of(p).blocks, p.directions * p.blocks);
    EXPECT_TRUE(row.side_by_side ? p.predicted_ns < apart.predicted_ns : p.predicted_ns == apart.predicted_ns) << p.reason;
  }
}

// Clusters: where the GPU has some of so many blocks, and each warp has the cells of one batch row at most.
TEST(CudaPlan, ALayerIsInClustersWhereItFits) {
  struct ClusterRow {
    const char *device;
    Cell cell;
    uint32_t hidden, batch, sm_limit, blocks, rows;  // of a cluster; 0 blocks: none
    Weights weights = Weights::kF16;
    bool plain = true;
  };
  const ClusterRow rows[] = {{"h100", Cell::kLstm, 512, 1, 0, 16, 1},
                             {"h100", Cell::kLstm, 512, 8, 0, 16, 2},
                             {"h100", Cell::kLstm, 512, 14, 0, 16, 2},
                             {"h100", Cell::kLstm, 512, 15, 0, 0, 0},
                             {"h100", Cell::kLstm, 300, 1, 0, 10, 1},
                             {"h100", Cell::kLstm, 256, 1, 0, 16, 1},
                             {"h100", Cell::kLstm, 256, 28, 0, 8, 2},
                             {"h100", Cell::kGruLinear, 512, 7, 0, 16, 1},
                             {"h100", Cell::kLstm, 512, 2, 16, 16, 2},
                             {"thor", Cell::kLstm, 256, 1, 0, 8, 1},
                             {"thor", Cell::kLstm, 256, 4, 0, 8, 2},
                             {"thor", Cell::kLstm, 257, 1, 0, 0, 0},
                             {"h100", Cell::kLstm, 514, 1, 0, 0, 0},
                             {"h100", Cell::kLstm, 512, 1, 15, 0, 0},
                             {"h100", Cell::kGru, 512, 1, 0, 0, 0},
                             {"orin64", Cell::kLstm, 512, 1, 0, 0, 0},
                             {"h100", Cell::kLstm, 256, 1, 0, 16, 1, Weights::kF32},
                             {"h100", Cell::kLstm, 256, 14, 0, 8, 1, Weights::kF32},
                             {"h100", Cell::kGruLinear, 256, 7, 0, 16, 1, Weights::kF32},
                             {"h100", Cell::kGruLinear, 257, 1, 0, 9, 1, Weights::kF32},
                             {"h100", Cell::kGruLinear, 512, 7, 0, 16, 1, Weights::kF32},
                             {"h100", Cell::kGruLinear, 513, 1, 0, 0, 0, Weights::kF32},
                             {"h100", Cell::kLstm, 384, 1, 0, 12, 1, Weights::kF32},
                             {"h100", Cell::kLstm, 385, 1, 0, 0, 0, Weights::kF32},
                             {"h100", Cell::kLstm, 256, 1, 0, 0, 0, Weights::kF16, false}};
  for (const ClusterRow &row : rows) {
    const LayerShape shape = {row.cell, 64, row.hidden, 1, row.plain, row.weights, row.weights, true};
    PlanLimits l = {device(row.device), row.weights, row.batch, 256, 0, row.sm_limit, 0};
    const LayerPlan p = plan_layer(shape, l);
    SCOPED_TRACE(std::string(row.device) + " " + std::to_string(row.hidden) + ", " + std::to_string(row.batch) + ": " + p.reason);
    EXPECT_EQ(p.cluster, row.blocks != 0);
    EXPECT_EQ(facts_of(p).kernel == RNNP_CUDA_CLUSTER, row.blocks != 0);
    EXPECT_EQ(std::string(p.reason).rfind("resident in clusters: ", 0) == 0, row.blocks != 0);
    EXPECT_LE(p.shared_bytes, l.device.shared_per_block);
    l.kernels_allowed = RNNP_CUDA_RESIDENT;
    EXPECT_FALSE(plan_layer(shape, l).cluster);
    l.kernels_allowed = RNNP_CUDA_CLUSTER;
    EXPECT_EQ(plan_layer(shape, l).cluster, row.blocks != 0);
    if (row.blocks == 0) continue;
    EXPECT_EQ(p.blocks, row.blocks);
    EXPECT_EQ(p.columns, row.rows);
    EXPECT_LE(p.units, 32u);
    EXPECT_GE(p.blocks * p.units, row.hidden);
    l.device.cluster_blocks = row.blocks - 1;
    EXPECT_NE(plan_layer(shape, l).blocks, row.blocks) << "MIG";
  }
}

// What a tenth of a matrix in blocks comes to, with every row group as long as the mean.
LayerShape tenth(Cell cell, uint32_t hidden, Weights weights) {
  LayerShape s = {cell, hidden, hidden, 1, true, weights, weights, true};
  for (uint32_t &bundles : s.bundles) bundles = bundles_for_slots(weights, ceil_div(hidden, 40));
  return s;
}

TEST(CudaPlan, ASparseLayerIsResidentWhereItsBlocksFit) {
  const PlanLimits orin = {device("orin64"), Weights::kF16, 1, 256, 0, 0, 0},
                   h100 = {device("h100"), Weights::kF16, 1, 256, 0, 0, 0};
  for (const Weights weights : {Weights::kBlocks, Weights::kByteBlocks}) {
    for (const PlanLimits &limits : {orin, h100}) {
      for (const LayerShape &s :
           {tenth(Cell::kLstm, 1024, weights), tenth(Cell::kRnn, 2304, weights), tenth(Cell::kGru, 1000, weights)}) {
        const LayerPlan p = plan_layer(s, limits);
        EXPECT_EQ(std::string(p.reason).rfind("resident, sparse: ", 0), 0u) << p.reason;
        EXPECT_LE(p.shared_bytes, limits.device.shared_per_block);
        EXPECT_LE(p.blocks, limits.device.sm_count);
        EXPECT_EQ(std::memcmp(p.bundles, s.bundles, sizeof p.bundles), 0);
        PlanLimits steps = limits;
        steps.kernels_allowed = RNNP_CUDA_STEPS;
        EXPECT_LT(p.predicted_ns, plan_layer(s, steps).predicted_ns);
      }
    }
  }
  const LayerPlan large = plan_layer(tenth(Cell::kLstm, 4096, Weights::kBlocks), orin);
  EXPECT_NE(std::string(large.reason).find("do not fit registers"), std::string::npos) << large.reason;
  LayerShape full = tenth(Cell::kLstm, 1024, Weights::kBlocks);
  for (uint32_t &bundles : full.bundles) bundles *= 10;
  EXPECT_NE(std::string(plan_layer(full, orin).reason).find("do not fit registers"), std::string::npos);
  EXPECT_EQ(plan_layer(tenth(Cell::kRnn, 64, Weights::kByteBlocks), h100).blocks, 2u) << "32 units are the least";
}

// Batches of one have an instance of their own, which reads no words of others.
TEST(CudaPlan, ASparseLayerTakesAsManyRowsAtATimeAsThereAre) {
  PlanLimits l = {device("orin64"), Weights::kF16, 1, 256, 0, 0, 0};
  const LayerShape s = tenth(Cell::kLstm, 512, Weights::kByteBlocks);
  EXPECT_EQ(plan_layer(s, l).columns, 1u);
  l.max_batch = 3;
  EXPECT_EQ(plan_layer(s, l).columns, 3u);
  l.max_batch = 9;
  EXPECT_EQ(plan_layer(s, l).columns, 4u);
}

// Every weight has a place of its own within the image, in all layouts.
TEST(CudaLayout, EveryWeightHasAPlaceOfItsOwn) {
  const Shape shapes[] = {{4, 70, 16}, {3, 33, 22}, {1, 130, 16}, {3, 64, 10}, {1, 5, 6},
                          {4, 200, 2}, {4, 70, 13}, {3, 33, 40},  {1, 70, 101}};
  for (const Shape &s : shapes) {
    for (const Weights weights : {Weights::kF16, Weights::kF32, Weights::kI8, Weights::kI4}) {
      const Shape shape = s;
      const uint32_t units = s.units;
      const size_t bytes = weights == Weights::kF16 ? 2 : are_bytes(weights) ? 1 : 4;  // of int4 a half
      std::set<size_t> places;
      for (uint32_t unit = 0; unit < units; ++unit) {
        for (uint32_t gate = 0; gate < s.gates; ++gate) {
          for (uint32_t k = 0; k < s.k; ++k) {
            const size_t at = place_of_weight(weights, shape, row_of_gate(weights, shape, unit, gate), k);
            ASSERT_EQ(at % bytes, 0u);
            ASSERT_LE(at + bytes, image_bytes(weights, shape) * (weights == Weights::kI4 ? 2 : 1));
            ASSERT_TRUE(places.insert(at).second) << "two weights in one place";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnp::cuda
