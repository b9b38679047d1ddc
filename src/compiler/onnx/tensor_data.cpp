// tensor_data.cpp -- Contract: tensor_data.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensor_data.h"

#include <algorithm>
#include <cstring>

namespace rnnp::compiler {

void TensorData::widen() {
  doubles_.assign(floats_.begin(), floats_.end());
  floats_ = std::vector<float>();
}

void TensorData::narrow() {
  constexpr size_t kWorthIt = 256;
  // Not NaN, whose bits may not come back.
  const auto is_float = [](double v) { return static_cast<double>(static_cast<float>(v)) == v; };
  if (doubles_.size() < kWorthIt || !std::all_of(doubles_.begin(), doubles_.end(), is_float)) return;
  floats_.resize(doubles_.size());
  std::transform(doubles_.begin(), doubles_.end(), floats_.begin(), [](double v) { return static_cast<float>(v); });
  doubles_ = std::vector<double>();
}

bool operator==(const TensorData &a, const TensorData &b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool same_bits(const TensorData &a, const TensorData &b) {
  const auto same = [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

AsDoubles::AsDoubles(const TensorData &data) {
  if (data.are_floats()) copy_ = data.copied();
  at_ = data.are_floats() ? copy_.data() : data.numbers().as_they_are([](const auto *at) -> const double * {
    if constexpr (sizeof *at == sizeof(double)) return at;
    return nullptr;
  });
}

}  // namespace rnnp::compiler
