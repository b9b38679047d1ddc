// state_names.cpp -- Contract: state_names.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/state_names.h"

namespace rnnp::compiler {
namespace {

std::string in_lower_case(std::string text) {
  for (char &c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

bool carries_on(const std::string &output, const std::string &input) {
  std::string stem = in_lower_case(input);
  if (stem.size() > 1 && stem.back() == '0') {
    stem.pop_back();
    return in_lower_case(output).compare(0, stem.size(), stem) == 0 && output.size() <= stem.size() + 1;
  }
  for (const char *tail : {"in", "_"}) {
    const std::string end = tail;
    if (stem.size() > end.size() && stem.compare(stem.size() - end.size(), end.size(), end) == 0)
      stem.resize(stem.size() - end.size());
  }
  return in_lower_case(output).find(stem) != std::string::npos;
}

}  // namespace rnnp::compiler
