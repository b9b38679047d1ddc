// write_layer_onnx.cpp CELL STYLE UNITS OUT.onnx [X.npy] -- one recurrent layer of as many inputs as units with random weights, for
// measuring instructions per multiply-accumulate. CELL is lstm or gru. STYLE says whose export it looks like: `plain` is the ONNX
// node between tensors in its own order, `keras` what tf2onnx makes of a Keras layer with return_sequences: batch first, initial
// states of zeros whose shape is computed from the input's, transposes around the node. The weights do not depend on the style.
// `dense` is a layer of half as many inputs, and a dense layer of so many units behind it: EdgeMark's networks at 64 units.
// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

class LayerModel {
 public:
  LayerModel(const std::string &cell, int64_t units, int64_t inputs) : is_lstm_(cell == "lstm"), units_(units), inputs_(inputs) {
    if (!is_lstm_ && cell != "gru") throw std::runtime_error("no cell is called " + cell);
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    graph_ = model_.mutable_graph();
    graph_->set_name(cell);
    const int64_t gates = is_lstm_ ? 4 : 3;
    random_constant("W", {1, gates * units, inputs});
    random_constant("R", {1, gates * units, units});
    random_constant("B", {1, 2 * gates * units});
    int_constant("one", {1});
  }

  void write_plain() {
    input({"steps", "batch"});
    recurrent("x", {});
    node("Squeeze", {"sequence", "one"}, {"y"});
  }

  void write_dense() {
    input({"steps", "batch"});
    recurrent("x", {});
    node("Squeeze", {"sequence", "one"}, {"h"});
    random_constant("V", {units_, inputs_});
    random_constant("V_bias", {inputs_});
    node("MatMul", {"h", "V"}, {"product"});
    node("Add", {"product", "V_bias"}, {"y"});
  }

  void write_keras() {
    input({"batch", "steps"});
    int_constant("zero", {0});
    int_constant("units", {units_});
    add_constant("zeros", {}, onnx::TensorProto::FLOAT)->add_float_data(0.0f);
    node("Shape", {"x"}, {"shape"});
    node("Slice", {"shape", "zero", "one"}, {"batch_size"});
    ints("axis", node("Concat", {"batch_size", "units"}, {"state_shape"}), {0});
    node("Expand", {"zeros", "state_shape"}, {"state"});
    node("Unsqueeze", {"state", "zero"}, {"initial_state"});
    ints("perm", node("Transpose", {"x"}, {"steps_first"}), {1, 0, 2});
    recurrent("steps_first", is_lstm_ ? Names{"", "initial_state", "initial_state"} : Names{"", "initial_state"});
    node("Squeeze", {"sequence", "one"}, {"squeezed"});
    ints("perm", node("Transpose", {"squeezed"}, {"y"}), {1, 0, 2});
  }

  void save(const std::string &path) {
    onnx::ValueInfoProto *y = graph_->add_output();
    y->set_name("y");
    y->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    std::ofstream file(path, std::ios::binary);
    if (!model_.SerializeToOstream(&file)) throw std::runtime_error("cannot write " + path);
  }

 private:
  void input(const Names &open_dims) {
    onnx::ValueInfoProto *x = graph_->add_input();
    x->set_name("x");
    auto *tensor = x->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::string &dim : open_dims) tensor->mutable_shape()->add_dim()->set_dim_param(dim);
    tensor->mutable_shape()->add_dim()->set_dim_value(inputs_);
  }

  onnx::TensorProto *add_constant(const std::string &name, const Ints &shape, int type) {
    onnx::TensorProto *tensor = graph_->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t dim : shape) tensor->add_dims(dim);
    return tensor;
  }

  void int_constant(const std::string &name, const Ints &values) {
    onnx::TensorProto *tensor = add_constant(name, {static_cast<int64_t>(values.size())}, onnx::TensorProto::INT64);
    for (int64_t v : values) tensor->add_int64_data(v);
  }

  void random_constant(const std::string &name, const Ints &shape) {
    onnx::TensorProto *tensor = add_constant(name, shape, onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t dim : shape) count *= dim;
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    const float scale = 1.0f / std::sqrt(static_cast<float>(units_));
    for (int64_t i = 0; i < count; ++i) tensor->add_float_data(scale * uniform(random_));
  }

  onnx::NodeProto *node(const std::string &op, const Names &in, const Names &out) {
    onnx::NodeProto *n = graph_->add_node();
    n->set_op_type(op);
    for (const std::string &v : in) n->add_input(v);
    for (const std::string &v : out) n->add_output(v);
    return n;
  }

  // One number is an attribute of its own type.
  static void ints(const std::string &name, onnx::NodeProto *node, const Ints &values) {
    onnx::AttributeProto *a = node->add_attribute();
    a->set_name(name);
    a->set_type(values.size() == 1 ? onnx::AttributeProto::INT : onnx::AttributeProto::INTS);
    if (values.size() == 1) {
      a->set_i(values[0]);
    } else {
      for (int64_t v : values) a->add_ints(v);
    }
  }

  void recurrent(const std::string &x, const Names &optional) {
    Names in = {x, "W", "R", "B"};
    in.insert(in.end(), optional.begin(), optional.end());
    onnx::NodeProto *n = node(is_lstm_ ? "LSTM" : "GRU", in, {"sequence"});
    ints("hidden_size", n, {units_});
    if (!is_lstm_) ints("linear_before_reset", n, {1});
  }

  onnx::ModelProto model_;
  onnx::GraphProto *graph_;
  bool is_lstm_;
  int64_t units_, inputs_;
  std::mt19937 random_{1};
};

// Some steps of x from -1 to 1, for scales of integer-only layers.
void write_data(int64_t units, const std::string &path) {
  constexpr int64_t kSteps = 64;
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(kSteps) + ", 1, " + std::to_string(units) + "), }";
  header.resize(118 - 1, ' ');
  header += '\n';
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> x(static_cast<size_t>(kSteps * units));
  for (float &v : x) v = uniform(random);
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10);
  file << header;
  file.write(reinterpret_cast<const char *>(x.data()), static_cast<std::streamsize>(x.size() * sizeof x[0]));
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: write_layer_onnx lstm|gru plain|keras|dense UNITS OUT.onnx [X.npy]\n");
    return 2;
  }
  try {
    const std::string style = argv[2];
    if (style != "plain" && style != "keras" && style != "dense") throw std::runtime_error("no style is called " + style);
    const int64_t units = std::stol(argv[3]), inputs = style == "dense" ? units / 2 : units;
    LayerModel model(argv[1], units, inputs);
    style == "dense" ? model.write_dense() : style == "keras" ? model.write_keras() : model.write_plain();
    model.save(argv[4]);
    if (argc == 6) write_data(inputs, argv[5]);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "write_layer_onnx: %s\n", e.what());
    return 1;
  }
  return 0;
}
