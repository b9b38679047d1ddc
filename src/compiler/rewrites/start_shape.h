// start_shape.h -- sizes that a loop leaves to the graph around it: the shape of a state where the body declares none, which is
// that of the value it starts from, and the number of trips where it is the size of an axis. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_START_SHAPE_H_
#define RNNPACK_COMPILER_REWRITES_START_SHAPE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// Sizes that are known at run time only are left open. Nothing where not even the rank is known.
std::optional<std::vector<DeclaredDim>> start_shape(const OnnxModel &model, const std::string &name);

// A constant of one element, or the size of an axis, which may be open.
std::optional<DeclaredDim> number_or_size(const OnnxModel &model, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_START_SHAPE_H_
