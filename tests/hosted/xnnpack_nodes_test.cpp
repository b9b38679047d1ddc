// xnnpack_nodes_test.cpp -- each kind of node that XNNPACK takes, alone: it is taken, touches no byte beyond the caller's tensors,
// and keeps NaN and infinities as our operators do, row by row.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "support/guarded.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::Act;
using rnnp::OpKind;

constexpr uint32_t kLargest = 40;

// A model of one node over rows of `elems`.
struct Kind {
  const char *name;
  std::function<uint32_t(BlobBuilder *, uint32_t x, uint32_t elems)> add;
  bool taken;
};

Kind unary(const char *name, Act act, bool taken) {
  return {name,
          [act](BlobBuilder *b, uint32_t x, uint32_t elems) {
            const rnnp::AttrUnary attr = {{uint32_t(act), 0.2f, 0.5f}};
            return b->add_node(OpKind::kUnary, &attr, sizeof attr, {x}, elems, true);
          },
          taken};
}

Kind softmax(const char *name, uint32_t log, bool taken) {
  return {name,
          [log](BlobBuilder *b, uint32_t x, uint32_t elems) {
            const rnnp::AttrSoftmax attr = {1, elems, 1, log};
            return b->add_node(OpKind::kSoftmax, &attr, sizeof attr, {x}, elems, true);
          },
          taken};
}

Kind dense(const char *name, Act act, bool taken) {
  return {name, [act](BlobBuilder *b, uint32_t x, uint32_t elems) { return b->add_dense(x, elems, elems, act); }, taken};
}

const std::vector<Kind> &kinds() {
  static const std::vector<Kind> all = {
      unary("Sigmoid", Act::kSigmoid, true), unary("HardSwish", Act::kHardSwish, true), unary("Abs", Act::kAbs, true),
      unary("Neg", Act::kNeg, true),         unary("Sqrt", Act::kSqrt, true),           unary("Tanh", Act::kTanh, false),
      softmax("Softmax", 0, true),           softmax("LogSoftmax", 1, false),           dense("Dense", Act::kIdentity, true),
      dense("DenseRelu", Act::kRelu, true),  dense("DenseTanh", Act::kTanh, true)};
  return all;
}

std::vector<uint8_t> model(const Kind &kind, uint32_t elems) {
  BlobBuilder b(elems);
  const uint32_t x = b.add_input(elems);
  b.add_output(kind.add(&b, x, elems));
  return b.build();
}

uint32_t taken(Runner *r) {
  rnnp_session_info f = RNNP_SESSION_INFO_INIT;
  expect_ok(rnnp_session_get_info(r->session(), &f), "info");
  EXPECT_EQ(0u, f.xnnpack_refused);
  return f.xnnpack;
}

Options xnnpack(uint32_t threads = 1, uint32_t batch = 1, uint32_t chunk = 0) {
  return {batch, 0, chunk, 0, threads, RNNP_SESSION_ALL_XNNPACK};
}
Options portable() {
  return {1, 0, 0, 0, 1, RNNP_SESSION_PORTABLE_OPS};
}

// Alike in what is not a number, and near where it is.
void expect_equal_results(const std::vector<float> &want, const std::vector<float> &got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(std::isnan(want[i]), std::isnan(got[i])) << "at " << i << ": " << want[i] << " and " << got[i];
    if (std::isnan(want[i])) continue;
    if (std::isinf(want[i]) || std::isinf(got[i])) {
      ASSERT_EQ(want[i], got[i]) << "at " << i;
    } else {
      ASSERT_NEAR(want[i], got[i], 1e-5 * (1 + std::fabs(want[i]))) << "at " << i;
    }
  }
}

class XnnpackNodes : public testing::TestWithParam<size_t> {
 protected:
  const Kind &kind() const { return kinds()[GetParam()]; }
};

TEST_P(XnnpackNodes, AreTakenOneByOne) {
  Runner one(model(kind(), 7), xnnpack());
  EXPECT_EQ(kind().taken ? 1u : 0u, taken(&one));
  BlobBuilder b(3);
  const uint32_t x = b.add_input(7);
  b.add_output(kind().add(&b, kind().add(&b, x, 7), 7));
  Runner two(b.build(), xnnpack(3));
  EXPECT_EQ(kind().taken ? 2u : 0u, taken(&two));
}

TEST_P(XnnpackNodes, TouchNothingBeyondTheCallersTensors) {
  for (uint32_t elems = 1; elems <= kLargest; ++elems)
    for (const size_t steps : {size_t{1}, size_t{2}, size_t{5}})
      for (const Guarded::At at : {Guarded::At::kEnd, Guarded::At::kBegin}) {
        const std::vector<uint8_t> bytes = model(kind(), elems);
        const std::vector<float> x = random_floats(steps * elems, elems, 3.0f);
        const Guarded in(x, at), out(std::vector<float>(x.size(), -77.0f), at);
        Runner r(bytes, xnnpack());
        expect_ok(rnnp_run(r.session(), steps, in.data(), out.data()), "run");
        EXPECT_EQ(x, in.values());
        expect_equal_results(Runner(bytes, portable()).run(x), out.values());
      }
}

TEST_P(XnnpackNodes, KeepNanAndInfinities) {
  constexpr uint32_t kRows = 6;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();
  for (const uint32_t elems : {1u, 3u, 16u, 37u}) {
    const std::vector<uint8_t> bytes = model(kind(), elems);
    const std::vector<float> plain = random_floats(kRows * elems, 5);
    for (const float odd : {nan, -nan, inf, -inf, largest, -largest, 1e20f, 0.0f, -0.0f, 1e-40f})
      for (size_t row = 0; row < kRows; ++row) {
        std::vector<float> x = plain;
        x[row * elems + row * 5 % elems] = odd;
        if (row % 2 == 1) x[row * elems + row * 11 % elems] = -odd;
        const std::vector<float> clean = Runner(bytes, xnnpack()).run(plain);
        for (const Options &options : {xnnpack(), xnnpack(3), xnnpack(1, 2, 2)}) {
          const std::vector<float> y = Runner(bytes, options).run(x);
          SCOPED_TRACE(testing::Message() << elems << " elements, row " << row << ", " << odd << ", threads " << options.threads);
          ASSERT_NO_FATAL_FAILURE(expect_equal_results(Runner(bytes, portable()).run(x), y));
          for (size_t i = 0; i < y.size(); ++i) {
            if (i / elems != row && !std::isnan(clean[i])) {
              ASSERT_EQ(clean[i], y[i]) << "another row's element " << i;
            }
          }
        }
      }
  }
}

// A NaN that is made of finite numbers: products that overflow to both sides.
TEST(XnnpackDense, NanThatIsMadeInsideTheSumIsKept) {
  for (const Act act : {Act::kIdentity, Act::kRelu}) {
    const std::vector<uint8_t> bytes = model(dense("Dense", act, true), 37);
    const std::vector<float> x(37, 1e38f);
    std::vector<float> many;
    for (int row = 0; row < 4; ++row) many.insert(many.end(), x.begin(), x.end());
    expect_equal_results(Runner(bytes, portable()).run(many), Runner(bytes, xnnpack()).run(many));
  }
}

// Bits do not depend on threads where a part of a row comes out infinite.
TEST(XnnpackDense, RowsThatAreNotFiniteHaveTheSameBitsOnAnyThreads) {
  BlobBuilder b(4);
  const uint32_t x = b.add_input(5);
  b.add_output(b.add_dense(x, 5, 100));
  const std::vector<uint8_t> bytes = b.build();
  std::vector<float> in = random_floats(5 * 8, 3);
  for (size_t row = 0; row < 8; row += 2)  // some of its sums overflow
    for (size_t i = 0; i < 5; ++i) in[row * 5 + i] = (i % 2 ? -1.0f : 1.0f) * std::numeric_limits<float>::max();

  const std::vector<float> whole = Runner(bytes, xnnpack()).run(in);
  const auto odd = std::count_if(whole.begin(), whole.end(), [](float y) { return !std::isfinite(y); });
  EXPECT_TRUE(odd > 0 && odd < 400) << odd;
  for (const uint32_t threads : {2u, 3u, 7u, 9u}) {
    const std::vector<float> y = Runner(bytes, xnnpack(threads)).run(in);
    EXPECT_EQ(0, std::memcmp(whole.data(), y.data(), whole.size() * sizeof(float))) << threads;
  }
}

TEST(XnnpackDense, MoreThreadsThanTilesNeedNoMoreMemory) {
  const std::vector<uint8_t> bytes = model(dense("Dense", Act::kIdentity, true), 20);  // two tiles
  const std::vector<float> x = random_floats(20 * 3, 1);
  const std::vector<float> one = Runner(bytes, xnnpack()).run(x);
  for (const uint32_t threads : {2u, 3u, 8u}) {
    Runner r(bytes, xnnpack(threads));
    EXPECT_LT(r.memory().session_bytes, size_t{1} << 20);
    EXPECT_EQ(1u, taken(&r));
    EXPECT_EQ(one, r.run(x)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, XnnpackNodes, testing::Range(size_t{0}, kinds().size()),
                         [](const auto &c) { return std::string(kinds()[c.param].name); });

}  // namespace
