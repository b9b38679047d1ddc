// product.h -- products of two tensors with a label per axis, as Einsum has them; MatMul is the same with labels of its own.
// A constant factor gives dense nodes, two factors made at run time a matmul node. All throw Refusal.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_PRODUCT_H_
#define RNNPACK_COMPILER_IMPORT_PRODUCT_H_

#include <optional>
#include <string>

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// labels: one character per axis. The view counts where there is no constant.
struct Factor {
  std::string labels;
  View view;
  std::optional<Tensor> constant;
};

// Sum over the labels that `out` lacks; an axis of size 1 broadcasts against the other factor's axis of the same label.
View product_of(Builder &b, Factor x, Factor y, const std::string &out, const std::string &name);
// A or B of a MatMul, and the labels of its result.
Factor factor_of(const OpCall &call, size_t i);
View matmul_of(Builder &b, Factor x, Factor y, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_PRODUCT_H_
