// panel_choice.cpp -- Contract: panel_choice.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/panel_choice.h"

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct Target {
  const char *name;
  uint32_t nr;
};
constexpr Target kTargets[] = {{"generic", 16}, {"avx512", 16}, {"avx2", 16}, {"neon", 16}, {"armv7", 8}, {"cortex-m", 4}};

struct WeightType {
  const char *name;
  DType dtype;
};
constexpr WeightType kWeightTypes[] = {{"f32", DType::kF32}, {"f16", DType::kF16}, {"bf16", DType::kBf16}, {"int8", DType::kI8}};

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

}  // namespace

uint32_t panel_width(const std::string &target) {
  return find(kTargets, target, "target").nr;
}
DType weight_type(const std::string &name) {
  return find(kWeightTypes, name, "type of weights").dtype;
}

PanelFormat dense_panels(DType weight, uint32_t nr) {
  for (const PanelFormat &f : kPanelFormats) {
    if (f.weight == weight && f.nr == nr && f.index_bytes == 0) return f;
  }
  return {};
}

std::string target_names() {
  return names(kTargets);
}
std::string weight_type_names() {
  return names(kWeightTypes);
}

}  // namespace rnnp::compiler
