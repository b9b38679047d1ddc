// cuda_bits_test.cpp -- what docs/KERNELS.md says of bytes and blocks is an invariant of bits, on every machine: the CPU's are the
// GPU's. Of layers whose activations round nothing the outputs show it. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cuda/both_sessions.h"

namespace rnnp_test {
namespace cuda_bits_test {

using rnnp::Cell;

constexpr rnnp::DType kI8 = rnnp::DType::kI8, kI4 = rnnp::DType::kI4, kF32 = rnnp::DType::kF32, kBf16 = rnnp::DType::kBf16;
constexpr uint32_t kBatch = 3, kInput = 35, kHidden = 50, kSteps = 6;

struct Kind {
  rnnp::DType type;
  uint32_t block_units;
  bool one_step, diagonal;
  uint32_t group_k = 0, hidden = 100, steps = 6;
};

void expect_bits_of_the_cpu(const Kind &kind) {
  BlobBuilder b(5, 16);
  b.weights = b.recurrent_weights = kind.type;
  b.block_units = kind.block_units;
  b.one_recurrent_step = kind.one_step;
  b.diagonal = kind.diagonal;
  b.group_k = kind.group_k;
  RecurrentOptions o;
  o.cell = Cell::kRnn;
  o.hidden = kind.hidden;
  o.initial_state = true;
  o.acts = {rnnp::Act::kRelu};
  uint32_t x = b.add_recurrent(b.add_input(kInput), kInput, o);
  x = b.add_dense(x, kind.hidden, 21);
  b.add_output(x);
  const std::vector<uint8_t> bytes = b.build();
  CudaOptions gpu_options, by_steps;
  gpu_options.batch = kBatch;
  gpu_options.weights = RNNP_CUDA_F16;
  gpu_options.sms = 9;
  by_steps = gpu_options;
  by_steps.kernels = RNNP_CUDA_STEPS;
  Options cpu_options;
  cpu_options.batch = kBatch;
  CudaRunner gpu(bytes, gpu_options), steps(bytes, by_steps);
  Runner cpu(bytes, cpu_options);
  // The second matrix of a dense layer's has a number of its own in either case.
  const bool floats = kind.type == kF32 || kind.type == kBf16, resident = floats || kind.one_step || kind.block_units == 0;
  ASSERT_EQ(gpu.layer().kernel, resident ? RNNP_CUDA_RESIDENT : RNNP_CUDA_STEPS) << gpu.layer().reason;
  std::vector<float> in = random_floats(kind.steps * kBatch * kInput, 5);
  in[7] = INFINITY;  // the largest byte, or met by zeros alone
  in[kInput + 3] = NAN;
  std::fill(in.begin() + 2 * kInput, in.begin() + 3 * kInput, 0.0f);
  const std::vector<float> want = cpu.run(in);
  for (const std::vector<float> &got : {gpu.run(in), steps.run(in)}) {
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i]) && std::isnan(got[i])) continue;
      ASSERT_EQ(want[i], got[i]) << i;
    }
  }
}

TEST(CudaBits, BytesAndBlocksHaveTheBitsOfTheCpu) {
  for (const rnnp::DType type : {kI8, kF32, kBf16}) {
    for (const uint32_t block_units : {0u, 16u, 8u, 4u}) {
      if (type != kI8 && block_units == 0) continue;
      for (const bool one_step : {true, false}) {
        SCOPED_TRACE(std::to_string(uint32_t(type)) + " by " + std::to_string(block_units));
        ASSERT_NO_FATAL_FAILURE(expect_bits_of_the_cpu({type, block_units, one_step, false}));
      }
    }
  }
}

TEST(CudaBits, ADiagonalBesideBytesHasTheBitsOfTheCpu) {
  for (const uint32_t block_units : {0u, 16u, 8u, 4u}) {
    for (const bool one_step : {true, false}) {
      SCOPED_TRACE(block_units);
      ASSERT_NO_FATAL_FAILURE(expect_bits_of_the_cpu({kI8, block_units, one_step, true}));
    }
  }
}

// A unit has a chain of its groups' sums, whose order shows.
TEST(CudaBits, Int4HaveTheBitsOfTheCpu) {
  for (const uint32_t group_k : {32u, 64u, 256u}) {
    for (const bool one_step : {true, false}) {
      for (const bool diagonal : {false, true}) {
        SCOPED_TRACE(group_k);
        ASSERT_NO_FATAL_FAILURE(expect_bits_of_the_cpu({kI4, 0, one_step, diagonal, group_k}));
      }
    }
  }
}

// More k-tiles than registers have room for, in two row tiles of each warp.
TEST(CudaBits, Int4BeyondRegistersHaveTheBitsOfTheCpu) {
  expect_bits_of_the_cpu({kI4, 0, true, false, 64, 1230, 2});
}

// Each gate has its own numbers, and those of a candidate multiply h, or r h, as the cell has it.
TEST(CudaBits, DiagonalsOfGatesAreThoseOfTheCpu) {
  for (const Cell cell : {Cell::kLstm, Cell::kGruLinear, Cell::kGru}) {
    for (const uint32_t block_units : {0u, 8u}) {
      BlobBuilder b(8, 16);
      b.weights = b.recurrent_weights = kI8;
      b.block_units = block_units;
      b.one_recurrent_step = b.diagonal = true;
      RecurrentOptions o;
      o.cell = cell;
      o.hidden = kHidden;
      o.initial_state = true;
      b.add_output(b.add_recurrent(b.add_input(kInput), kInput, o));
      const std::vector<uint8_t> bytes = b.build();
      CudaOptions options, by_steps;
      options.sms = 8;
      by_steps = options;
      by_steps.kernels = RNNP_CUDA_STEPS;
      CudaRunner gpu(bytes, options), steps(bytes, by_steps);
      EXPECT_EQ(gpu.layer().kernel, cell == Cell::kGru ? RNNP_CUDA_STEPS : RNNP_CUDA_RESIDENT) << gpu.layer().reason;
      Runner cpu(bytes);
      const std::vector<float> in = random_floats(kSteps * kInput, 6), want = cpu.run(in), got = gpu.run(in);
      EXPECT_EQ(got, steps.run(in));
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(want[i], got[i], 2e-3) << i << " " << gpu.layer().reason;
    }
  }
}

// Windows of two axes and of time, some of whose elements are outside; two groups; bytes by one number and by each window's
// largest.
TEST(CudaBits, ConvolutionsOfBytesAndOfHalvesHaveTheBitsOfTheCpu) {
  constexpr uint32_t kHigh = 5, kWide = 6, kChannels = 8, kOut = 3, kGroups = 2, kElems = kHigh * kWide * kChannels;
  for (const bool one_step : {false, true}) {
    for (const uint32_t kind : {0u, 1u, 2u}) {
      BlobBuilder b(12, 16);
      const bool diagonal = kind != 0;
      b.weights = kind == 2 ? kI4 : kI8;
      b.diagonal = diagonal;
      const uint32_t x = b.add_input(kElems);
      if (one_step) b.add_output(b.add_dense(x, kElems, 3), "other");  // every second matrix has a number of its own
      rnnp::AttrConv a = {};
      a.window = {{kHigh, kWide}, {3, 6}, {3, 2}, {2, 1}, {1, 1}, {1, 0}, 0, {}, 0, {}};
      a.window.x_stride[0] = kWide * kChannels;
      a.window.x_stride[1] = kChannels;
      a.window.x_stride[2] = 1;
      a.window.y_stride[0] = 6 * kGroups * kOut;
      a.window.y_stride[1] = kGroups * kOut;
      a.time_taps = 2;
      a.time_dilation = a.lead = 1;
      a.groups = kGroups;
      a.in_channels = kChannels / kGroups;
      a.out_channels = kOut;
      a.state = rnnp::kNone;
      a.act = {uint32_t(rnnp::Act::kIdentity), 0, 0};
      b.add_output(b.add_conv(x, a, 3 * 6 * kGroups * kOut), "conv");
      const std::vector<uint8_t> bytes = b.build();
      BothSessions both(bytes, 2, 7);
      std::mt19937 random(4);
      both.expect_same(7, 2, nullptr, nullptr, 0, &random, 0.0);
    }
  }
}

// Weights that are stored as the points of F(2x2, 3x3) are windows' again there: on integers, to the bit.
TEST(CudaBits, WindowsThatWerePointsGiveTheIntegersOfTheCpu) {
  constexpr uint32_t kHigh = 5, kWide = 7, kChannels = 6, kOut = 5, kElems = kHigh * kWide * kChannels;
  BlobBuilder b(12, 16);
  rnnp::AttrConv a = {};
  a.window = {{kHigh, kWide}, {kHigh, kWide}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 0, {kWide, 1, kHigh * kWide}, 0, {kWide, 1}};
  a.time_taps = a.time_dilation = a.groups = 1;
  a.in_channels = kChannels;
  a.out_channels = kOut;
  a.y_plane = kHigh * kWide;
  b.add_output(b.add_winograd(b.add_input(kElems), a, kOut * kHigh * kWide));
  const std::vector<uint8_t> bytes = b.build();
  std::vector<float> in = random_floats(3 * kElems, 6);
  for (float &v : in) v = std::round(4 * v);
  CudaRunner gpu(bytes);
  Runner cpu(bytes);
  EXPECT_EQ(cpu.run(in), gpu.run(in));
}

// The same of F(2, 3), whose bias is that of one point.
TEST(CudaBits, LinesThatWerePointsGiveTheIntegersOfTheCpu) {
  constexpr uint32_t kWide = 7, kChannels = 6, kOut = 5, kElems = kWide * kChannels;
  BlobBuilder b(12, 16);
  rnnp::AttrConv a = {};
  a.window = {{1, kWide}, {1, kWide}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 0, {0, kChannels, 1}, 0, {kWide * kOut, kOut}};
  a.time_taps = 3;
  a.time_dilation = a.groups = 1;
  a.lead = 2;
  a.in_channels = kChannels;
  a.out_channels = kOut;
  b.add_output(b.add_winograd(b.add_input(kElems), a, kOut * kWide));
  const std::vector<uint8_t> bytes = b.build();
  std::vector<float> in = random_floats(9 * kElems, 6);
  for (float &v : in) v = std::round(4 * v);
  CudaRunner gpu(bytes);
  Runner cpu(bytes);
  EXPECT_EQ(cpu.run(in), gpu.run(in));
}

// One text for both (base/sine.h): of small numbers, of those beyond 8192, which are taken apart by the bits of 2/pi, and of none.
TEST(CudaBits, SinesAndCosinesAreTheCpus) {
  constexpr uint32_t kElems = 64;
  for (const rnnp::Act act : {rnnp::Act::kSin, rnnp::Act::kCos}) {
    BlobBuilder b(4, 16);
    const rnnp::AttrUnary unary = {{uint32_t(act), 0, 0}};
    b.add_output(b.add_node(rnnp::OpKind::kUnary, &unary, sizeof unary, {b.add_input(kElems)}, kElems, true));
    const std::vector<uint8_t> bytes = b.build();
    CudaRunner gpu(bytes);
    Runner cpu(bytes);
    std::vector<float> in = random_floats(40 * kElems, 9);
    for (size_t i = 0; i < in.size(); ++i) in[i] = std::ldexp(in[i], static_cast<int>(i % 140) - 10);
    in[3] = INFINITY, in[4] = NAN, in[5] = -0.0f, in[6] = 3.4028235e38f;
    const std::vector<float> want = cpu.run(in), got = gpu.run(in);
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const double x = static_cast<double>(in[i]), exact = act == rnnp::Act::kSin ? std::sin(x) : std::cos(x);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(want[i]) && std::isnan(got[i])) << in[i];
      } else {
        ASSERT_EQ(want[i], got[i]) << in[i];
        ASSERT_NEAR(got[i], exact, 2e-7) << in[i];
      }
    }
  }
}

}  // namespace cuda_bits_test
}  // namespace rnnp_test
