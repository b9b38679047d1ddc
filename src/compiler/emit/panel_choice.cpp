// panel_choice.cpp -- Contract: panel_choice.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/panel_choice.h"

#include <cctype>
#include <cstdlib>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct Target {
  const char *name;
  uint32_t nr;
  bool fast_blocks;  // vector kernels for sparse panels
  Scales bytes;      // of dense int8
};
constexpr Target kTargets[] = {{"generic", 16, true, Scales::kPerUnit}, {"avx512", 16, true, Scales::kPerUnit},
                               {"avx2", 16, true, Scales::kPerUnit},    {"neon", 16, true, Scales::kPerUnit},
                               {"armv7", 8, false, Scales::kPerUnit},   {"cortex-m", 4, false, Scales::kPerUnit},
                               {"cortex-m4", 4, false, Scales::kSmlad}, {"cortex-m55", 4, false, Scales::kKMajor16}};

struct TypeName {
  const char *name;
  WeightType type;
};
constexpr TypeName kWeightTypes[] = {{"f32", {DType::kF32, 0}},
                                     {"f16", {DType::kF16, 0}},
                                     {"bf16", {DType::kBf16, 0}},
                                     {"int8", {DType::kI8, 0}},
                                     {"int4", {DType::kI4, kLeastGroup}},
                                     {"q8_0", {DType::kI8, kLeastGroup}},
                                     {"q4_0", {DType::kI4, kLeastGroup, true}}};

template <class Row, size_t kCount>
std::string names(const Row (&rows)[kCount]) {
  std::string list;
  for (const Row &row : rows) list += (list.empty() ? "" : ", ") + std::string(row.name);
  return list;
}

template <class Row, size_t kCount>
const Row &find(const Row (&rows)[kCount], const std::string &name, const std::string &what) {
  for (const Row &row : rows) {
    if (name == row.name) return row;
  }
  throw UsageError("unknown " + what + " " + quote(name) + "; accepted: " + names(rows));
}

// "int4:64": of k that share a scale. A multiple of kLeastGroup.
uint32_t group_of(const std::string &text) {
  constexpr unsigned long kMost = 1u << 16;
  char *end = nullptr;
  const unsigned long n =
      text.empty() || !std::isdigit(static_cast<unsigned char>(text[0])) ? 0 : std::strtoul(text.c_str(), &end, 10);
  if (n != 0 && *end == 0 && n <= kMost && n % kLeastGroup == 0) return static_cast<uint32_t>(n);
  throw UsageError("a group of " + quote(text) + " k; accepted: a multiple of " + std::to_string(kLeastGroup) + " up to " +
                   std::to_string(kMost));
}

}  // namespace

uint32_t panel_width(const std::string &target) {
  return find(kTargets, target, "target").nr;
}
Scales byte_scales(const std::string &target) {
  return find(kTargets, target, "target").bytes;
}
bool has_fast_blocks(const std::string &target) {
  return find(kTargets, target, "target").fast_blocks;
}
WeightType weight_type(const std::string &name) {
  const size_t colon = name.find(':');
  const TypeName &row = find(kWeightTypes, name.substr(0, colon), "type of weights");
  if (colon == std::string::npos) return row.type;
  if (std::string(row.name) != "int4") throw UsageError(quote(name) + " has a group of k; accepted: with int4 only, as int4:64");
  return {row.type.type, group_of(name.substr(colon + 1))};
}

std::string weight_type_name(const WeightType &type) {
  const bool has_group = type.type == DType::kI4 && type.group_k != kLeastGroup;
  for (const TypeName &row : kWeightTypes) {
    const bool same_groups = (row.type.group_k != 0) == (type.group_k != 0);
    if (row.type.type == type.type && (same_groups || type.type == DType::kI4))
      return row.name + (has_group ? ":" + std::to_string(type.group_k) : std::string());
  }
  return "?";
}

PanelFormat panels_of(const Storage &storage, uint32_t nr, Scales bytes) {
  DType factor = storage.rounds_lhs ? DType::kBf16 : DType::kF32;
  Scales scales = Scales::kUnscaled;
  if (storage.fixed) {
    factor = DType::kI32;
    scales = Scales::kIntegerOnly;
  } else if (is_quantised(storage.type)) {
    factor = DType::kI8;
    scales = storage.group_k != 0 || storage.type == DType::kI4 ? Scales::kPerGroup
             : storage.index_bytes != 0                         ? Scales::kPerUnit
                                                                : bytes;
  }
  for (const PanelFormat &f : kPanelFormats) {
    if (f.weight == storage.type && f.factor == factor && f.scales == scales && f.nr == nr && f.index_bytes == storage.index_bytes)
      return f;
  }
  return {};
}
PanelFormat dense_panels(DType weight, uint32_t nr) {
  Storage storage;
  storage.type = weight;
  return panels_of(storage, nr);
}

std::string target_names() {
  return names(kTargets);
}
std::string weight_type_names() {
  std::string list = names(kWeightTypes);
  return list.insert(list.find("int4") + 4, "[:GROUP]");
}

}  // namespace rnnp::compiler
