// matmul_invariants_test.cpp -- products of two values of a row: exact on small integers for every lay-out of the operands and
// instruction set, and the same bits for every cut, chunk, team and batch.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace matmul_invariants_test {

using namespace rnnp_test;

constexpr uint32_t kBatches = 3;

struct Shape {
  const char *name;
  uint32_t m, n, k;
  bool a_by_columns, b_by_columns;  // the first axis lies side by side
};

const Shape kShapes[] = {
    {"matrix_and_column", 24, 1, 40, false, false},
    {"reversed_matrix_and_column", 24, 1, 40, true, false},
    {"outer", 20, 33, 1, false, false},
    {"dots", 5, 7, 35, false, true},
    {"rows", 6, 37, 9, false, false},
    {"both_reversed", 4, 5, 19, true, true},
};

std::vector<uint8_t> blob_of(const Shape &s) {
  rnnp::AttrMatMul t = {};
  t.m = s.m;
  t.n = s.n;
  t.k = s.k;
  t.rank = 1;
  t.dims[0] = kBatches;
  t.a.row = s.a_by_columns ? 1 : int32_t(s.k);
  t.a.column = s.a_by_columns ? int32_t(s.m) : 1;
  t.a.batch[0] = int32_t(s.m * s.k);
  t.b.first = kBatches * s.m * s.k;
  t.b.row = s.b_by_columns ? 1 : int32_t(s.n);
  t.b.column = s.b_by_columns ? int32_t(s.k) : 1;
  t.b.batch[0] = int32_t(s.k * s.n);
  BlobBuilder b(3);
  const uint32_t x = b.add_input(kBatches * s.k * (s.m + s.n));
  b.add_output(b.add_node(rnnp::OpKind::kMatMul, &t, sizeof t, {x, x}, kBatches * s.m * s.n, true));
  return b.build();
}

class MatMulInvariants : public testing::TestWithParam<Shape> {
 protected:
  static constexpr size_t kSteps = 5, kRows = 3;
  size_t in() const { return kBatches * size_t{GetParam().k} * (GetParam().m + GetParam().n); }
  std::vector<float> integers() const {
    std::vector<float> x = random_floats(kSteps * kRows * in(), 8);
    for (float &v : x) v = float(int(v * 5));
    return x;
  }
};

TEST_P(MatMulInvariants, ExactOnEveryInstructionSet) {
  const Shape &s = GetParam();
  const std::vector<float> x = integers();
  for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, uint32_t{RNNP_ISA_AVX2}, 0u}) {
    const std::vector<float> y = Runner(blob_of(s), {kRows, 0, 0, isa}).run(x);
    size_t at = 0;
    for (size_t row = 0; row < kSteps * kRows; ++row)
      for (uint32_t batch = 0; batch < kBatches; ++batch) {
        const float *a = x.data() + row * in() + batch * size_t{s.m} * s.k;
        const float *b = x.data() + row * in() + kBatches * size_t{s.m} * s.k + batch * size_t{s.k} * s.n;
        for (uint32_t i = 0; i < s.m; ++i)
          for (uint32_t j = 0; j < s.n; ++j, ++at) {
            float want = 0;
            for (uint32_t k = 0; k < s.k; ++k)
              want += a[s.a_by_columns ? k * s.m + i : i * s.k + k] * b[s.b_by_columns ? j * s.k + k : k * s.n + j];
            ASSERT_EQ(want, y[at]) << "isa " << isa << " row " << row << " of batch " << batch << " at " << i << ", " << j;
          }
      }
  }
}

TEST_P(MatMulInvariants, CutsChunksAndThreadsDoNotMatter) {
  const std::vector<uint8_t> bytes = blob_of(GetParam());
  const std::vector<float> x = random_floats(kSteps * kRows * in(), 9), whole = Runner(bytes, {kRows}).run(x);
  for (const size_t cut : {1, 2, 4}) EXPECT_EQ(whole, Runner(bytes, {kRows}).run(x, cut)) << "cut " << cut;
  for (const uint32_t threads : {2u, 3u, 5u})
    EXPECT_EQ(whole, Runner(bytes, {kRows, 0, 2, 0, threads}).run(x)) << threads << " threads";
  std::vector<float> row;
  for (size_t t = 0; t < kSteps; ++t)
    row.insert(row.end(), x.begin() + ptrdiff_t(t * kRows * in()), x.begin() + ptrdiff_t((t * kRows + 1) * in()));
  const std::vector<float> alone = Runner(bytes, {1}).run(row);
  const size_t out = alone.size() / kSteps;
  for (size_t t = 0; t < kSteps; ++t)
    for (size_t i = 0; i < out; ++i) ASSERT_EQ(whole[t * kRows * out + i], alone[t * out + i]) << "step " << t << " at " << i;
}

INSTANTIATE_TEST_SUITE_P(All, MatMulInvariants, testing::ValuesIn(kShapes),
                         [](const auto &given) { return std::string(given.param.name); });

}  // namespace matmul_invariants_test
