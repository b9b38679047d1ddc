// vector_ops_test.cpp -- two-operand arithmetic and softmax: against f64, at odd lengths and strides, with NaN and in place.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel_support.h"

namespace rnnp {
namespace vector_ops_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> run_binary(const Kernel &kernel, Binary op, const std::vector<float> &a, const std::vector<float> &b, size_t n) {
  const Rows left(1, a.size(), 0), right(1, b.size(), 0), out(1, n, 0);
  std::copy(a.begin(), a.end(), left.data());
  std::copy(b.begin(), b.end(), right.data());
  const BinaryArgs args = {
      left.data(), right.data(), out.data(), n, a.size() > 1 ? 1u : 0u, b.size() > 1 ? 1u : 0u, uint32_t(op), 1, 0, 0};
  kernel.binary(&args);
  return out.values();
}

double exact(Binary op, double a, double b) {
  switch (op) {
    case Binary::kAdd:
      return a + b;
    case Binary::kMul:
      return a * b;
    case Binary::kSub:
      return a - b;
    case Binary::kDiv:
      return a / b;
    case Binary::kMin:
      return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
    case Binary::kMax:
      return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
    case Binary::kPow:
      return std::pow(a, b);
    default:
      return 0.0;  // the others have no kernels
  }
}

class BinaryTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(BinaryTest, RoundsTheExactResultAtEveryLengthAndStep) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(1);
  for (uint32_t op = 0; op <= uint32_t(Binary::kPow); ++op)
    for (size_t n : {2u, 3u, 7u, 8u, 15u, 16u, 17u, 33u, 47u})
      for (int repeated = 0; repeated < 3; ++repeated) {
        std::vector<float> a(repeated == 1 ? 1 : n), b(repeated == 2 ? 1 : n);
        for (float &v : a) v = random.uniform(op == uint32_t(Binary::kPow) ? 0.0f : -4.0f, 4.0f);
        for (float &v : b) v = random.uniform(-4.0f, 4.0f);
        const std::vector<float> y = run_binary(*GetParam(), Binary(op), a, b, n);
        for (size_t i = 0; i < n; ++i) {
          const float want = static_cast<float>(exact(Binary(op), a[repeated == 1 ? 0 : i], b[repeated == 2 ? 0 : i]));
          if (op == uint32_t(Binary::kPow)) {
            ASSERT_NEAR(y[i], want, std::ldexp(std::fabs(want), -23));
          } else {
            ASSERT_EQ(y[i], want) << op;
          }
        }
      }
}

TEST_P(BinaryTest, RowsThatLieApartOrRepeatAreEachTheirOwnCall) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(2);
  constexpr uint32_t kRows = 3;
  for (uint32_t op = 0; op <= uint32_t(Binary::kPow); ++op)
    for (size_t n : {1u, 3u, 16u, 21u})
      for (uint32_t steps = 0; steps < 3; ++steps)
        for (size_t row : {size_t{0}, n, n + 5}) {
          const uint32_t a_step = steps != 1, b_step = steps != 2;
          const size_t b_row = row == 0 ? n + 2 : n - 1;  // of rows that overlap, too
          const Rows a(1, 2 * (n + 5) + n, 0), b(1, 2 * (n + 5) + n, 0), out(1, kRows * n, 0);
          for (size_t i = 0; i < 2 * (n + 5) + n; ++i)
            a.data()[i] = random.uniform(0.1f, 4.0f), b.data()[i] = random.uniform(-4.0f, 4.0f);
          const BinaryArgs all = {a.data(), b.data(), out.data(), n, a_step, b_step, op, kRows, row, b_row};
          GetParam()->binary(&all);
          for (uint32_t r = 0; r < kRows; ++r) {
            std::vector<float> want(n);
            const BinaryArgs one = {a.data() + r * row, b.data() + r * b_row, want.data(), n, a_step, b_step, op, 1, 0, 0};
            GetParam()->binary(&one);
            const std::vector<float> got(out.data() + r * n, out.data() + (r + 1) * n);
            ASSERT_EQ(got, want) << op << ' ' << n << ' ' << row;
          }
        }
}

TEST_P(BinaryTest, MayOverwriteEitherOperand) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  std::vector<float> a(21), b(21);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = 2.0f;
  BinaryArgs args = {a.data(), b.data(), a.data(), a.size(), 1, 0, uint32_t(Binary::kMul), 1, 0, 0};
  GetParam()->binary(&args);
  args = {a.data(), b.data(), b.data(), a.size(), 1, 0, uint32_t(Binary::kAdd), 1, 0, 0};
  GetParam()->binary(&args);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(b[i], 2.0f * static_cast<float>(i) + 2.0f);
}

TEST_P(BinaryTest, PowAndMinMaxAreRightAtTheEnds) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, 3.0f, -3.0f, 2.5f, 40.0f, 1e30f, -1e30f, kInf, -kInf, kNan};
  for (Binary op : {Binary::kPow, Binary::kMin, Binary::kMax})
    for (float a : values)
      for (float b : values) {
        const float y = run_binary(*GetParam(), op, {a, a}, {b, b}, 2)[0], want = static_cast<float>(exact(op, a, b));
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(y)) << a << ' ' << b;
        } else if (std::isinf(want) || want == 0.0f) {
          EXPECT_EQ(y, want) << a << ' ' << b;
        } else {
          EXPECT_NEAR(y, want, std::ldexp(std::fabs(want), -23)) << a << ' ' << b;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(All, BinaryTest, testing::ValuesIn(kernels_of({KernelFamily::kBinary})), kernel_name);

class SoftmaxTest : public testing::TestWithParam<const Kernel *> {};

// x[i] at i * stride, the last element before a guard page; what lies between is NaN and stays so.
std::vector<float> run_softmax(const Kernel &kernel, const std::vector<float> &x, uint32_t stride, bool log, bool in_place) {
  const Rows in(x.size(), 1, stride), out(x.size(), 1, stride);
  for (size_t i = 0; i < x.size(); ++i) in.at(i, 0) = x[i];
  const Rows &to = in_place ? in : out;
  const SoftmaxArgs args = {in.data(), to.data(), static_cast<uint32_t>(x.size()), stride, log ? 1u : 0u};
  kernel.softmax(&args);
  EXPECT_TRUE(to.gaps_are_untouched());
  return to.values();
}

TEST_P(SoftmaxTest, MatchesF64) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(2);
  for (uint32_t n : {1u, 2u, 5u, 8u, 15u, 16u, 17u, 31u, 32u, 50u, 200u})
    for (uint32_t stride : {1u, 3u})
      for (bool log : {false, true})
        for (float shift : {0.0f, 1000.0f}) {
          std::vector<float> x(n);
          for (float &v : x) v = shift + random.uniform(-9.0f, 9.0f);
          const double top = *std::max_element(x.begin(), x.end());
          double sum = 0.0;
          for (float v : x) sum += std::exp(v - top);
          const std::vector<float> y = run_softmax(*GetParam(), x, stride, log, false);
          for (uint32_t i = 0; i < n; ++i) {
            const double want = log ? x[i] - top - std::log(sum) : std::exp(x[i] - top) / sum;
            ASSERT_NEAR(y[i], want, std::ldexp(n + 8.0, -23) * (log ? 1.0 + std::fabs(want) : want));
          }
          ASSERT_TRUE(same_bits(y, run_softmax(*GetParam(), x, stride, log, true)));
        }
}

TEST_P(SoftmaxTest, NanAnywhereGivesNanEverywhere) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for (uint32_t at = 0; at < 37; ++at)
    for (bool log : {false, true}) {
      std::vector<float> x(37, 1.0f);
      x[at] = kNan;
      for (float y : run_softmax(*GetParam(), x, 1, log, false)) ASSERT_TRUE(std::isnan(y));
    }
}

TEST_P(SoftmaxTest, GivesTheSameBitsInEveryFusedRowAndAtEveryStride) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(3);
  std::vector<float> x(45);
  for (float &v : x) v = random.uniform(-5.0f, 5.0f);
  const std::vector<float> y = run_softmax(*GetParam(), x, 1, false, false);
  EXPECT_TRUE(same_bits(y, run_softmax(*GetParam(), x, 5, false, false)));
  for (const Kernel *other : fused_peers(*GetParam())) {
    EXPECT_TRUE(same_bits(y, run_softmax(*other, x, 1, false, false))) << other->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SoftmaxTest, testing::ValuesIn(kernels_of({KernelFamily::kSoftmax})), kernel_name);

}  // namespace vector_ops_test
}  // namespace rnnp
