// unary_values_test.cpp -- every element-wise function at the ends of its range: NaN, infinities, zeros of both signs, denormals,
// the smallest and the largest numbers, on every instruction set, at every place of a row. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/equations.h"
#include "support/session_fixture.h"

namespace unary_values_test {

using namespace rnnp_test;
using rnnp::Act;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kSmallest = std::numeric_limits<float>::min();

struct Function {
  const char *name;
  Act act;
  float alpha, beta;
  double relative;  // the bound on the error; 0: exact
};

const Function kFunctions[] = {
    {"Identity", Act::kIdentity, 0, 0, 0},
    {"Relu", Act::kRelu, 0, 0, 0},
    {"Tanh", Act::kTanh, 0, 0, 1e-6},
    {"Sigmoid", Act::kSigmoid, 0, 0, 1e-6},
    {"Affine", Act::kAffine, 2, 0.5f, 1e-6},
    {"LeakyRelu", Act::kLeakyRelu, 0.25f, 0, 1e-6},
    {"ThresholdedRelu", Act::kThresholdedRelu, 1, 0, 0},
    {"ScaledTanh", Act::kScaledTanh, 2, 0.5f, 1e-6},
    {"HardSigmoid", Act::kHardSigmoid, 0.25f, 0.5f, 1e-6},
    {"Elu", Act::kElu, 2, 0, 1e-6},
    {"Softsign", Act::kSoftsign, 0, 0, 1e-6},
    {"Softplus", Act::kSoftplus, 0, 0, 1e-6},
    {"Exp", Act::kExp, 0, 0, 1e-6},
    {"Log", Act::kLog, 0, 0, 1e-6},
    {"Sqrt", Act::kSqrt, 0, 0, 1e-6},
    {"Abs", Act::kAbs, 0, 0, 0},
    {"Neg", Act::kNeg, 0, 0, 0},
    {"Reciprocal", Act::kReciprocal, 0, 0, 1e-6},
    {"Clip", Act::kClip, -2, 3, 0},
    {"HardSwish", Act::kHardSwish, 0, 0, 1e-6},
    {"Floor", Act::kFloor, 0, 0, 0},
    {"Ceil", Act::kCeil, 0, 0, 0},
    {"Sign", Act::kSign, 0, 0, 0},
    {"Round", Act::kRound, 0, 0, 0},
    {"Erf", Act::kErf, 0, 0, 1e-6},
    {"Gelu", Act::kGelu, 0, 0, 2e-6},
    {"GeluTanh", Act::kGeluTanh, 0, 0, 2e-6},
    {"Sin", Act::kSin, 0, 0, 1e-6},
    {"Cos", Act::kCos, 0, 0, 1e-6},
};

std::vector<float> special_values() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x;
  for (const float v : {nan, inf, 0.0f, 1e-45f, 1e-40f, kSmallest, std::numeric_limits<float>::max(), 1e-20f, 1e20f, 8388609.0f,
                        0.5f, 1.0f, 1.5f, 2.5f, 3.0f, 100.0f, 30.0f}) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

std::vector<uint8_t> model(const Function &f, uint32_t elems) {
  BlobBuilder b(1);
  const rnnp::AttrUnary attr = {{uint32_t(f.act), f.alpha, f.beta}};
  b.add_output(b.add_node(rnnp::OpKind::kUnary, &attr, sizeof attr, {b.add_input(elems)}, elems, true));
  return b.build();
}

double exact(const Function &f, double x) {
  return apply_act({uint32_t(f.act), f.alpha, f.beta}, x);
}

// Denormal results may be flushed; a denormal operand may count as the zero of its sign, but for Sign.
bool is_right(const Function &f, float x, float y) {
  const auto near = [&](double want) {
    const float rounded = static_cast<float>(want);
    if (std::isnan(want) || std::isnan(y)) return std::isnan(want) && std::isnan(y);
    if (std::isinf(rounded) || std::isinf(y)) return rounded == y;
    return std::fabs(want - double{y}) <= f.relative * std::fabs(want) + double{kSmallest} + (f.relative != 0 ? 1e-7 : 0);
  };
  const bool denormal = x != 0 && std::fabs(x) < kSmallest;
  return near(exact(f, x)) || (denormal && f.act != Act::kSign && near(exact(f, std::copysign(0.0, double{x}))));
}

class UnaryValues : public testing::TestWithParam<Function> {};

TEST_P(UnaryValues, AreRightAtTheEndsOfTheRange) {
  const Function &f = GetParam();
  const std::vector<float> odd = special_values();
  for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, uint32_t{RNNP_ISA_AVX2}, 0u})
    for (size_t turn = 0; turn < odd.size(); turn += 5) {  // another place, another lane
      std::vector<float> x(odd.begin() + turn, odd.end());
      x.insert(x.end(), odd.begin(), odd.begin() + turn);
      const std::vector<float> y = Runner(model(f, uint32_t(x.size())), {1, 0, 0, isa}).run(x);
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(is_right(f, x[i], y[i])) << f.name << '(' << x[i] << ") = " << y[i] << ", isa " << isa << ", not "
                                             << exact(f, x[i]);
    }
}

// Every quarter of a turn, on both sides of zero, near and where the angle is taken from its bits.
TEST(UnaryValuesOfSines, AreRightInEveryQuarterFarFromZero) {
  std::vector<float> x;
  for (const double first : {0.3, 8000.0, 8192.5, 1e5, 3e6, 1e9, 4e15}) {
    for (int i = 0; i < 8; ++i) {
      x.push_back(static_cast<float>(first + 1.5707963 * i * (first > 1e7 ? 1e9 : 1)));
      x.push_back(-x.back());
    }
  }
  for (const Function &f : kFunctions) {
    if (f.act != Act::kSin && f.act != Act::kCos) continue;
    for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, 0u}) {
      const std::vector<float> y = Runner(model(f, uint32_t(x.size())), {1, 0, 0, isa}).run(x);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(is_right(f, x[i], y[i])) << f.name << '(' << x[i] << ") = " << y[i];
    }
  }
}

// The sign of a zero, where ONNX's formula fixes it.
TEST(UnaryValuesOfZero, KeepTheirSign) {
  for (const Function &f : kFunctions) {
    const bool keeps = f.act == Act::kIdentity || f.act == Act::kTanh || f.act == Act::kSqrt || f.act == Act::kFloor ||
                       f.act == Act::kCeil || f.act == Act::kSign || f.act == Act::kRound || f.act == Act::kErf ||
                       f.act == Act::kSin;
    if (!keeps && f.act != Act::kNeg && f.act != Act::kAbs) continue;
    for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, 0u}) {
      const std::vector<float> y = Runner(model(f, 2), {1, 0, 0, isa}).run({0.0f, -0.0f});
      EXPECT_EQ(f.act == Act::kNeg, std::signbit(y[0])) << f.name << " isa " << isa;
      EXPECT_EQ(keeps, std::signbit(y[1])) << f.name << " isa " << isa;
      EXPECT_EQ(0.0f, y[0]);
      EXPECT_EQ(0.0f, y[1]);
    }
  }
  const std::vector<float> y = Runner(model({"", Act::kReciprocal, 0, 0, 0}, 2)).run({0.0f, -0.0f});
  EXPECT_EQ(kInf, y[0]);
  EXPECT_EQ(-kInf, y[1]);
}

INSTANTIATE_TEST_SUITE_P(Functions, UnaryValues, testing::ValuesIn(kFunctions),
                         [](const auto &c) { return std::string(c.param.name); });

}  // namespace unary_values_test
