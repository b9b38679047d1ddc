// integer_bounds.cpp -- Contract: integer_bounds.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/integer_bounds.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/import/input_kinds.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr double kLargestInteger = 1 << 24;

// Numbers this large in messages are taken for stand-ins of open sizes.
std::string power_text(double v) {
  return "2^" + std::to_string(static_cast<int>(std::ceil(std::log2(v))));
}

IntegerBounds products(const IntegerBounds &a, const IntegerBounds &b) {
  const auto all = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  return {std::min(all), std::max(all)};
}

}  // namespace

IntegerBounds bounds_of_type(int64_t elem_type) {
  switch (elem_type) {
    case kOnnxBool:
      return {0, 1};
    case kOnnxInt8:
      return {-128, 127};
    case kOnnxUint8:
      return {0, 255};
    default:
      return {};
  }
}

IntegerBounds bounds_of(const Tensor &integers) {
  if (integers.data.empty()) return {};
  IntegerBounds bounds = {integers.data[0], integers.data[0]};
  for (const double v : integers.data) {
    if (static_cast<double>(static_cast<float>(v)) != v)
      throw Refusal("it computes with an integer of up to " + power_text(std::fabs(v)) +
                    " at run time that float32 does not hold; accepted: up to 2^24");
    bounds = hull(bounds, {v, v});
  }
  return bounds;
}

IntegerBounds bounds_after(Binary op, const IntegerBounds &a, const IntegerBounds &b) {
  const double size = std::max(std::fabs(a.least), std::fabs(a.most));
  switch (op) {
    case Binary::kAdd:
      return {a.least + b.least, a.most + b.most};
    case Binary::kSub:
      return {a.least - b.most, a.most - b.least};
    case Binary::kMul:
      return products(a, b);
    case Binary::kDiv: {  // by less than 1 in size is by zero
      const double by = b.least > 0 ? b.least : b.most < 0 ? -b.most : 1;
      return {-std::ceil(size / by), std::ceil(size / by)};
    }
    case Binary::kMin:
    case Binary::kMax:
      return hull(a, b);
    default:
      return {0, 1};  // a comparison
  }
}

void check_held(const IntegerBounds &bounds) {
  const double most = std::max(-bounds.least, bounds.most);
  if (most > kLargestInteger)
    throw Refusal("its integers may reach " + power_text(most) +
                  "; accepted: up to 2^24, all of which float32 holds (integers of inputs and casts are taken as up to 4096)");
}

void check_narrowing(const IntegerBounds &bounds, int elem_type) {
  const IntegerBounds held = bounds_of_type(elem_type);
  const bool is_narrow = held.most <= 255;
  if (is_narrow && (bounds.least < held.least || bounds.most > held.most))
    throw Refusal("its integers may be beyond what " + elem_type_name(elem_type) +
                  " holds, and would wrap round; accepted: INT32 and INT64");
}

}  // namespace rnnp::compiler
