// random_inputs.cpp -- Contract: random_inputs.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/random_inputs.h"

#include <cstdio>
#include <optional>

namespace rnnp::compiler {
namespace {

struct Range {
  int32_t first, last;
};

// Of the integers that an input holds; nothing where it holds real ones.
std::optional<Range> integers(const rnnp_tensor_info &facts, int64_t steps, int elem_type) {
  if (facts.dtype == RNNP_DTYPE_I32) return Range{0, static_cast<int32_t>(facts.limit != 0 ? int64_t{facts.limit} - 1 : steps)};
  switch (elem_type) {
    case kOnnxBool:
      return Range{0, 1};
    case kOnnxUint8:
      return Range{0, 255};
    case kOnnxInt8:
      return Range{-128, 127};
    case kOnnxInt16:
    case kOnnxUint16:
    case kOnnxInt32:
    case kOnnxUint32:
    case kOnnxInt64:
    case kOnnxUint64:
      return Range{0, 9};  // what they count is not known: few enough to be places of anything
    default:
      return std::nullopt;
  }
}

}  // namespace

ElementTypes element_types(const OnnxModel &model) {
  ElementTypes types;
  for (const DeclaredInput &input : model.inputs) types[input.name] = input.elem_type;
  return types;
}

Array draw_array(const rnnp_tensor_info &facts, int elem_type, int64_t steps, int64_t batch, bool steps_in_front, double deviation,
                 std::mt19937 *random) {
  Array array;
  if (steps_in_front) array.shape.push_back(steps);
  for (uint32_t i = 0; i < facts.rank; ++i) {
    array.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? steps : facts.dims[i] == RNNP_DIM_BATCH ? batch : facts.dims[i]);
  }
  const size_t count = static_cast<size_t>(element_count(array.shape));
  array.is_int = facts.dtype == RNNP_DTYPE_I32;
  std::normal_distribution<float> normal(0.0f, 1.0f);
  const std::optional<Range> range = integers(facts, steps, elem_type);
  std::uniform_int_distribution<int32_t> whole(range ? range->first : 0, range ? range->last : 0);
  if (array.is_int) {
    array.i32.resize(count);
    for (int32_t &v : array.i32) v = whole(*random);
  } else {
    array.f32.resize(count);
    for (float &v : array.f32) v = range ? static_cast<float>(whole(*random)) : static_cast<float>(deviation) * normal(*random);
  }
  return array;
}

std::string draw_text(const rnnp_tensor_info &facts, int elem_type, int64_t steps, double deviation) {
  char text[96];
  if (const std::optional<Range> range = integers(facts, steps, elem_type))
    std::snprintf(text, sizeof text, "drawn, integers from %d to %d", static_cast<int>(range->first),
                  static_cast<int>(range->last));
  else
    std::snprintf(text, sizeof text, "drawn, normal distribution, mean 0, deviation %g", deviation);
  return text;
}

}  // namespace rnnp::compiler
