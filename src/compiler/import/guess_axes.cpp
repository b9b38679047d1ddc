// guess_axes.cpp -- Contract: guess_axes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/guess_axes.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {

namespace {

bool is_named_batch(const DeclaredDim &dim) {
  std::string name = dim.name;
  for (char &c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name == "b" || name == "n" || name.find("batch") != std::string::npos;
}

// The axes that the file calls so, wherever they stand; of inputs without one the first, where it is open and has no name.
bool mark_named_batch(const OnnxModel &model, Origins *origins) {
  const bool any = std::any_of(model.inputs.begin(), model.inputs.end(), [](const DeclaredInput &input) {
    return std::any_of(input.dims.begin(), input.dims.end(), is_named_batch);
  });
  for (size_t i = 0; i < model.inputs.size() && any; ++i) {
    const auto &dims = model.inputs[i].dims;
    const auto named = std::find_if(dims.begin(), dims.end(), is_named_batch);
    const bool first = named == dims.end() && !dims.empty() && dims[0].value == 0 && dims[0].name.empty();
    if (named == dims.end() && !first) continue;
    const int origin = origins->of(i, first ? 0 : static_cast<size_t>(named - dims.begin()));
    if (origins->role(origin) == AxisRole::kUnknown)
      origins->mark(origin, AxisRole::kBatch, first ? "other inputs have one that is named so" : "it is named so");
  }
  return any;
}

// Axis 0 of the inputs of the highest rank; false where they differ there.
bool mark_first_axes(const OnnxModel &model, Origins *origins) {
  size_t rank = 0;
  for (const DeclaredInput &input : model.inputs) rank = std::max(rank, input.dims.size());
  std::set<int64_t> sizes;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (rank > 0 && model.inputs[i].dims.size() == rank && model.inputs[i].dims[0].value)
      sizes.insert(model.inputs[i].dims[0].value);
  }
  if (sizes.size() > 1) return false;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (rank > 0 && model.inputs[i].dims.size() == rank)
      origins->mark(origins->of(i, 0), AxisRole::kBatch, "no recurrent layer says which, and it is the first");
  }
  return true;
}

}  // namespace

void guess_without_recurrent(const OnnxModel &model, Origins *origins) {
  if (!mark_named_batch(model, origins) && !mark_first_axes(model, origins)) return;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    for (size_t axis = 0; axis < model.inputs[i].dims.size(); ++axis) {
      const int origin = origins->of(i, axis);
      if (origins->dynamic(origin) && origins->role(origin) == AxisRole::kUnknown && !origins->any(AxisRole::kTime)) {
        origins->mark(origin, AxisRole::kTime, "no recurrent layer says which, and its size is open");
      }
    }
  }
}

bool mark_batch_beside_time(const OnnxModel &model, Origins *origins) {
  bool dynamic = false, marked = false;
  int64_t batch = 0;
  // Where sizes differ, the reading itself says so better.
  if (origins->any(AxisRole::kBatch) && refusal_of([&] { batch = origins->common_size(AxisRole::kBatch, &dynamic); })) return false;
  if (batch == 0 || dynamic) return false;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const size_t rank = model.inputs[i].dims.size();
    bool has_time = false, has_batch = false;
    for (size_t axis = 0; axis < rank; ++axis) {
      has_time = has_time || (axis > 0 && origins->role(origins->of(i, axis)) == AxisRole::kTime);
      has_batch = has_batch || origins->role(origins->of(i, axis)) == AxisRole::kBatch;
    }
    if (!has_time || has_batch || origins->role(origins->of(i, 0)) != AxisRole::kUnknown) continue;
    if (model.inputs[i].dims[0].value != batch) continue;
    origins->mark(origins->of(i, 0), AxisRole::kBatch, "it stands before a time axis and has the batch's size");
    marked = true;
  }
  return marked;
}

}  // namespace rnnp::compiler
