// exact_product.h -- products with a blob's matrices as docs/KERNELS.md defines them, in plain loops over numbers read back from
// the panels: whole sums of integers, then the fused multiply-adds in their order. Nothing of the kernels is used.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_EXACT_PRODUCT_H_
#define RNNPACK_COMPILER_VERIFY_EXACT_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "format/model.h"

namespace rnnp::compiler {

// A row that is multiplied by bytes: the bytes, what one is worth, and how many were cut to the largest.
struct ByteRow {
  std::vector<int32_t> bytes;
  float step = 0;
  size_t clipped = 0;
};
ByteRow byte_row(const float *x, size_t k, float lhs_scale);

// One matrix of a record, read back.
class ExactMatrix {
 public:
  // Whether it is of a format whose arithmetic is known here.
  static bool knows(const Matrix &matrix);
  ExactMatrix(const Matrix &matrix, uint32_t index);

  uint32_t rows() const { return rows_; }  // gates x units
  uint32_t k() const { return k_; }
  // Of int8 and int4: what is stored, [rows][k].
  const int32_t *integers() const { return integers_.data(); }
  // out[row] = start[row] + sum over k of x[k] times the weight; start is nullptr for zeros. May be the same memory.
  void multiply(const float *x, const float *start, float *out) const;

 private:
  void read_panels(const Matrix &matrix, const uint8_t *panels);
  void read_blocks(const Matrix &matrix);
  float product(const ByteRow &row, uint32_t i, float start) const;
  float product_of_blocks(const float *x, uint32_t i) const;
  float product_of_bf16(const float *x, uint32_t row, float start) const;

  uint32_t rows_, units_, k_;
  bool bytes_, rounds_lhs_, grouped_;
  uint32_t group_k_;
  uint32_t indexed_k_ = 0;  // of a sparse matrix
  float lhs_scale_;
  std::vector<float> weights_, scales_, diagonal_;
  std::vector<int32_t> integers_;
  std::vector<std::vector<uint32_t>> quads_;  // of a sparse matrix: what the index says of each row, in its order
};

// Numbers beside a matrix, [tiles][gates][NR], as [gates][units].
std::vector<float> unit_numbers(const float *packed, uint32_t gates, uint32_t units, uint32_t nr);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_EXACT_PRODUCT_H_
