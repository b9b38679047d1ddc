// graph.cpp -- Contract: graph.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

namespace rnnp::compiler {

uint32_t Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<uint32_t>(values.size() - 1);
}

uint32_t Graph::add_const(std::vector<float> data) {
  Value value;
  value.kind = ValueKind::kConst;
  value.elems = static_cast<uint32_t>(data.size());
  value.f32 = std::move(data);
  return add_value(std::move(value));
}

uint32_t Graph::add_row(uint32_t elems, bool sequence) {
  Value value;
  value.kind = sequence ? ValueKind::kSequence : ValueKind::kRow;
  value.elems = elems;
  value.sequence = sequence;
  return add_value(std::move(value));
}

}  // namespace rnnp::compiler
