// step_eval.h -- the f64 evaluation of an ONNX graph once per step, each step's states put into the next: what a blob with
// persistent states or implied steps has to give. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_STEP_EVAL_H_
#define RNNPACK_COMPILER_VERIFY_STEP_EVAL_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/eval/eval.h"
#include "compiler/eval/progress.h"
#include "compiler/ir/bind_states.h"
#include "compiler/onnx/model_file.h"
#include "compiler/run/runner.h"
#include "compiler/verify/verify_sizes.h"

namespace rnnp::compiler {

// True when no input of the blob has a steps axis: one call of the ONNX graph is one step.
bool steps_are_implied(const Runner &runner);

// `same`: tensors of every step that are no inputs of the blob. `inputs` as Runner::run takes them; states start from zeros. Gives
// the blob's outputs with elements in the runner's order.
std::map<std::string, Tensor> eval_steps(const OnnxModel &model, const Runner &runner, const std::map<std::string, Tensor> &same,
                                         const Arrays &inputs, const std::vector<StatePair> &states, const RunSizes &sizes,
                                         const Progress &progress = {}, const EvalInstead &instead = {});

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_STEP_EVAL_H_
