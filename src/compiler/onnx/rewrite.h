// rewrite.h -- a model like another, with some nodes replaced: what all rewrites of ONNX graphs share. The new model refers to
// nodes of the old one, which must outlive it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_REWRITE_H_
#define RNNPACK_COMPILER_ONNX_REWRITE_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

class Rewrite {
 public:
  // Everything of the model but its nodes.
  explicit Rewrite(const OnnxModel &model);

  OnnxModel &model() { return *out_; }
  void keep(const OnnxNode *node) { out_->nodes.push_back(node); }
  // A node of the model's own, not yet among its nodes.
  OnnxNode *made(const std::string &op, const std::string &name);
  OnnxNode *copied(const OnnxNode &node);
  // The same at the end of the model's nodes.
  OnnxNode *add(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                const std::vector<std::string> &outputs);
  void set_constant(const std::string &name, Tensor tensor);
  // Squeeze or Unsqueeze; its axes are an attribute before opset 13.
  void reshaping(const std::string &op, const std::string &from, const std::string &to, const std::vector<int64_t> &axes);
  // Without the nodes that no output needs.
  std::unique_ptr<OnnxModel> done();

 private:
  std::unique_ptr<OnnxModel> out_;
};

// The importer's own operators, for steps of a loop: StepOf(X) is X without its first axis, at every step; StepsOf(y, X) has that
// axis again; LastStep(y, X) is y at the last step; StartsAt(x, state) has x as what a run starts the state from: zeros or an
// input; TripsOf(n, X) a number of trips that is not X's number of steps; KeptSteps(Y, mask, other) is Y in steps whose bool is
// true, else the constant.
constexpr const char *kStepOf = "rnnpack.StepOf", *kStepsOf = "rnnpack.StepsOf", *kLastStep = "rnnpack.LastStep",
                     *kStartsAt = "rnnpack.StartsAt", *kTripsOf = "rnnpack.TripsOf", *kKeptSteps = "rnnpack.KeptSteps";
// And a layer-normalised LSTM: an LSTM whose input 8 is MatchedCell::norms. Its input 9, and that of the masked layers, is a bool
// of each step: where it is false the states stay as they are, and Y is h.
constexpr const char *kLstmNorm = "rnnpack.LstmNorm", *kMaskedRnn = "rnnpack.MaskedRNN", *kMaskedGru = "rnnpack.MaskedGRU",
                     *kMaskedLstm = "rnnpack.MaskedLSTM";

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_REWRITE_H_
