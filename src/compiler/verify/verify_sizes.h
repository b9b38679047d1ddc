// verify_sizes.h -- at how many steps and rows `verify` runs: what was asked or given, what the ONNX file fixes, else numbers of
// its own, best first, as some graphs take one row or one step only. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_VERIFY_SIZES_H_
#define RNNPACK_COMPILER_VERIFY_VERIFY_SIZES_H_

#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"
#include "compiler/run/runner.h"

namespace rnnp::compiler {

struct RunSizes {
  int64_t steps, batch;
};

// "20 steps, batch 2"
std::string sizes_text(const RunSizes &sizes);

// Throws ModelError when the file has no input of that name.
const DeclaredInput &declared_input(const OnnxModel &model, const char *name);

// Sizes to try, best first: what was asked, given or is fixed, else `wanted` and then 1, which some graphs insist on by a constant.
std::vector<int64_t> sizes_to_try(const OnnxModel &model, const Runner &runner, const Arrays &given, int32_t which, int64_t asked,
                                  int64_t wanted);
// The same with what is to be tried where any size is taken.
std::vector<int64_t> sizes_to_try(const OnnxModel &model, const Runner &runner, int32_t which, const std::vector<int64_t> &open);
// Steps where nothing tells: 20, or as many as are evaluated in a few seconds.
int64_t usual_steps(double work_per_step);
// Steps of a model whose inputs have no steps axis: any number when it keeps its states itself.
std::vector<int64_t> implied_steps_to_try(const Runner &runner, const Arrays &given, int64_t asked, int64_t wanted);
// Whether it takes any number of steps in this way.
bool implied_steps_are_open(const Runner &runner);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_VERIFY_SIZES_H_
