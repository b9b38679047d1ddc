// draw.cpp -- Contract: draw.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/draw.h"

#include <cstdio>

namespace rnnp::compiler {
namespace {

int32_t largest(const rnnp_tensor_facts &facts, int64_t steps) {
  return facts.limit != 0 ? static_cast<int32_t>(facts.limit) - 1 : static_cast<int32_t>(steps);
}

}  // namespace

Array draw_array(const rnnp_tensor_facts &facts, int64_t steps, int64_t batch, bool steps_in_front, double deviation,
                 std::mt19937 *random) {
  Array array;
  if (steps_in_front) array.shape.push_back(steps);
  for (uint32_t i = 0; i < facts.rank; ++i) {
    array.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? steps : facts.dims[i] == RNNP_DIM_BATCH ? batch : facts.dims[i]);
  }
  const size_t count = static_cast<size_t>(element_count(array.shape));
  array.is_int = facts.dtype == RNNP_DTYPE_I32;
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::uniform_int_distribution<int32_t> integer(0, largest(facts, steps));
  for (size_t i = 0; i < count; ++i) {
    if (array.is_int)
      array.i32.push_back(integer(*random));
    else
      array.f32.push_back(static_cast<float>(deviation) * normal(*random));
  }
  return array;
}

std::string draw_text(const rnnp_tensor_facts &facts, int64_t steps, double deviation) {
  char text[96];
  if (facts.dtype == RNNP_DTYPE_I32)
    std::snprintf(text, sizeof text, "drawn, integers from 0 to %d", static_cast<int>(largest(facts, steps)));
  else
    std::snprintf(text, sizeof text, "drawn, normal distribution, mean 0, deviation %g", deviation);
  return text;
}

}  // namespace rnnp::compiler
