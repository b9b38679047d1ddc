// built_layers.h -- the layers that several front ends have, on values of shape [batch, steps, features]. Weights come in the
// layouts of Keras or PyTorch and become ONNX's; sizes that do not fit are refused.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_GRAPH_BUILDER_BUILT_LAYERS_H_
#define RNNPACK_COMPILER_GRAPH_BUILDER_BUILT_LAYERS_H_

#include <string>
#include <vector>

#include "compiler/graph_builder/graph_builder.h"

namespace rnnp::compiler {

struct Weights {
  std::vector<int64_t> shape;
  std::vector<float> data;
  bool empty() const { return data.empty(); }
};
Weights transposed(const Weights &matrix);

// Throws ModelError unless the shape is `wanted`; `what` begins the message.
void check_shape(const std::string &what, const Weights &weights, const std::vector<int64_t> &wanted);

enum class Recurrence { kRnn, kGru, kLstm };
int64_t gates_of(Recurrence kind);

// Weights of one recurrent layer, in ONNX's gate order: W [G * H, I], R [G * H, H], bias [G * H] of each; empty: zeros.
struct RecurrentWeights {
  Recurrence kind = Recurrence::kLstm;
  Weights w, r;
  std::vector<float> input_bias, recurrent_bias, initial_h, initial_c;
  bool reset_after = true;  // of GRU: the reset gate multiplies the product with R, as PyTorch has it
};
// Of Keras: kernel [I, G * H], recurrent kernel [H, G * H], bias [G * H] or [2, G * H]; gates z r h, i f c o.
RecurrentWeights of_keras(const std::string &what, Recurrence kind, const Weights &kernel, const Weights &recurrent,
                          const Weights &bias);
// Of PyTorch: weight_ih [G * H, I], weight_hh [G * H, H], biases [G * H] or empty; gates r z n, i f g o.
RecurrentWeights of_torch(const std::string &what, Recurrence kind, const Weights &ih, const Weights &hh, const Weights &bias_ih,
                          const Weights &bias_hh);

struct ConvSizes {
  int64_t dilation = 1, stride = 1, groups = 1;
};

// Adds layers; the value that the last one made is `value`, with `features` features.
class BuiltLayers {
 public:
  BuiltLayers(GraphBuilder *graph, std::string value, int64_t features)
      : graph_(graph), value_(std::move(value)), features_(features) {}

  const std::string &value() const { return value_; }
  int64_t features() const { return features_; }
  GraphBuilder &graph() { return *graph_; }
  void use(std::string value, int64_t features);

  // kernel [in, out]; bias may be empty.
  void dense(const std::string &name, const Weights &kernel, const std::vector<float> &bias);
  // weights [out, in / groups, taps]; causal: steps before the first are zeros.
  void conv(const std::string &name, const Weights &weights, const std::vector<float> &bias, const ConvSizes &sizes);
  void recurrent(const std::string &name, const RecurrentWeights &weights);
  // x * scale + shift of each feature.
  void scale_shift(const std::string &name, const std::vector<float> &scale, const std::vector<float> &shift);
  void batch_norm(const std::string &name, std::vector<float> gamma, std::vector<float> beta, const std::vector<float> &mean,
                  const std::vector<float> &variance, double epsilon);
  void prelu(const std::string &name, const std::vector<float> &slopes);
  // "tanh", "relu" ... of any case; false: not known. "" and "linear" do nothing.
  bool activation(const std::string &name, const std::string &kind);

 private:
  std::string rows_of_batch(const std::string &name, const std::string &like, const std::vector<float> &state);
  void check_size(const std::string &what, const std::vector<float> &values, int64_t wanted) const;
  GraphBuilder *graph_;
  std::string value_;
  int64_t features_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_GRAPH_BUILDER_BUILT_LAYERS_H_
