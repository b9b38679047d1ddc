// option_row.cpp -- Contract: option_row.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/options/option_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

[[noreturn]] void refuse_value(const std::string &key, const std::string &value, const std::string &accepted) {
  throw UsageError("option " + key + ": " + quote(value) + "; accepted: " + accepted);
}

// The number that `text` begins with, and what follows it.
uint64_t leading_number(const std::string &text, std::string *rest) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  *rest = read.ec == std::errc() ? std::string(read.ptr, text.data() + text.size()) : "?";
  return number;
}

struct Setter {
  const std::string &key, &value;

  void operator()(std::string *to) const { *to = value; }
  void operator()(std::vector<std::string> *to) const { to->push_back(value); }
  void operator()(bool *to) const { *to = true; }
  void operator()(std::optional<double> *to) const {
    char *end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || *end != '\0' || !std::isfinite(number) || std::fabs(number) > 1e30)
      refuse_value(key, value, "a finite number");
    *to = number;
  }
  void operator()(const CountOption &count) const {
    std::string rest;
    const uint64_t number = leading_number(value, &rest);
    if (!rest.empty() || number < count.least || number > count.most)
      refuse_value(key, value, std::to_string(count.least) + " to " + std::to_string(count.most));
    *count.to = static_cast<uint32_t>(number);
  }
  void operator()(const WordOption &word) const {
    std::string accepted;
    for (const std::string &one : word.accepted) accepted += (accepted.empty() ? "" : ", ") + one;
    if (std::find(word.accepted.begin(), word.accepted.end(), value) == word.accepted.end()) refuse_value(key, value, accepted);
    *word.to = value;
  }
  void operator()(const ByteCountOption &bytes) const {
    const std::optional<uint64_t> count = byte_count(value);
    if (!count) refuse_value(key, value, kByteCounts);
    *bytes.to = *count;
  }
};

struct Teller {
  const std::string key;

  std::vector<std::string> operator()(const std::string *to) const { return {key + "=" + *to}; }
  std::vector<std::string> operator()(const std::vector<std::string> *to) const {
    std::vector<std::string> texts;
    for (const std::string &value : *to) texts.push_back(key + "=" + value);
    return texts;
  }
  std::vector<std::string> operator()(const bool *to) const {
    return *to ? std::vector<std::string>{key} : std::vector<std::string>();
  }
  std::vector<std::string> operator()(const std::optional<double> *to) const {
    if (!*to) return {};
    char number[32];
    std::snprintf(number, sizeof number, "%.17g", **to);
    return {key + "=" + number};
  }
  std::vector<std::string> operator()(const CountOption &count) const { return {key + "=" + std::to_string(*count.to)}; }
  std::vector<std::string> operator()(const WordOption &word) const { return {key + "=" + *word.to}; }
  std::vector<std::string> operator()(const ByteCountOption &bytes) const {
    return *bytes.to ? std::vector<std::string>{key + "=" + std::to_string(**bytes.to)} : std::vector<std::string>();
  }
};

}  // namespace

std::optional<uint64_t> byte_count(const std::string &text) {
  std::string unit;
  const uint64_t number = leading_number(text, &unit);
  for (char &c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  const std::string units = "kmgtpe";
  const size_t at = unit.empty() ? std::string::npos : units.find(unit[0]);
  const std::string tail = at == std::string::npos ? unit : unit.substr(1);
  const unsigned shift = at == std::string::npos ? 0 : 10 * (static_cast<unsigned>(at) + 1);
  const bool known = tail.empty() || tail == "b" || (shift != 0 && tail == "ib");
  if (!known || number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

std::string OptionRow::key() const {
  const size_t dashes = name.rfind("--");
  return dashes == std::string::npos ? name : name.substr(dashes + 2);
}

void set_option(const OptionRows &rows, const std::string &text) {
  const size_t equals = text.find('=');
  const std::string key = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow &one) { return one.key() == key; });
  if (row == rows.end()) {
    std::string known;
    for (const OptionRow &one : rows) known += (known.empty() ? "" : ", ") + one.key();
    throw UsageError("there is no option " + quote(key) + "; accepted: " + known);
  }
  const bool is_flag = std::holds_alternative<bool *>(row->to);
  if (is_flag && equals != std::string::npos) throw UsageError("option " + key + " is a flag; accepted: " + quote(key) + " alone");
  if (!is_flag && equals == std::string::npos) throw UsageError("option " + key + " has no value; accepted: " + key + "=VALUE");
  std::visit(Setter{key, value}, row->to);
}

std::vector<std::string> set_texts(const OptionRow &row) {
  return std::visit(Teller{row.key()}, row.to);
}

}  // namespace rnnp::compiler
