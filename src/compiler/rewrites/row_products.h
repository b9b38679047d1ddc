// row_products.h -- one step with its products on rows. Equinox multiplies weights with vectors, or with columns where it is mapped
// over a batch: W x becomes x W^T, and what was transposed around it is not. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_ROW_PRODUCTS_H_
#define RNNPACK_COMPILER_REWRITES_ROW_PRODUCTS_H_

#include <vector>

#include "compiler/onnx/rewrite.h"
#include "compiler/rewrites/match_cell.h"

namespace rnnp::compiler {

// The step's nodes, in order; new ones are the rewrite's. What nothing reads any more may be among them.
std::vector<const OnnxNode *> with_row_products(const StepGraph &step, Rewrite *rewrite);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_ROW_PRODUCTS_H_
