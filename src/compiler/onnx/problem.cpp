// problem.cpp -- the wording that all refusals share. Contract: problem.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/problem.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace rnnp::compiler {
namespace {

std::string try_line(const Remedy &remedy) {
  if (remedy.options.empty()) return remedy.why.empty() ? "" : "\n" + remedy.why;
  std::string text = "\ntry:";
  for (const std::string &option : remedy.options) text += " " + option;
  return text + (remedy.why.empty() ? "" : " (" + remedy.why + ")");
}

}  // namespace

ModelError::ModelError(const std::string &problems, const Remedy &remedy) : std::runtime_error(problems + try_line(remedy)) {}

// Nodes of one operator that are refused for the same cause are one line.
void Problems::add(const std::string &node, const std::string &op, const std::string &what, const Remedy &remedy) {
  const std::string line = (node.empty() ? op : "node " + quote(node) + " (" + op + ")") + ": " + what;
  const std::string cause = node.empty() ? line : op + ": " + what;
  const auto first = line_of_.emplace(cause, lines_.size());
  if (first.second) {
    lines_.push_back(line);
    remedies_.push_back(remedy);
  } else if (lines_[first.first->second] != line && !node.empty()) {
    ++more_[cause];
  }
}

Remedy Problems::remedy() const {
  Remedy all;
  for (const Remedy &one : remedies_) {
    if (one.options.empty()) return {};
    for (const std::string &option : one.options) {
      if (std::find(all.options.begin(), all.options.end(), option) == all.options.end()) all.options.push_back(option);
    }
    if (all.why.empty()) all.why = one.why;
  }
  return all;
}

void Problems::raise(const Remedy &remedy) const {
  if (lines_.empty()) return;
  std::vector<std::string> lines = lines_;
  for (const auto &more : more_)
    lines[line_of_.at(more.first)] +=
        " (and so " + std::to_string(more.second) + (more.second == 1 ? " more node)" : " more nodes)");
  std::string text;
  for (const std::string &line : lines) text += (text.empty() ? "" : "\n") + line;
  throw ModelError(text, remedy);
}

bool is_plain(const std::string &name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string("_-./:+").find(char(c)) != std::string::npos;
  });
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

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace rnnp::compiler
