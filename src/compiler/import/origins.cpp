// origins.cpp -- Contract: origins.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/origins.h"

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Large enough to meet no constant of a graph by chance, small enough that products of two and a row stay exact.
constexpr int64_t kStandIns[] = {4194319, 4194329, 4194371, 4194389, 4194437, 4194461, 4194493, 4194511};
constexpr size_t kStandInCount = sizeof kStandIns / sizeof kStandIns[0];

}  // namespace

Origins::Origins(const OnnxModel &model) {
  std::map<std::string, int> named;
  size_t next = 0;
  for (const DeclaredInput &input : model.inputs) {
    first_.push_back(static_cast<int>(sizes_.size()));
    for (const DeclaredDim &dim : input.dims) {
      const int origin = static_cast<int>(sizes_.size());
      parent_.push_back(origin);
      roles_.push_back(AxisRole::kUnknown);
      dynamic_.push_back(dim.value == 0);
      sizes_.push_back(dim.value ? dim.value : kStandIns[next % kStandInCount]);
      if (dim.value) continue;
      const auto found = dim.name.empty() ? named.end() : named.find(dim.name);
      if (found != named.end()) {
        sizes_.back() = size(found->second);
        unite(origin, found->second);
        continue;
      }
      if (!dim.name.empty()) named[dim.name] = origin;
      ++next;
    }
  }
}

Origins Origins::without_time(const OnnxModel &model) const {
  Origins out(model);
  for (int i = 0; i < static_cast<int>(sizes_.size()); ++i) {
    if (role(i) == AxisRole::kBatch) out.mark(i, AxisRole::kBatch);
  }
  return out;
}

Origins Origins::with_open_time() const {
  constexpr int64_t kStandIn = 4194523;
  Origins out = *this;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) != AxisRole::kTime) continue;
    out.sizes_[i] = kStandIn;
    out.dynamic_[i] = true;
  }
  return out;
}

int Origins::find(int origin) const {
  while (parent_[static_cast<size_t>(origin)] != origin) origin = parent_[static_cast<size_t>(origin)];
  return origin;
}

void Origins::unite(int a, int b) {
  const int x = find(a), y = find(b);
  if (x == y) return;
  const AxisRole role = roles_[static_cast<size_t>(y)];
  parent_[static_cast<size_t>(y)] = x;
  if (role != AxisRole::kUnknown) mark(x, role);
}

void Origins::mark(int origin, AxisRole role) {
  AxisRole &current = roles_[static_cast<size_t>(find(origin))];
  if (current != AxisRole::kUnknown && current != role) conflict_ = true;
  current = role;
}

void Origins::mark(const Axis &axis, AxisRole role) {
  if (axis.size() == 1 && axis[0].origin >= 0) mark(axis[0].origin, role);
}

AxisRole Origins::role(int origin) const {
  return roles_[static_cast<size_t>(find(origin))];
}

bool Origins::any(AxisRole wanted) const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) == wanted) return true;
  }
  return false;
}

int64_t Origins::common_size(AxisRole wanted, bool *is_dynamic) const {
  int64_t fixed = 0, stand_in = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) != wanted) continue;
    if (dynamic_[i]) {
      stand_in = sizes_[i];
    } else if (fixed && fixed != sizes_[i]) {
      throw Refusal(std::string("the ") + (wanted == AxisRole::kTime ? "time" : "batch") + " axes of its inputs have sizes " +
                    std::to_string(fixed) + " and " + std::to_string(sizes_[i]) + "; accepted: one size for all");
    } else {
      fixed = sizes_[i];
    }
  }
  *is_dynamic = fixed == 0 && stand_in != 0;
  return fixed ? fixed : stand_in ? stand_in : 1;
}

}  // namespace rnnp::compiler
