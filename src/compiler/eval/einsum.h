// einsum.h -- the equation of an Einsum node as labels. Shared by the evaluator and the importer. Pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_EINSUM_H_
#define RNNPACK_COMPILER_EVAL_EINSUM_H_

#include <string>
#include <vector>

#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// A label is a letter or an axis under an ellipsis; all that counts is which are equal.
struct EinsumSpec {
  std::vector<std::vector<int>> in;  // per input: a label for each axis, repeated where the equation takes a diagonal
  std::vector<int> out;              // of the output, each once
  std::vector<int> all;              // the output's, then those that are summed over
};

// Throws Refusal when the equation is malformed or does not fit inputs of these ranks.
EinsumSpec einsum_spec(const std::string &equation, const std::vector<size_t> &ranks);
// The size of every label of `all`; axes of size 1 broadcast.
Shape einsum_sizes(const EinsumSpec &spec, const std::vector<Shape> &shapes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_EINSUM_H_
