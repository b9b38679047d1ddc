// problem.cpp -- the wording that all refusals share. Contract: problem.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

void Problems::add(const std::string &node, const std::string &op, const std::string &what) {
  std::string line = node.empty() ? op : "node " + quote(node) + " (" + op + ")";
  line += ": " + what;
  if (seen_.insert(line).second) lines_.push_back(line);
}

void Problems::raise() const {
  if (lines_.empty()) return;
  std::string text;
  for (const std::string &line : lines_) text += (text.empty() ? "" : "\n") + line;
  throw ModelError(text);
}

std::string quote(const std::string &name) {
  constexpr size_t kLongest = 200;
  std::string out = "'";
  for (char c : name.substr(0, kLongest)) out += (c < ' ' || c == 127) ? '?' : c;
  return out + (name.size() > kLongest ? "...'" : "'");
}

std::string shape_text(const std::vector<int64_t> &shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

}  // namespace rnnp::compiler
