// json_value.cpp -- Contract: json_value.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/json/json_value.h"

#include <algorithm>
#include <cmath>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

void JsonValue::refuse(const std::string &what) const {
  const std::string place = quote(path_.empty() ? "the file" : path_);
  throw ModelError((path_.empty() ? "the file" : place.substr(1, place.size() - 2)) + ": " + what);
}

JsonValue JsonValue::at(const char *key) const {
  if (!value_->is_object()) refuse("an object is expected");
  const auto found = value_->find(key);
  if (found == value_->end()) refuse(std::string("it has no '") + key + "'");
  return JsonValue(*found, path_.empty() ? key : path_ + "." + key);
}

std::optional<JsonValue> JsonValue::find(const char *key) const {
  if (!value_->is_object() || !value_->contains(key) || (*value_)[key].is_null()) return std::nullopt;
  return at(key);
}

JsonValue JsonValue::operator[](size_t index) const {
  if (index >= size()) refuse("it has " + std::to_string(size()) + " elements; more are expected");
  return JsonValue((*value_)[index], path_ + "[" + std::to_string(index) + "]");
}

size_t JsonValue::size() const {
  if (!value_->is_array()) refuse("an array is expected");
  return value_->size();
}

void JsonValue::expect_members(std::initializer_list<const char *> known) const {
  for (const auto &member : value_->items()) {
    const bool off = member.value().is_null() || member.value() == false;
    if (!off && std::find(known.begin(), known.end(), member.key()) == known.end())
      refuse("its member " + quote(member.key()) + " is not known: the file is newer");
  }
}

std::string JsonValue::text() const {
  if (!value_->is_string()) refuse("a text is expected");
  return value_->get<std::string>();
}

bool JsonValue::boolean() const {
  if (!value_->is_boolean()) refuse("true or false is expected");
  return value_->get<bool>();
}

double JsonValue::number() const {
  if (!value_->is_number()) refuse("a number is expected");
  const double value = value_->get<double>();
  if (!std::isfinite(static_cast<float>(value))) refuse("the number is too large for a float");
  return value;
}

int64_t JsonValue::integer(int64_t least, int64_t most) const {
  const double value = number();
  if (value != std::floor(value) || value < static_cast<double>(least) || value > static_cast<double>(most))
    refuse("it is " + value_->dump() + "; accepted: integers from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<int64_t>(value);
}

std::vector<float> JsonValue::numbers() const {
  std::vector<int64_t> shape;
  return numbers(&shape);
}

std::vector<float> JsonValue::numbers(std::vector<int64_t> *shape) const {
  std::vector<float> out;
  shape->clear();
  append(&out, shape, 0);
  return out;
}

void JsonValue::append(std::vector<float> *out, std::vector<int64_t> *shape, size_t depth) const {
  constexpr size_t kDeepest = 8;
  const int64_t count = static_cast<int64_t>(size());
  if (depth == shape->size()) {
    if (depth == kDeepest) refuse("arrays are nested too deep");
    shape->push_back(count);
  } else if ((*shape)[depth] != count) {
    refuse("it has " + std::to_string(count) + " elements, its neighbours " + std::to_string((*shape)[depth]));
  }
  for (size_t i = 0; i < value_->size(); ++i) {
    const nlohmann::ordered_json &element = (*value_)[i];
    if (element.is_array()) {
      (*this)[i].append(out, shape, depth + 1);
    } else {
      if (depth + 1 != shape->size()) (*this)[i].refuse("an array is expected, as its neighbours are");
      const double value = element.is_number() ? element.get<double>() : (*this)[i].number();
      if (!std::isfinite(static_cast<float>(value))) (*this)[i].number();
      out->push_back(static_cast<float>(value));
    }
  }
}

}  // namespace rnnp::compiler
