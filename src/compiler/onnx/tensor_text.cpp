// tensor_text.cpp -- Contract: tensor_text.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensor_text.h"

#include <algorithm>
#include <cmath>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {

std::string index_text(const Shape &shape, size_t at) {
  Shape index(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] <= 0) continue;
    index[i] = static_cast<int64_t>(at % static_cast<size_t>(shape[i]));
    at /= static_cast<size_t>(shape[i]);
  }
  return shape_text(index);
}

std::string not_finite_text(const Tensor &tensor, bool infinite_only) {
  const auto is_meant = [&](double v) { return infinite_only ? std::isinf(v) : !std::isfinite(v); };
  const int64_t at = tensor.data.numbers().as_they_are([&](const auto *numbers) {
    return static_cast<int64_t>(std::find_if(numbers, numbers + tensor.size(), is_meant) - numbers);
  });
  if (at == tensor.size()) return "";
  const double v = tensor.data.numbers()[at];
  return (std::isnan(v) ? "nan at " : v < 0 ? "-inf at " : "inf at ") + index_text(tensor.shape, static_cast<size_t>(at));
}

}  // namespace rnnp::compiler
