// matmul_test.cpp -- products of two matrices made at run time: exact on small integers at every shape and lay-out of both,
// near f64 on others, one column with the bits of one row, nothing read or written beside the matrices.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernel_support.h"

namespace rnnp {
namespace {

// rows x columns: side by side along columns, along rows, or neither.
enum class Lie { kRows, kColumns, kApart };

struct Matrix2 {
  Matrix2(uint32_t rows, uint32_t columns, Lie lie) : lie_rows(rows), lie_columns(columns) {
    row = lie == Lie::kRows ? ptrdiff_t(columns) + 3 : lie == Lie::kColumns ? 1 : -2 * ptrdiff_t(columns);
    column = lie == Lie::kRows ? 1 : lie == Lie::kColumns ? ptrdiff_t(rows) + 1 : 2;
    const ptrdiff_t last = row * (ptrdiff_t(rows) - 1);
    const ptrdiff_t far = std::abs(last) + column * (ptrdiff_t(columns) - 1) + 1;
    floats = Rows(1, size_t(far), size_t(far));
    first = floats.data() + (last < 0 ? -last : 0);
  }
  float &at(uint32_t i, uint32_t j) { return first[ptrdiff_t(i) * row + ptrdiff_t(j) * column]; }
  void fill(Random *random, bool whole) {
    for (uint32_t i = 0; i < lie_rows; ++i)
      for (uint32_t j = 0; j < lie_columns; ++j) at(i, j) = whole ? random->integer(6) : random->uniform(-1.0f, 1.0f);
  }

  uint32_t lie_rows, lie_columns;
  ptrdiff_t row, column;
  Rows floats;
  float *first;
};

std::vector<float> multiply(const Kernel &kernel, const Matrix2 &a, const Matrix2 &b) {
  const Rows y(1, size_t{a.lie_rows} * b.lie_columns, 0);
  const MatMulArgs args = {a.first, b.first, y.data(), a.row, a.column, b.row, b.column, a.lie_rows, b.lie_columns, a.lie_columns};
  kernel.matmul(&args);
  return {y.data(), y.data() + size_t{a.lie_rows} * b.lie_columns};
}

class MatMulTest : public testing::TestWithParam<const Kernel *> {
 protected:
  template <class Body>
  void for_every_shape(bool whole, Body body) {
    Random random(11);
    for (const uint32_t m : {1u, 2u, 4u, 7u})
      for (const uint32_t n : {1u, 2u, 5u, 8u, 17u, 65u})
        for (const uint32_t k : {1u, 3u, 15u, 16u, 17u, 40u, 64u})
          for (const Lie of_a : {Lie::kRows, Lie::kColumns, Lie::kApart})
            for (const Lie of_b : {Lie::kRows, Lie::kColumns, Lie::kApart}) {
              Matrix2 a(m, k, of_a), b(k, n, of_b);
              a.fill(&random, whole);
              b.fill(&random, whole);
              SCOPED_TRACE(testing::Message() << m << " x " << k << " x " << n << ", a " << int(of_a) << ", b " << int(of_b));
              body(&a, &b);
              if (HasFatalFailure()) return;
            }
  }
};

TEST_P(MatMulTest, ExactAtEveryShapeAndLayOut) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for_every_shape(true, [](Matrix2 *a, Matrix2 *b) {
    const std::vector<float> y = multiply(*GetParam(), *a, *b);
    for (uint32_t i = 0; i < a->lie_rows; ++i)
      for (uint32_t j = 0; j < b->lie_columns; ++j) {
        float want = 0;
        for (uint32_t k = 0; k < a->lie_columns; ++k) want += a->at(i, k) * b->at(k, j);
        ASSERT_EQ(want, y[size_t{i} * b->lie_columns + j]) << "row " << i << ", column " << j;
      }
  });
}

TEST_P(MatMulTest, StaysWithinItsRoundingsOfF64) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for_every_shape(false, [](Matrix2 *a, Matrix2 *b) {
    const std::vector<float> y = multiply(*GetParam(), *a, *b);
    for (uint32_t i = 0; i < a->lie_rows; ++i)
      for (uint32_t j = 0; j < b->lie_columns; ++j) {
        double want = 0, size = 0;
        for (uint32_t k = 0; k < a->lie_columns; ++k) {
          want += double(a->at(i, k)) * b->at(k, j);
          size += std::fabs(double(a->at(i, k)) * b->at(k, j));
        }
        ASSERT_NEAR(want, y[size_t{i} * b->lie_columns + j], size * (a->lie_columns + 4) * 0x1p-24);
      }
  });
}

// The order of sums is the contract's, term by term: 2^24 takes a 1 that comes alone and not one that came together with another.
TEST_P(MatMulTest, AddsInTheOrderOfTheContract) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const uint32_t n = 3;
  for (const Lie lie : {Lie::kRows, Lie::kColumns}) {
    Matrix2 a(1, 32, Lie::kRows), b(32, n, lie);
    for (uint32_t k = 0; k < 32; ++k) {
      a.at(0, k) = 1.0f;
      for (uint32_t j = 0; j < n; ++j) b.at(k, j) = 0.0f;
    }
    for (uint32_t j = 0; j < n; ++j) {
      b.at(0, j) = 0x1p24f;
      b.at(1, j) = 1.0f;  // of one chain: lost. Of lane 1: joined with lane 9's before it meets lane 0's
      b.at(9, j) = 1.0f;
    }
    const std::vector<float> y = multiply(*GetParam(), a, b);
    for (uint32_t j = 0; j < n; ++j) EXPECT_EQ(lie == Lie::kRows ? 0x1p24f : 0x1p24f + 2.0f, y[j]);
  }
}

// However a product is written: a column's result is the row's of the sides changed.
TEST_P(MatMulTest, OneColumnHasTheBitsOfOneRow) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Random random(12);
  for (const Lie lie : {Lie::kRows, Lie::kColumns}) {
    Matrix2 a(37, 53, lie), x(53, 1, Lie::kRows);
    a.fill(&random, false);
    x.fill(&random, false);
    const std::vector<float> column = multiply(*GetParam(), a, x);
    std::vector<float> row(37);
    const MatMulArgs args = {x.first, a.first, row.data(), x.column, x.row, a.column, a.row, 1, 37, 53};
    GetParam()->matmul(&args);
    EXPECT_EQ(column, row);
  }
}

TEST_P(MatMulTest, HasTheBitsOfEveryFusedRow) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for_every_shape(false, [](Matrix2 *a, Matrix2 *b) {
    const std::vector<float> y = multiply(*GetParam(), *a, *b);
    for (const Kernel *peer : fused_peers(*GetParam())) ASSERT_EQ(y, multiply(*peer, *a, *b)) << peer->name;
  });
}

INSTANTIATE_TEST_SUITE_P(All, MatMulTest, testing::ValuesIn(kernels_of({KernelFamily::kMatMul})), kernel_name);

}  // namespace
}  // namespace rnnp
