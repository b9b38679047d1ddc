// operator_table.cpp -- Contract: operator_table.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/operator_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"
#include "compiler/import/import.h"

namespace rnnp::compiler {

namespace {

// "head name, name, name." in lines that fit a page.
std::string in_lines(const std::string &head, const std::vector<std::string> &names) {
  std::string text = head, line;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string word = names[i] + (i + 1 < names.size() ? "," : ".");
    const bool full = line.size() + word.size() > 128 - (text == head ? head.size() : 0);
    if (full) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() && text != head ? "" : " ") + word;
  }
  return text + line + "\n";
}

}  // namespace

std::string operator_table() {
  std::map<std::string, const ImportRow *> rows;
  for (const auto *table : import_tables()) {
    for (const ImportRow &row : *table) {
      if (*row.limits) rows[row.op_type] = &row;  // the importer's own have none
    }
  }
  // Operators with one opset and one limit share a line, in the place of the first of them.
  std::vector<std::pair<std::string, std::string>> lines;  // names, and the rest of the line
  for (const auto &row : rows) {
    const std::string rest = " | " + std::to_string(row.second->since) + " | " + row.second->limits + " |\n";
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const auto &other) { return other.second == rest; });
    if (line == lines.end())
      lines.emplace_back(row.first, rest);
    else
      line->first += ", " + row.first;
  }
  std::string text = "| operators | first opset (last: " + std::to_string(kMaxOpset) + ") | limits |\n|---|---|---|\n";
  for (const auto &line : lines) text += "| " + line.first + line.second;
  std::vector<std::string> folded;
  for (const std::string &name : eval_operators()) {
    if (rows.count(name) == 0) folded.push_back(name);
  }
  return text + "\n" + in_lines("Only where all inputs are constants:", folded);
}

}  // namespace rnnp::compiler
