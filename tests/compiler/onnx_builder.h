// onnx_builder.h -- ONNX models for tests, built with protobuf in a few lines.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_ONNX_BUILDER_H_
#define RNNPACK_TESTS_COMPILER_ONNX_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"
#include "compiler/onnx/specialise.h"
#include "compiler/run/runner.h"

namespace rnnp::testing_support {

// A dimension: a number, or a name for an open one.
struct Dim {
  int64_t value = 0;
  std::string name;
  Dim(int64_t v) : value(v) {}           // NOLINT: brief call sites
  Dim(int v) : value(v) {}               // NOLINT
  Dim(const char *open) : name(open) {}  // NOLINT
};

class NodeBuilder {
 public:
  explicit NodeBuilder(onnx::NodeProto *node) : node_(node) {}
  NodeBuilder &with(const std::string &name, int64_t value);
  NodeBuilder &with(const std::string &name, int value) { return with(name, static_cast<int64_t>(value)); }
  NodeBuilder &with(const std::string &name, double value);
  NodeBuilder &with(const std::string &name, const char *value);
  NodeBuilder &with(const std::string &name, const std::vector<int64_t> &values);
  NodeBuilder &with(const std::string &name, const std::vector<float> &values);
  NodeBuilder &with(const std::string &name, const std::vector<std::string> &values);
  NodeBuilder &with(const std::string &name, const onnx::GraphProto &graph);
  onnx::NodeProto &proto() { return *node_; }

 private:
  onnx::AttributeProto *add(const std::string &name, onnx::AttributeProto::AttributeType type);
  onnx::NodeProto *node_;
};

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int64_t opset = 17, uint32_t seed = 1);

  OnnxBuilder &input(const std::string &name, const std::vector<Dim> &dims, int type = onnx::TensorProto::FLOAT);
  OnnxBuilder &output(const std::string &name);
  OnnxBuilder &constant(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &data);
  OnnxBuilder &constant_ints(const std::string &name, const std::vector<int64_t> &shape, const std::vector<int64_t> &data,
                             int type = onnx::TensorProto::INT64);
  // Normal numbers of this deviation.
  OnnxBuilder &random(const std::string &name, const std::vector<int64_t> &shape, double deviation = 0.5);
  NodeBuilder node(const std::string &op, const std::vector<std::string> &in, const std::vector<std::string> &out,
                   const std::string &name = "");
  // W, R and B named prefix + "W" ... for a recurrent node.
  OnnxBuilder &weights(const std::string &prefix, int64_t gates, int64_t directions, int64_t inputs, int64_t hidden,
                       bool bias = true);

  onnx::ModelProto proto;

 private:
  onnx::TensorProto *add_constant(const std::string &name, const std::vector<int64_t> &shape, int type);
  std::mt19937 random_;
};

// Compiles for both layouts, runs whole, step by step (causal models) and on two threads, and compares with the f64 evaluation
// of the same ONNX graph. Inputs that are not given are random; `sizes` are the open dimensions by name.
struct Sizes {
  int64_t steps = 7, batch = 3;
};
void check_against_f64(const onnx::ModelProto &proto, const Sizes &sizes = {}, const compiler::Arrays &given = {},
                       double tolerance = 1e-5, const compiler::Specialisation &wanted = {});

// The input "lengths", as check_against_f64 takes it.
compiler::Arrays lengths_of(const std::vector<int32_t> &lengths);

// The same for a model whose states the library keeps: against one f64 evaluation per step, whole, step by step, in blocks of 3.
void check_persistent_states(const onnx::ModelProto &proto, const std::vector<compiler::StatePair> &states, const Sizes &sizes = {},
                             double tolerance = 1e-5);

// The model's graph and those of its nodes.
std::vector<onnx::GraphProto *> every_graph(onnx::ModelProto *model);

// The same model with Constant nodes in the place of initializers.
onnx::ModelProto with_constant_nodes(onnx::ModelProto model);

// The compiler's refusal of the model; empty when it compiles.
std::string refusal_of(const onnx::ModelProto &proto);

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_ONNX_BUILDER_H_
