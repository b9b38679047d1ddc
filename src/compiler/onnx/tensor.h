// tensor.h -- a dense tensor whose elements read as doubles whatever its ONNX type is; the currency of folding and of the
// evaluator. Integers are exact up to 2^53; larger ones (slice ends such as INT64_MAX) saturate in to_int. Host only; pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_TENSOR_H_
#define RNNPACK_COMPILER_ONNX_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "compiler/onnx/dim.h"
#include "compiler/onnx/tensor_data.h"

namespace rnnp::compiler {

using Shape = std::vector<int64_t>;

enum class Elem : uint8_t { kFloat, kInt, kBool };

constexpr size_t kMaxTensorRank = 64;

// A stored tensor is at most this large (the file holds its bytes), a computed one at most kMaxComputedElems (a small file could
// ask for any size).
constexpr int64_t kMaxTensorElems = int64_t{1} << 29;
constexpr int64_t kMaxComputedElems = int64_t{1} << 26;

struct Tensor {
  Elem elem = Elem::kFloat;
  Shape shape;
  TensorData data;
  // Empty, or what each element is: some follow from dimensions that are open until run time. Their places in `data` then hold
  // stand-ins, which may shape tensors but never enter their arithmetic.
  std::vector<Dim> dims;
  // OnnxType in which the file has these numbers; 0: they are computed. It and the steps move with the data
  // while constants are folded.
  int file_type = 0;
  // Empty, or for each element of a float tensor the number of which the file has a whole multiple here; 0: of none.
  std::vector<float> steps;

  Tensor() = default;
  // Zeros. Throws Refusal when a dimension is negative or the whole is too large, or more than the thread's Budget has left. Copies
  // are charged to it as well.
  Tensor(Elem type, Shape dims, int64_t limit = kMaxComputedElems, bool as_floats = false);
  Tensor(const Tensor &other);
  Tensor &operator=(const Tensor &other) { return *this = Tensor(other); }
  Tensor(Tensor &&) = default;
  Tensor &operator=(Tensor &&) = default;
  ~Tensor() = default;

  int64_t size() const { return static_cast<int64_t>(data.size()); }
  size_t rank() const { return shape.size(); }
  bool is_dynamic() const;
  // Element i as an integer, whether it is open or not.
  Dim dim(size_t i) const;
};

// Product of the dimensions; throws Refusal when one is negative or the product exceeds `limit`.
int64_t element_count(const Shape &shape, int64_t limit = kMaxComputedElems);
// Elements from one index to the next, per axis, row-major.
Shape dense_strides(const Shape &shape);
// Nearest 64-bit integer, saturating, NaN as 0.
int64_t to_int(double value);
std::vector<int64_t> to_ints(const Tensor &tensor);
Tensor int_tensor(const std::vector<int64_t> &values);
Tensor dim_tensor(const std::vector<Dim> &values);
// The elements as dimensions.
std::vector<Dim> to_dims(const Tensor &tensor);
// Wraps a negative axis; throws Refusal when it is outside [-rank, rank).
size_t normal_axis(int64_t axis, size_t rank);
// An element of an axis, counted from its end below 0; throws Refusal.
size_t normal_index(int64_t index, int64_t size);

// The steps as a tensor of the same shape, so that what moves the numbers can move them.
Tensor steps_tensor(const Tensor &tensor);
// What panels of weights may be stored as to hold these numbers as the file has them; kF32 where it has floats of 32 bits and more,
// or integers that have been calculated with.
DType stored_type(const Tensor &tensor);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_TENSOR_H_
