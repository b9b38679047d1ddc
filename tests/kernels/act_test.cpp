// act_test.cpp -- activations against f64: error in ulp, monotone over every float, right at the ends, NaN in NaN out.
// Room: tests/kernels. RNNPACK_EXHAUSTIVE=1 compares every float of a range with f64; without it every 61st.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/fpenv.h"
#include "kernel_support.h"
#include "support/equations.h"

namespace rnnp {
namespace act_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
uint32_t to_bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

void apply(const Kernel &kernel, const BlobActivation &act, const float *x, float *y, size_t n) {
  const FlushDenormals flush;
  const ActArgs args = {x, y, n, act};
  kernel.act(&args);
}

std::vector<float> apply(const Kernel &kernel, const BlobActivation &act, const std::vector<float> &x) {
  std::vector<float> y(x.size());
  apply(kernel, act, x.data(), y.data(), x.size());
  return y;
}

// A smooth activation: f64, the floats compared (by size, both signs or one), and how far a kernel may be off in ulp of the result.
struct Smooth {
  const char *name;
  BlobActivation act;
  float low, high;  // sizes
  bool negative, positive;
  double max_ulp;
  bool monotone;
};

const Smooth kSmooth[] = {
    {"sigmoid", {uint32_t(Act::kSigmoid), 0, 0}, 0x1p-20f, 87.0f, true, true, 2.5, true},
    {"tanh", {uint32_t(Act::kTanh), 0, 0}, 0x1p-20f, 16.0f, true, true, 2.5, true},
    {"exp", {uint32_t(Act::kExp), 0, 0}, 0x1p-20f, 87.3f, true, true, 2.5, true},
    {"log", {uint32_t(Act::kLog), 0, 0}, 0x1p-30f, 0x1p30f, false, true, 2.5, true},
    {"softplus", {uint32_t(Act::kSoftplus), 0, 0}, 0x1p-20f, 87.0f, true, true, 3.0, false},
    {"elu", {uint32_t(Act::kElu), 1.0f, 0}, 0x1p-20f, 32.0f, true, false, 2.5, true},
    {"softsign", {uint32_t(Act::kSoftsign), 0, 0}, 0x1p-20f, 0x1p30f, true, true, 1.5, false},
};

class ActTest : public testing::TestWithParam<const Kernel *> {
 protected:
  const Kernel &kernel() const { return *GetParam(); }
};

double ulp_of(double value) {
  const double size = std::max(std::fabs(value), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

TEST_P(ActTest, StaysWithinUlpsOfF64) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const uint32_t step = std::getenv("RNNPACK_EXHAUSTIVE") ? 1 : 61;
  std::vector<float> x(1u << 16), y(x.size());
  for (const Smooth &f : kSmooth) {
    double worst = 0.0;
    float where = 0.0f;
    for (uint32_t sign = f.positive ? 0 : 1; sign <= (f.negative ? 1u : 0u); ++sign)
      for (uint64_t bits = to_bits(f.low), end = to_bits(f.high); bits < end;) {
        size_t n = 0;
        for (; n < x.size() && bits < end; ++n, bits += step) x[n] = from_bits(uint32_t(bits) | sign << 31);
        apply(kernel(), f.act, x.data(), y.data(), n);
        for (size_t i = 0; i < n; ++i) {
          const double exact = rnnp_test::apply_act(f.act, double{x[i]}), ulps = std::fabs(y[i] - exact) / ulp_of(exact);
          if (!(ulps <= worst)) worst = ulps, where = x[i];
        }
      }
    EXPECT_LE(worst, f.max_ulp) << f.name << " at " << where;
    std::printf("    %-20s %-8s %.3f ulp at %.9g\n", kernel().name, f.name, worst, double{where});
  }
}

TEST_P(ActTest, NeverDecreasesFromOneFloatToTheNext) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  std::vector<float> x(1u << 16), y(x.size());
  // The reference is slow: it goes over one stretch of floats in sixteen.
  const uint64_t skip = kernel().isa != 0 || std::getenv("RNNPACK_EXHAUSTIVE") ? 0 : 15 * x.size();
  for (const Smooth &f : kSmooth) {
    if (!f.monotone) continue;
    for (uint32_t sign = f.positive ? 0 : 1; sign <= (f.negative ? 1u : 0u); ++sign) {
      float last = sign ? kInf : -kInf;
      for (uint64_t bits = to_bits(f.low), end = to_bits(f.high); bits < end; bits += skip) {
        size_t n = 0;
        for (; n < x.size() && bits < end; ++n, ++bits) x[n] = from_bits(uint32_t(bits) | sign << 31);
        apply(kernel(), f.act, x.data(), y.data(), n);
        bool bad = false;
        for (size_t i = 0; i < n; ++i) {
          bad |= sign ? !(y[i] <= last) : !(y[i] >= last);
          last = y[i];
        }
        for (size_t i = 1; bad && i < n; ++i)
          ASSERT_TRUE(sign ? y[i] <= y[i - 1] : y[i] >= y[i - 1]) << f.name << " at " << std::hexfloat << x[i];
        ASSERT_FALSE(bad) << f.name << " near " << x[0];
      }
    }
  }
}

TEST_P(ActTest, IsRightAtTheEnds) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  struct End {
    Act act;
    float x, y;
  };
  const End ends[] = {
      {Act::kSigmoid, kInf, 1.0f},    {Act::kSigmoid, -kInf, 0.0f},  {Act::kSigmoid, 40.0f, 1.0f},
      {Act::kSigmoid, -1e30f, 0.0f},  {Act::kSigmoid, 0.0f, 0.5f},   {Act::kTanh, kInf, 1.0f},
      {Act::kTanh, -kInf, -1.0f},     {Act::kTanh, 20.0f, 1.0f},     {Act::kTanh, -20.0f, -1.0f},
      {Act::kTanh, 0.0f, 0.0f},       {Act::kTanh, -0.0f, -0.0f},    {Act::kTanh, 1e-30f, 1e-30f},
      {Act::kExp, kInf, kInf},        {Act::kExp, -kInf, 0.0f},      {Act::kExp, 100.0f, kInf},
      {Act::kExp, 0.0f, 1.0f},        {Act::kExp, -200.0f, 0.0f},    {Act::kLog, 0.0f, -kInf},
      {Act::kLog, -0.0f, -kInf},      {Act::kLog, 1.0f, 0.0f},       {Act::kLog, kInf, kInf},
      {Act::kLog, -1.0f, kNan},       {Act::kLog, -kInf, kNan},      {Act::kSqrt, 9.0f, 3.0f},
      {Act::kSqrt, -1.0f, kNan},      {Act::kSqrt, kInf, kInf},      {Act::kSoftplus, kInf, kInf},
      {Act::kSoftplus, -kInf, 0.0f},  {Act::kSoftsign, kInf, 1.0f},  {Act::kSoftsign, -kInf, -1.0f},
      {Act::kRelu, -3.0f, 0.0f},      {Act::kRelu, kInf, kInf},      {Act::kFloor, -1.5f, -2.0f},
      {Act::kFloor, 1e20f, 1e20f},    {Act::kFloor, -0.0f, -0.0f},   {Act::kCeil, 1.25f, 2.0f},
      {Act::kCeil, -0.5f, -0.0f},     {Act::kCeil, -kInf, -kInf},    {Act::kReciprocal, 4.0f, .25f},
      {Act::kReciprocal, 0.0f, kInf}, {Act::kHardSwish, 9.0f, 9.0f}, {Act::kHardSwish, -9.0f, 0.0f},
      {Act::kAbs, -2.0f, 2.0f},       {Act::kNeg, -2.0f, 2.0f},      {Act::kIdentity, -2.0f, -2.0f},
  };
  for (const End &end : ends) {
    const float y = apply(kernel(), {uint32_t(end.act), 0.5f, 0.25f}, std::vector<float>(1, end.x))[0];
    if (std::isnan(end.y)) {
      EXPECT_TRUE(std::isnan(y)) << uint32_t(end.act) << " of " << end.x;
    } else if (end.y == 0.0f) {
      // Where denormals cannot be flushed (RISC-V, WebAssembly), sigmoid ends in one.
      EXPECT_LT(std::fabs(y), 0x1p-126f) << uint32_t(end.act) << " of " << end.x;
    } else {
      EXPECT_EQ(y, end.y) << uint32_t(end.act) << " of " << end.x;
    }
  }
}

TEST_P(ActTest, ObeysAlphaAndBeta) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  struct Case {
    BlobActivation act;
    float x, y;
  };
  const Case cases[] = {
      {{uint32_t(Act::kAffine), 2.0f, 1.0f}, 3.0f, 7.0f},        {{uint32_t(Act::kLeakyRelu), 0.5f, 0}, -4.0f, -2.0f},
      {{uint32_t(Act::kLeakyRelu), 0.5f, 0}, 4.0f, 4.0f},        {{uint32_t(Act::kThresholdedRelu), 1.0f, 0}, 1.0f, 0.0f},
      {{uint32_t(Act::kThresholdedRelu), 1.0f, 0}, 1.5f, 1.5f},  {{uint32_t(Act::kHardSigmoid), 0.25f, 0.5f}, 1.0f, 0.75f},
      {{uint32_t(Act::kHardSigmoid), 0.25f, 0.5f}, 9.0f, 1.0f},  {{uint32_t(Act::kHardSigmoid), 0.25f, 0.5f}, -9.0f, 0.0f},
      {{uint32_t(Act::kElu), 2.0f, 0}, -50.0f, -2.0f},           {{uint32_t(Act::kElu), 2.0f, 0}, 5.0f, 5.0f},
      {{uint32_t(Act::kClip), -1.0f, 2.0f}, -3.0f, -1.0f},       {{uint32_t(Act::kClip), -1.0f, 2.0f}, 3.0f, 2.0f},
      {{uint32_t(Act::kScaledTanh), 3.0f, 0.5f}, 100.0f, 3.0f},  {{uint32_t(Act::kScaledTanh), 3.0f, 0.5f}, 0.0f, 0.0f},
      {{uint32_t(Act::kThresholdedRelu), 1.0f, 0}, -2.0f, 0.0f},
  };
  for (const Case &c : cases) EXPECT_EQ(apply(kernel(), c.act, std::vector<float>(1, c.x))[0], c.y) << c.act.act << " of " << c.x;
}

TEST_P(ActTest, NanInGivesNanOut) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  for (uint32_t act = 0; act <= uint32_t(Act::kCeil); ++act)
    for (float nan : {kNan, -kNan}) {
      std::vector<float> x(21, 0.5f);
      x[4] = x[20] = nan;
      const std::vector<float> y = apply(kernel(), {act, 0.25f, 0.75f}, x);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(y[i]), std::isnan(x[i])) << "act " << act << " element " << i;
    }
}

// Also: odd lengths at a guard page, in place, and the same bits in a tail as in a full vector and in every fused row.
TEST_P(ActTest, GivesTheSameBitsAtEveryLengthAndPlace) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Random random(5);
  std::vector<float> x(64);
  for (float &v : x) v = random.uniform(0.01f, 3.0f) * (random.below(2) ? 1.0f : -1.0f);
  for (uint32_t act = 0; act <= uint32_t(Act::kCeil); ++act) {
    const BlobActivation a = {act, 0.25f, 0.75f};
    const std::vector<float> whole = apply(kernel(), a, x);
    for (size_t n = 0; n <= 40; ++n) {
      const Rows in(1, n + 1, 0), place(1, n + 1, 0);
      for (size_t i = 0; i < n; ++i) in.data()[1 + i] = place.data()[1 + i] = x[i];
      const Rows out(1, n + 1, 0);
      apply(kernel(), a, in.data() + 1, out.data() + 1, n);
      apply(kernel(), a, place.data() + 1, place.data() + 1, n);
      ASSERT_TRUE(std::isnan(out.data()[0]) && std::isnan(place.data()[0]));
      const std::vector<float> want(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_TRUE(same_bits(std::vector<float>(out.data() + 1, out.data() + 1 + n), want)) << act;
      ASSERT_TRUE(same_bits(std::vector<float>(place.data() + 1, place.data() + 1 + n), want)) << act;
    }
    for (const Kernel *other : kernels_of({KernelFamily::kAct})) {
      if (kernel().isa == 0 || other->isa == 0 || !cpu_runs(*other)) continue;
      ASSERT_TRUE(same_bits(apply(*other, a, x), whole)) << other->name << act;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ActTest, testing::ValuesIn(kernels_of({KernelFamily::kAct})), kernel_name);

}  // namespace act_test
}  // namespace rnnp
