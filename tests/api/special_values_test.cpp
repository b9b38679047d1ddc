// special_values_test.cpp -- NaN, infinities and huge values through every operator of more than one element: what comes out is
// what the same formula gives in doubles, and rows do not reach one another. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/reference_layers.h"
#include "support/session_fixture.h"

namespace special_values_test {

using namespace rnnp_test;
using rnnp::Act;
using rnnp::Binary;
using rnnp::kNone;
using rnnp::OpKind;
using rnnp::Pool;
using rnnp::Reduce;

using Reals = std::vector<double>;
constexpr uint32_t kElems = 24, kBatch = 3, kSteps = 4;
constexpr double kHuge = 1e15;  // its square is a float
const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// One operator on a row of kElems: how it is added, and what it gives.
struct Case {
  std::string name;
  std::function<uint32_t(BlobBuilder *, uint32_t x)> add;
  std::function<Reals(const Reals &)> exact;
};

// The larger or smaller of two, NaN if there is one.
double pick(double a, double b, bool larger) {
  return std::isnan(a) ? a : std::isnan(b) ? b : larger == (a > b) ? a : b;
}

double combine(Binary op, double a, double b) {
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
      return pick(a, b, false);
    case Binary::kMax:
      return pick(a, b, true);
    case Binary::kPow:
      return std::pow(a, b);
    case Binary::kEqual:
      return a == b;
    case Binary::kLess:
      return a < b;
    case Binary::kLessOrEqual:
      return a <= b;
    case Binary::kGreater:
      return a > b;
    case Binary::kGreaterOrEqual:
      return a >= b;
    case Binary::kNotEqual:
      return a != b;
    case Binary::kPRelu:
      return a < 0 ? a * b : a;
  }
  return 0;
}

// The first half of a row with the second.
Case binary(Binary op) {
  constexpr uint32_t kHalf = kElems / 2;
  const auto add = [op](BlobBuilder *b, uint32_t x) {
    const rnnp::AttrCopy copy = {1, {kHalf}, {1}, {1}, kHalf, 0};
    const uint32_t half = b->add_node(OpKind::kCopy, &copy, sizeof copy, {x}, kHalf, true);
    const rnnp::AttrBinary attr = {uint32_t(op), 1, {kHalf}, {1}, {1}};
    return b->add_node(OpKind::kBinary, &attr, sizeof attr, {x, half}, kHalf, true);
  };
  const auto exact = [op](const Reals &x) {
    Reals y;
    for (size_t i = 0; i < kHalf; ++i) y.push_back(combine(op, x[i], x[i + kHalf]));
    return y;
  };
  return {"Binary" + std::to_string(uint32_t(op)), add, exact};
}

double fold(Reduce op, const Reals &x) {
  double sum = 0, product = 1, most = -kInf, least = kInf, absolute = 0, square = 0, largest = -kInf;
  for (const double v : x) {
    sum += v;
    product *= v;
    most = pick(most, v, true);
    least = pick(least, v, false);
    absolute += std::fabs(v);
    square += v * v;
  }
  largest = most;
  double exponentials = 0;
  for (const double v : x) exponentials += std::exp(v - largest);
  switch (op) {
    case Reduce::kSum:
      return sum;
    case Reduce::kMean:
      return sum / double(x.size());
    case Reduce::kMax:
      return most;
    case Reduce::kMin:
      return least;
    case Reduce::kProd:
      return product;
    case Reduce::kL1:
      return absolute;
    case Reduce::kL2:
      return std::sqrt(square);
    case Reduce::kSumSquare:
      return square;
    case Reduce::kLogSum:
      return std::log(sum);
    case Reduce::kLogSumExp:
      return std::isinf(largest) || std::isnan(largest) ? largest : largest + std::log(exponentials);
  }
  return 0;
}

// Over `columns` ? the first : the second axis of a row [rows][rest].
Case reduction(Reduce op, uint32_t rows, bool columns) {
  const uint32_t rest = kElems / rows;
  const auto add = [=](BlobBuilder *b, uint32_t x) {
    rnnp::AttrReduce a = {};
    a.op = uint32_t(op);
    a.kept_rank = a.over_rank = 1;
    a.kept_dims[0] = columns ? rest : rows;
    a.kept_stride[0] = columns ? 1 : int32_t(rest);
    a.over_dims[0] = columns ? rows : rest;
    a.over_stride[0] = columns ? int32_t(rest) : 1;
    return b->add_node(OpKind::kReduce, &a, sizeof a, {x}, a.kept_dims[0], true);
  };
  const auto exact = [=](const Reals &x) {
    Reals y;
    for (uint32_t k = 0; k < (columns ? rest : rows); ++k) {
      Reals part;
      for (uint32_t i = 0; i < (columns ? rows : rest); ++i) part.push_back(columns ? x[i * rest + k] : x[k * rest + i]);
      y.push_back(fold(op, part));
    }
    return y;
  };
  return {"Reduce" + std::to_string(uint32_t(op)) + (columns ? "Columns" : "Rows") + std::to_string(rows), add, exact};
}

Case softmax(uint32_t log) {
  const auto add = [=](BlobBuilder *b, uint32_t x) {
    const rnnp::AttrSoftmax a = {1, kElems, 1, log};
    return b->add_node(OpKind::kSoftmax, &a, sizeof a, {x}, kElems, true);
  };
  const auto exact = [=](const Reals &x) {
    double most = -kInf, sum = 0;
    for (const double v : x) most = pick(most, v, true);
    for (const double v : x) sum += std::exp(v - most);
    Reals y;
    for (const double v : x) y.push_back(log ? v - most - std::log(sum) : std::exp(v - most) / sum);
    return y;
  };
  return {log ? "LogSoftmax" : "Softmax", add, exact};
}

Case norm(uint32_t centred) {
  const auto add = [=](BlobBuilder *b, uint32_t x) {
    const rnnp::AttrNorm a = {1, kElems, centred, 0, 1e-5f, kNone, kNone};
    return b->add_node(OpKind::kNorm, &a, sizeof a, {x}, kElems, true);
  };
  const auto exact = [=](const Reals &x) {
    double mean = 0, variance = 0;
    for (const double v : x) mean += centred ? v / kElems : 0;
    for (const double v : x) variance += (v - mean) * (v - mean) / kElems;
    Reals y;
    for (const double v : x) y.push_back((v - mean) / std::sqrt(variance + 1e-5));
    return y;
  };
  return {centred ? "Norm" : "RmsNorm", add, exact};
}

// Windows of 3, stride 2, over kElems / 2 places of 2 channels; one counted zero before, two behind.
Case pool(Pool kind) {
  constexpr uint32_t kPlaces = kElems / 2, kOut = 7;
  const auto add = [=](BlobBuilder *b, uint32_t x) {
    rnnp::AttrPool a = {};
    a.window = {{1, kPlaces}, {1, kOut}, {1, 3}, {1, 2}, {1, 1}, {0, 1}, 0, {int32_t(kElems), 2, 1}, 0, {2 * kOut, 2}};
    a.pool = uint32_t(kind);
    a.channels = 2;
    a.counted_before[1] = 1;
    a.counted_after[1] = 2;
    return b->add_node(OpKind::kPool, &a, sizeof a, {x}, 2 * kOut, true);
  };
  const auto exact = [=](const Reals &x) {
    Reals y;
    for (int o = 0; o < int(kOut); ++o)
      for (int c = 0; c < 2; ++c) {
        double most = -kInf, sum = 0, count = 0;
        for (int at = 2 * o - 1; at < 2 * o + 2; ++at) {
          if (at >= -1 && at < int(kPlaces) + 2) ++count;
          if (at < 0 || at >= int(kPlaces)) continue;
          most = pick(most, x[size_t(2) * size_t(at) + size_t(c)], true);
          sum += x[size_t(2) * size_t(at) + size_t(c)];
        }
        y.push_back(kind == Pool::kMax ? most : sum / count);
      }
    return y;
  };
  return {kind == Pool::kMax ? "MaxPool" : "AveragePool", add, exact};
}

// A row as [4][6] times itself as [6][4]: b by columns, or by rows.
Case matmul(bool by_columns) {
  const auto add = [=](BlobBuilder *b, uint32_t x) {
    rnnp::AttrMatMul a = {};
    a.m = 4;
    a.n = 4;
    a.k = 6;
    a.a = {0, 6, 1, {}};
    a.b = {0, by_columns ? 4 : 1, by_columns ? 1 : 6, {}};
    return b->add_node(OpKind::kMatMul, &a, sizeof a, {x, x}, 16, true);
  };
  const auto exact = [=](const Reals &x) {
    Reals y;
    for (size_t m = 0; m < 4; ++m)
      for (size_t n = 0; n < 4; ++n) {
        double sum = 0;
        for (size_t k = 0; k < 6; ++k) sum += x[m * 6 + k] * (by_columns ? x[k * 4 + n] : x[n * 6 + k]);
        y.push_back(sum);
      }
    return y;
  };
  return {by_columns ? "MatMulColumns" : "MatMulRows", add, exact};
}

Case where() {
  const auto add = [](BlobBuilder *b, uint32_t x) {
    const rnnp::AttrWhere a = {1, {8}, {{1}, {1}, {1}}, {0, 8, 16}};
    return b->add_node(OpKind::kWhere, &a, sizeof a, {x, x, x}, 8, true);
  };
  const auto exact = [](const Reals &x) {
    Reals y;
    for (size_t i = 0; i < 8; ++i) y.push_back(x[i] != 0 ? x[8 + i] : x[16 + i]);
    return y;
  };
  return {"Where", add, exact};
}

std::vector<Case> cases() {
  std::vector<Case> all = {softmax(0),           softmax(1),   norm(0),       norm(1), pool(Pool::kMax),
                           pool(Pool::kAverage), matmul(true), matmul(false), where()};
  for (uint32_t op = 0; op <= uint32_t(Binary::kPRelu); ++op) all.push_back(binary(Binary(op)));
  for (uint32_t op = 0; op <= uint32_t(Reduce::kLogSumExp); ++op)
    for (const uint32_t rows : {1u, 2u, 8u}) {
      all.push_back(reduction(Reduce(op), rows, false));
      all.push_back(reduction(Reduce(op), rows, true));
    }
  return all;
}

// Rows of special values among plain ones; every place of a row has its turn.
struct Input {
  std::vector<float> x;
  size_t row;
};
std::vector<Input> inputs(uint32_t elems) {
  std::vector<Input> out;
  const std::vector<float> plain = random_floats(size_t{kSteps} * kBatch * elems, 9, 2.0f);
  for (const double odd : {kNan, kInf, -kInf, kHuge, 0.0})
    for (uint32_t at = 0; at < elems; ++at) {
      Input in = {plain, (at * 7 + 3) % (kSteps * kBatch)};
      in.x[in.row * elems + at] = float(odd);
      if (at % 3 == 2) in.x[in.row * elems + (at * 5 + 1) % elems] = float(-odd);
      out.push_back(in);
    }
  return out;
}

void expect_equal_results(double want, float got, double scale) {
  if (std::isnan(want) || std::isnan(got)) {
    ASSERT_TRUE(std::isnan(want) && std::isnan(got)) << want << " and " << got;
  } else if (std::isinf(float(want)) || std::isinf(got)) {
    ASSERT_EQ(float(want), got);
  } else {
    ASSERT_NEAR(want, got, 1e-5 * (1 + std::fabs(want) + scale));
  }
}

class SpecialValues : public testing::TestWithParam<Case> {};

TEST_P(SpecialValues, GiveWhatTheFormulaGivesAndStayInTheirRow) {
  BlobBuilder b(2);
  b.add_output(GetParam().add(&b, b.add_input(kElems)));
  const std::vector<uint8_t> bytes = b.build();
  for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, 0u}) {
    Runner r(bytes, {kBatch, 0, 0, isa, isa == 0 ? 2u : 1u});
    for (const Input &in : inputs(kElems)) {
      const std::vector<float> y = r.run(in.x);
      for (size_t row = 0; row < kSteps * kBatch; ++row) {
        const Reals x(in.x.begin() + row * kElems, in.x.begin() + (row + 1) * kElems), want = GetParam().exact(x);
        double scale = 0;  // of the largest finite element: sums of it and its negative cancel
        for (const double v : x) scale = std::isfinite(v) && std::fabs(v) > scale ? std::fabs(v) : scale;
        ASSERT_EQ(want.size(), r.out());
        if (scale > 100 && GetParam().name.rfind("Reduce8", 0) == 0) continue;  // the log of what is left when such numbers cancel
        for (size_t i = 0; i < r.out(); ++i) {
          SCOPED_TRACE(testing::Message() << "isa " << isa << " row " << row << " of " << in.row << ", result " << i);
          ASSERT_NO_FATAL_FAILURE(expect_equal_results(want[i], y[row * r.out() + i], scale > 100 ? scale : 0));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, SpecialValues, testing::ValuesIn(cases()), [](const auto &c) { return c.param.name; });

// --- Matrices -----------------------------------------------------------------------------------------------------------------

// NaN and infinities reach their own row's results, from their step on where there is a state, and no other row's.
void expect_own_row_only(const std::vector<uint8_t> &bytes, uint32_t elems, bool stateful) {
  const std::vector<float> plain = random_floats(size_t{kSteps} * kBatch * elems, 9);
  for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, uint32_t{RNNP_ISA_AVX2}, 0u})
    for (const uint32_t threads : {1u, 2u}) {
      const Options options = {kBatch, 0, 0, isa, threads};
      const std::vector<float> clean = Runner(bytes, options).run(plain);
      for (uint32_t at = 0; at < elems; ++at) {
        const size_t step = at % kSteps, row = (at * 7 + 1) % kBatch;
        std::vector<float> x = plain;
        x[(step * kBatch + row) * elems + at] = float(kNan);
        Runner r(bytes, options);
        const std::vector<float> y = r.run(x);
        for (size_t i = 0; i < y.size(); ++i) {
          const size_t s = i / r.out() / kBatch, own = i / r.out() % kBatch;
          if (own != row || s < step || (s > step && !stateful)) {
            ASSERT_EQ(clean[i], y[i]) << "isa " << isa << " at " << at << ": step " << s << " row " << own;
          } else {
            ASSERT_TRUE(std::isnan(y[i])) << "isa " << isa << " at " << at << ": step " << s << " of " << step << ": " << y[i];
          }
        }
      }
    }
}

TEST(SpecialValuesOfMatrices, NanFillsItsOwnRowOfADenseLayer) {
  for (const Act act : {Act::kIdentity, Act::kRelu, Act::kSigmoid, Act::kHardSigmoid}) {
    BlobBuilder b(2);
    b.add_output(b.add_dense(b.add_input(kElems), kElems, 37, act));
    expect_own_row_only(b.build(), kElems, false);
  }
}

TEST(SpecialValuesOfMatrices, NanFillsItsOwnRowOfEveryCellForGood) {
  for (const rnnp::Cell cell : {rnnp::Cell::kRnn, rnnp::Cell::kLstm, rnnp::Cell::kGru, rnnp::Cell::kGruLinear})
    for (const double clip : {0.0, 2.0})
      for (const uint32_t hidden : {5u, 37u}) {
        BlobBuilder b(2);
        RecurrentOptions o;
        o.cell = cell;
        o.hidden = hidden;
        o.clip = clip;
        b.add_output(b.add_recurrent(b.add_input(7), 7, o));
        SCOPED_TRACE(testing::Message() << "cell " << int(cell) << " clip " << clip << " hidden " << hidden);
        ASSERT_NO_FATAL_FAILURE(expect_own_row_only(b.build(), 7, true));
      }
}

// Gates saturate at an infinite input as the formulas do.
TEST(SpecialValuesOfMatrices, CellsSaturateAtInfinity) {
  for (const rnnp::Cell cell : {rnnp::Cell::kRnn, rnnp::Cell::kLstm, rnnp::Cell::kGru, rnnp::Cell::kGruLinear}) {
    BlobBuilder b(2);
    RecurrentOptions o;
    o.cell = cell;
    o.hidden = 19;
    b.add_output(b.add_recurrent(b.add_input(7), 7, o));
    const std::vector<uint8_t> bytes = b.build();
    for (const double odd : {kInf, -kInf, 1e30, -1e30}) {
      std::vector<float> x = random_floats(6 * 7, 4);
      x[2 * 7 + 3] = float(odd);
      const Reals want = run_recurrent(b.recurrent[0], {x.begin(), x.end()}, 6, 1).y;
      for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, 0u}) {
        const std::vector<float> y = Runner(bytes, {1, 0, 0, isa}).run(x);
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_NO_FATAL_FAILURE(expect_equal_results(want[i], y[i], 0)) << "cell " << int(cell) << ' ' << i;
      }
    }
  }
}

}  // namespace special_values_test
