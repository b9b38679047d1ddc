// json_value.h -- a value of a JSON file with the path to it, which begins every refusal: "config.layers[2].channels: ...".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_JSON_JSON_VALUE_H_
#define RNNPACK_COMPILER_JSON_JSON_VALUE_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rnnp::compiler {

class JsonValue {
 public:
  explicit JsonValue(const nlohmann::ordered_json &value, std::string path = "") : value_(&value), path_(std::move(path)) {}

  // Each throws ModelError where the value is not of the kind asked for.
  JsonValue at(const char *key) const;
  // The member, or nothing where there is none or it is null.
  std::optional<JsonValue> find(const char *key) const;
  JsonValue operator[](size_t index) const;
  size_t size() const;  // of an array
  std::string text() const;
  bool boolean() const;
  double number() const;  // finite as a float too
  int64_t integer(int64_t least, int64_t most) const;
  // Of an array of numbers, or of arrays of them to any depth: all of them, and the sizes where all are the same.
  std::vector<float> numbers() const;
  std::vector<float> numbers(std::vector<int64_t> *shape) const;

  // Throws ModelError for a member that is neither in `known`, nor null, nor false: it may change what the network computes.
  void expect_members(std::initializer_list<const char *> known) const;

  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }
  bool is_text() const { return value_->is_string(); }
  bool is_number() const { return value_->is_number(); }
  bool is_boolean() const { return value_->is_boolean(); }
  bool is_false() const { return value_->is_boolean() && !value_->get<bool>(); }
  const nlohmann::ordered_json &json() const { return *value_; }
  const std::string &path() const { return path_; }

  [[noreturn]] void refuse(const std::string &what) const;

 private:
  void append(std::vector<float> *out, std::vector<int64_t> *shape, size_t depth) const;
  const nlohmann::ordered_json *value_;
  std::string path_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_JSON_JSON_VALUE_H_
