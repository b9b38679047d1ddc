// fixed_point_test.cpp -- integer-only layers: numbers of floats and back, tanh's lines, whole sums of bytes at their limits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fixed_point.h"

#include <cmath>
#include <cstring>

#include "kernel_support.h"
#include "pack/pack.h"

namespace rnnp {
namespace {

uint32_t bits_of(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
float float_of(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

TEST(FixedPoint, TableIsTanhRounded) {
  for (uint32_t i = 0; i <= kTanhIntervals; ++i) EXPECT_EQ(std::nearbyint(32767 * std::tanh(i / 32.0)), kTanhTable[i]) << i;
}

// docs/KERNELS.md states these.
TEST(FixedPoint, ActivationsStayWithinTheirBounds) {
  double tanh_error = 0, sigmoid_error = 0;
  int32_t last = -32768;
  for (int32_t u = -40000; u <= 40000; ++u) {
    const int32_t t = fixed_tanh(u);
    EXPECT_EQ(-t, fixed_tanh(-u));
    EXPECT_LE(last, t);
    last = t;
    tanh_error = std::max(tanh_error, std::fabs(t / 32768.0 - std::tanh(u / 4096.0)));
    sigmoid_error = std::max(sigmoid_error, std::fabs(fixed_sigmoid(u) / 65536.0 - 1 / (1 + std::exp(-u / 2048.0))));
  }
  EXPECT_GT(1.3e-4, tanh_error);
  EXPECT_GT(6.5e-5, sigmoid_error);
  EXPECT_EQ(32767, fixed_tanh(INT32_MAX));
  EXPECT_EQ(-32767, fixed_tanh(INT32_MIN));
}

double nearest(double v) {
  return std::copysign(std::floor(std::fabs(v) + 0.5), v);
}

TEST(FixedPoint, IntegersOfFloatsAreTheNearestOnes) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    float v = float_of(static_cast<uint32_t>(random.next()));
    if (i % 2 == 0) v = random.uniform(-40.0f, 40.0f);
    if (i % 5 == 0) v = std::ldexp(random.integer(300000) + 0.5f, -16);
    for (const uint32_t bits : {8u, 11u, 15u}) {
      const double all = std::isnan(v) ? 0 : nearest(std::ldexp(double{v}, static_cast<int>(bits)));
      ASSERT_EQ(std::min(std::max(all, -32767.0), 32767.0), fixed_of_float(bits_of(v), bits)) << v << " " << bits;
    }
  }
}

TEST(FixedPoint, FloatsOfIntegersAreExact) {
  for (const uint32_t bits : {8u, 13u, 15u}) {
    for (int32_t v = -32767; v <= 32767; ++v) {
      const float f = float_of(float_of_fixed(v, bits));
      ASSERT_EQ(std::ldexp(v, -static_cast<int>(bits)), double{f});
      ASSERT_EQ(v, fixed_of_float(bits_of(f), bits));
    }
  }
  EXPECT_EQ(0u, float_of_fixed(0, 15));
}

TEST(FixedPoint, BytesAreTheNearestOfSixteenLeadingBits) {
  Random random(2);
  const auto leading = [](float v) { return float_of(bits_of(v) & ~uint32_t{255}); };
  for (int i = 0; i < 200000; ++i) {
    const float factor = std::ldexp(random.uniform(0.5f, 1.0f), static_cast<int>(random.below(60)) - 30);
    float v = random.uniform(-200.0f, 200.0f) / factor;
    if (i % 3 == 0) v = float_of(static_cast<uint32_t>(random.next()));
    if (i % 7 == 0) v = (random.integer(127) + 0.5f) / leading(factor);
    const double all = std::isnan(v) ? 0 : nearest(double{leading(v)} * double{leading(factor)});
    ASSERT_EQ(std::min(std::max(all, -127.0), 127.0), byte_of_float(bits_of(v), byte_factor(bits_of(factor))))
        << v << " " << factor;
  }
}

const PanelFormat &format_of_width(uint32_t nr) {
  for (const PanelFormat &f : kPanelFormats)
    if (is_fixed_point(f) && f.nr == nr) return f;
  std::abort();
}

// Every K to 79, all bytes and weights at their limits, and some between; rows and tiles in any parts.
TEST(FixedPoint, SumsAreWhole) {
  Random random(3);
  for (const Kernel *kernel : kernels_of({KernelFamily::kGemmQ15})) {
    const PanelFormat &format = format_of_width(kernel->nr);
    for (uint32_t k = 1; k <= 79; ++k) {
      for (const bool limits : {true, false}) {
        const uint32_t gates = 1 + k % 4, units = 2 * kernel->nr - 3, rows = 3;
        const auto draw = [&] { return limits ? (random.below(2) != 0 ? 127.0f : -127.0f) : random.integer(127); };
        std::vector<float> weights(size_t{gates} * units * k), x(size_t{rows} * k), scales(size_t{gates} * units, 1.0f);
        for (float &w : weights) w = draw();
        for (float &v : x) v = draw() / 128;
        const std::vector<double> worth(gates, 0.37);
        PackedMatrix m = pack_matrix(format, {weights.data(), units, k, 0, gates, 0, scales.data(), worth.data()});
        const uint32_t tiles = tile_count(units, kernel->nr), width = gates * kernel->nr;
        Rows panels(1, m.panels.size() / 4 + 1, 0, true), multipliers(1, m.multipliers.size(), 0, true),
            scratch(1, lhs_scratch_bytes(format, k, rows) / 4, 0, true), a(rows, k, k + 1, false);
        std::memcpy(panels.data(), m.panels.data(), m.panels.size());
        std::memcpy(multipliers.data(), m.multipliers.data(), m.multipliers.size() * 4);
        Rows start(1, size_t{tiles} * width, 0, true), out(rows, size_t{tiles} * width, size_t{tiles} * width + 3, false);
        for (size_t i = 0; i < size_t{tiles} * width; ++i) store_word(start.data() + i, static_cast<uint32_t>(i * 1000 - 5000));
        for (uint32_t r = 0; r < rows; ++r) std::memcpy(a.row(r), x.data() + size_t{r} * k, k * sizeof(float));
        GemmArgs g = {};
        g.a_row_bytes = a.stride_bytes();
        g.w.panels = panels.data();
        g.w.scales = multipliers.data();
        g.w.lhs_scale = 128;
        g.scratch = scratch.data();
        g.start = start.data();
        g.out_row_bytes = out.stride_bytes();
        g.w.k = k;
        g.w.gates = static_cast<uint8_t>(gates);
        cut_at_random(rows, tiles, &random, [&](uint32_t row, uint32_t count, uint32_t tile, uint32_t end) {
          g.a = a.row(row), g.out = out.row(row), g.rows = count, g.tile_begin = tile, g.tile_end = end;
          kernel->gemm(&g);
        });
        for (uint32_t r = 0; r < rows; ++r) {
          for (uint32_t i = 0; i < gates * units; ++i) {
            const uint32_t gate = i / units, unit = i % units;
            const size_t at = (size_t{unit / kernel->nr} * gates + gate) * kernel->nr + unit % kernel->nr;
            int64_t sum = 0;
            for (uint32_t j = 0; j < k; ++j)
              sum += std::lround(x[size_t{r} * k + j] * 128) * std::lround(weights[size_t{i} * k + j]);
            const uint32_t scale = m.multipliers[at];
            const int64_t kept = sum >> (scale >> 16 & 31), product = kept * (scale & 0xffff);
            ASSERT_LT(std::abs(product), int64_t{1} << 31);
            const int64_t want = static_cast<int64_t>(at) * 1000 - 5000 + (product >> (scale >> 24));
            ASSERT_EQ(want, static_cast<int32_t>(load_word(out.row(r) + at))) << "k " << k << ", " << i;
            const double exact = static_cast<double>(sum) * 0.37;
            ASSERT_NEAR(exact - fixed_loss(scale), static_cast<double>(product >> (scale >> 24)),
                        2 + std::ldexp(0.37, scale >> 16 & 31) + std::fabs(exact) / 4096);
          }
        }
      }
    }
  }
}

TEST(FixedPoint, WhatShiftsDropIsKnownInTheMean) {
  Random random(4);
  constexpr int kSums = 20000;
  for (const int64_t most : {int64_t{100000}, int64_t{1000000}, int64_t{16129} * 512}) {
    for (const double worth : {0.01, 0.003, 0.0005}) {
      const uint32_t scale = fixed_scale(most, worth), first = scale >> 16 & 31, second = scale >> 24 & 31, m = scale & 0xffff;
      double dropped = 0;
      for (int i = 0; i < kSums; ++i) {
        const int64_t sum = static_cast<int64_t>(random.next() % static_cast<uint64_t>(2 * most + 1)) - most;
        const int64_t result = ((sum >> first) * m) >> second;
        dropped += std::ldexp(static_cast<double>(sum * m), -static_cast<int>(first + second)) - static_cast<double>(result);
      }
      EXPECT_NEAR(fixed_loss(scale), dropped / kSums, 0.02) << most << " " << worth;
    }
  }
}

// Whatever a sum's size and worth: products stay within 31 bits, and the multiplier has as many bits as that leaves.
TEST(FixedPoint, MultipliersFillTheirProducts) {
  for (int64_t most : {int64_t{1}, int64_t{127}, int64_t{131071}, int64_t{131072}, int64_t{16129} * 1024, int64_t{1} << 30}) {
    for (int exponent = -24; exponent <= 4; ++exponent) {
      const double worth = std::ldexp(0.7, exponent);
      if (worth * static_cast<double>(most) > 1 << 29) continue;  // beyond what pre-activations hold
      const uint32_t scale = fixed_scale(most, worth), first = scale >> 16 & 31, second = scale >> 24 & 31, m = scale & 0xffff;
      EXPECT_LT(((most >> first) + 1) * m, int64_t{1} << 31) << most << " " << exponent;
      EXPECT_TRUE(most >> first < 131072 && (first == 0 || most >> (first - 1) >= 131072)) << most;
      const double exact = worth * std::ldexp(1.0, static_cast<int>(first + second));
      const int64_t limit = std::min<int64_t>(32767, INT32_MAX / ((most >> first) + 1));
      EXPECT_TRUE(second == 31 || 2 * int64_t{m} + 2 >= limit) << most << " " << exponent;
      EXPECT_NEAR(exact, m, 0.51) << most << " " << exponent;
    }
  }
}

}  // namespace
}  // namespace rnnp
