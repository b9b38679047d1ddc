// problem.cpp -- the wording that all refusals share. Contract: problem.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// Nodes of one operator that are refused for the same cause are one line.
void Problems::add(const std::string &node, const std::string &op, const std::string &what) {
  const std::string line = (node.empty() ? op : "node " + quote(node) + " (" + op + ")") + ": " + what;
  const std::string cause = node.empty() ? line : op + ": " + what;
  const auto first = line_of_.emplace(cause, lines_.size());
  if (first.second) {
    lines_.push_back(line);
  } else if (lines_[first.first->second] != line && !node.empty()) {
    ++more_[cause];
  }
}

void Problems::raise() const {
  if (lines_.empty()) return;
  std::vector<std::string> lines = lines_;
  for (const auto &more : more_)
    lines[line_of_.at(more.first)] +=
        " (and so " + std::to_string(more.second) + (more.second == 1 ? " more node)" : " more nodes)");
  std::string text;
  for (const std::string &line : lines) text += (text.empty() ? "" : "\n") + line;
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
