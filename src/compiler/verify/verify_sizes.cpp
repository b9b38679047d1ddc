// verify_sizes.cpp -- Contract: verify_sizes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/verify_sizes.h"

#include <algorithm>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

// The size that an array which was given has along `which`; 0: none tells.
int64_t size_given(const Runner &runner, const Arrays &given, int32_t which) {
  for (const rnnp_tensor_info &facts : runner.inputs()) {
    const auto found = given.find(facts.name);
    if (found == given.end()) continue;
    const Shape shape = shape_in_blob(facts, found->second.shape);
    const size_t extra = shape.size() == facts.rank + 1 ? 1 : 0;
    if (extra && which == RNNP_DIM_STEPS) return shape[0];
    for (uint32_t i = 0; i < facts.rank && i + extra < shape.size(); ++i) {
      if (facts.dims[i] == which) return shape[i + extra];
    }
  }
  return 0;
}

// The size that the ONNX file fixes; 0: any; -1: no input has such an axis.
int64_t size_declared(const OnnxModel &model, const Runner &runner, int32_t which) {
  int64_t size = -1;
  for (const rnnp_tensor_info &facts : runner.inputs()) {
    const DeclaredInput &input = declared_input(model, facts.name);
    size_t at = 0;  // of the file's axes: one that holds several elements to a step is two here
    for (uint32_t i = 0; i < facts.rank && at < input.dims.size(); ++i) {
      const bool elements = i > 0 && facts.dims[i - 1] == RNNP_DIM_STEPS && input.dims.size() < facts.rank;
      if (elements) continue;
      if (facts.dims[i] == which) size = std::max(size, input.dims[at].value);
      ++at;
    }
  }
  return which == RNNP_DIM_BATCH && size <= 0 && runner.facts().fixed_batch ? runner.facts().fixed_batch : size;
}

}  // namespace

std::string sizes_text(const RunSizes &sizes) {
  return std::to_string(sizes.steps) + (sizes.steps == 1 ? " step" : " steps") + ", batch " + std::to_string(sizes.batch);
}

const DeclaredInput &declared_input(const OnnxModel &model, const char *name) {
  for (const DeclaredInput &input : model.inputs) {
    if (input.name == name) return input;
  }
  throw ModelError("the ONNX file has no input " + quote(name) + ": the blob is not made from it");
}

std::vector<int64_t> sizes_to_try(const OnnxModel &model, const Runner &runner, const Arrays &given, int32_t which, int64_t asked,
                                  int64_t wanted) {
  if (const int64_t size = size_given(runner, given, which)) return {size};
  if (asked > 0) return {asked};
  return sizes_to_try(model, runner, which, {wanted, 1});
}

std::vector<int64_t> sizes_to_try(const OnnxModel &model, const Runner &runner, int32_t which, const std::vector<int64_t> &open) {
  if (const int64_t size = size_declared(model, runner, which)) return {std::max<int64_t>(size, 1)};
  return open;
}

int64_t usual_steps(double work_per_step) {
  constexpr double kMost = 4e9;
  return static_cast<int64_t>(std::clamp(kMost / std::max(work_per_step, 1.0), 2.0, 20.0));
}

bool implied_steps_are_open(const Runner &runner) {
  const auto &inputs = runner.inputs();
  return std::all_of(inputs.begin(), inputs.end(), [](const rnnp_tensor_info &f) { return f.role == RNNP_ROLE_SEQUENCE; });
}

std::vector<int64_t> implied_steps_to_try(const Runner &runner, const Arrays &given, int64_t asked, int64_t wanted) {
  if (const int64_t size = size_given(runner, given, RNNP_DIM_STEPS)) return {size};
  if (asked > 0) return {asked};
  if (!given.empty() || !implied_steps_are_open(runner)) return {1};
  return {wanted, 1};
}

}  // namespace rnnp::compiler
