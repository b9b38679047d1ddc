// onnx_builder.cpp -- Contract: onnx_builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "onnx_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "compiler/verify/step_eval.h"

namespace rnnp::testing_support {

using namespace rnnp::compiler;
using onnx::AttributeProto;

AttributeProto *NodeBuilder::add(const std::string &name, AttributeProto::AttributeType type) {
  AttributeProto *attribute = node_->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

NodeBuilder &NodeBuilder::with(const std::string &name, int64_t value) {
  add(name, AttributeProto::INT)->set_i(value);
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, double value) {
  add(name, AttributeProto::FLOAT)->set_f(static_cast<float>(value));
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, const char *value) {
  add(name, AttributeProto::STRING)->set_s(value);
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, const std::vector<int64_t> &values) {
  AttributeProto *attribute = add(name, AttributeProto::INTS);
  for (int64_t v : values) attribute->add_ints(v);
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, const std::vector<float> &values) {
  AttributeProto *attribute = add(name, AttributeProto::FLOATS);
  for (float v : values) attribute->add_floats(v);
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, const std::vector<std::string> &values) {
  AttributeProto *attribute = add(name, AttributeProto::STRINGS);
  for (const std::string &v : values) attribute->add_strings(v);
  return *this;
}
NodeBuilder &NodeBuilder::with(const std::string &name, const onnx::GraphProto &graph) {
  *add(name, AttributeProto::GRAPH)->mutable_g() = graph;
  return *this;
}

OnnxBuilder::OnnxBuilder(int64_t opset, uint32_t seed) : random_(seed) {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(opset);
  proto.mutable_graph()->set_name("test");
}

OnnxBuilder &OnnxBuilder::input(const std::string &name, const std::vector<Dim> &dims, int type) {
  onnx::ValueInfoProto *info = proto.mutable_graph()->add_input();
  info->set_name(name);
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const Dim &dim : dims) {
    auto *out = tensor->mutable_shape()->add_dim();
    if (dim.name.empty())
      out->set_dim_value(dim.value);
    else
      out->set_dim_param(dim.name);
  }
  return *this;
}

OnnxBuilder &OnnxBuilder::output(const std::string &name) {
  onnx::ValueInfoProto *info = proto.mutable_graph()->add_output();
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return *this;
}

onnx::TensorProto *OnnxBuilder::add_constant(const std::string &name, const std::vector<int64_t> &shape, int type) {
  onnx::TensorProto *tensor = proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (int64_t dim : shape) tensor->add_dims(dim);
  return tensor;
}

OnnxBuilder &OnnxBuilder::constant(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &data) {
  onnx::TensorProto *tensor = add_constant(name, shape, onnx::TensorProto::FLOAT);
  for (float v : data) tensor->add_float_data(v);
  return *this;
}

OnnxBuilder &OnnxBuilder::constant_ints(const std::string &name, const std::vector<int64_t> &shape,
                                        const std::vector<int64_t> &data, int type) {
  onnx::TensorProto *tensor = add_constant(name, shape, type);
  for (int64_t v : data) {
    if (type == onnx::TensorProto::INT64)
      tensor->add_int64_data(v);
    else
      tensor->add_int32_data(static_cast<int32_t>(v));
  }
  return *this;
}

OnnxBuilder &OnnxBuilder::random(const std::string &name, const std::vector<int64_t> &shape, double deviation) {
  std::normal_distribution<float> normal(0.0f, static_cast<float>(deviation));
  std::vector<float> data(static_cast<size_t>(element_count(shape)));
  for (float &v : data) v = normal(random_);
  return constant(name, shape, data);
}

NodeBuilder OnnxBuilder::node(const std::string &op, const std::vector<std::string> &in, const std::vector<std::string> &out,
                              const std::string &name) {
  onnx::NodeProto *node = proto.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string &v : in) node->add_input(v);
  for (const std::string &v : out) node->add_output(v);
  return NodeBuilder(node);
}

OnnxBuilder &OnnxBuilder::weights(const std::string &prefix, int64_t gates, int64_t directions, int64_t inputs, int64_t hidden,
                                  bool bias) {
  const double scale = 1 / std::sqrt(static_cast<double>(hidden));
  random(prefix + "W", {directions, gates * hidden, inputs}, 0.5);
  random(prefix + "R", {directions, gates * hidden, hidden}, scale);
  if (bias) random(prefix + "B", {directions, 2 * gates * hidden}, 0.3);
  return *this;
}

namespace {

Array random_array(const rnnp_tensor_info &facts, const DeclaredInput &declared, const Sizes &sizes, std::mt19937 *random) {
  Array array;
  for (uint32_t i = 0; i < facts.rank; ++i) {
    const int64_t fixed = facts.rank == declared.dims.size() ? declared.dims[i].value : 0;
    const int64_t open = facts.dims[i] == RNNP_DIM_STEPS   ? sizes.steps
                         : facts.dims[i] == RNNP_DIM_BATCH ? sizes.batch
                                                           : facts.dims[i];
    array.shape.push_back(fixed ? fixed : open);
  }
  array.shape = shape_in_file(facts, declared.dims.size(), array.shape);
  array.is_int = facts.dtype == RNNP_DTYPE_I32;
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int32_t> length(
      0, facts.limit != 0 ? static_cast<int32_t>(facts.limit) - 1 : static_cast<int32_t>(sizes.steps));
  for (int64_t i = 0; i < element_count(array.shape); ++i) {
    if (array.is_int)
      array.i32.push_back(length(*random));
    else
      array.f32.push_back(normal(*random));
  }
  return array;
}

// A value without a batch axis is given once per batch row.
void compare(const std::string &what, const Array &got, const Tensor &want, double tolerance) {
  const bool repeated = got.f32.size() != want.data.size() && got.shape.size() == want.shape.size() + 1;
  const size_t repeats = repeated ? static_cast<size_t>(got.shape[0]) : 1;
  ASSERT_EQ(got.f32.size(), repeats * want.data.size()) << what;
  for (size_t i = 0; i < got.f32.size(); ++i) {
    const double value = static_cast<double>(got.f32[i]), wanted = want.data[i % want.data.size()];
    ASSERT_LE(std::fabs(value - wanted), tolerance * std::max(1.0, std::fabs(wanted)))
        << what << " element " << i << ": " << value << ", expected " << wanted;
  }
}

void expect_same_bits(const std::string &what, const Arrays &a, const Arrays &b) {
  for (const auto &output : a) {
    const Array &other = b.at(output.first);
    ASSERT_EQ(output.second.f32.size(), other.f32.size()) << what;
    EXPECT_EQ(std::memcmp(output.second.f32.data(), other.f32.data(), other.f32.size() * sizeof(float)), 0)
        << what << " " << output.first;
  }
}

Arrays on_two_threads(Runner *runner, const Arrays &inputs, RunOptions options) {
  options.threads = 2;
  options.all_threads = true;
  const Arrays results = runner->run(inputs, options);
  EXPECT_EQ(runner->session().threads, 2u);
  return results;
}

}  // namespace

void check_against_f64(const onnx::ModelProto &proto, const Sizes &sizes, const Arrays &given, double tolerance,
                       const Specialisation &wanted) {
  try {
    const auto model = check_model(proto);
    specialise(model.get(), wanted);
    for (const char *target : {"generic", "cortex-m"}) {
      Runner runner(compile_model(*model, target).blob);
      std::mt19937 random(7);
      Arrays inputs = given;
      std::map<std::string, Tensor> tensors;
      for (const rnnp_tensor_info &facts : runner.inputs()) {
        const auto declared = std::find_if(model->inputs.begin(), model->inputs.end(),
                                           [&](const DeclaredInput &input) { return input.name == facts.name; });
        if (!inputs.count(facts.name)) inputs[facts.name] = random_array(facts, *declared, sizes, &random);
        tensors[facts.name] = to_tensor(inputs[facts.name]);
      }
      const auto expected = eval_graph(*model, tensors);
      RunOptions options;
      const Arrays whole = runner.run(inputs, options);
      for (const auto &output : expected) compare(target + (" " + output.first), whole.at(output.first), output.second, tolerance);
      expect_same_bits("two threads", whole, on_two_threads(&runner, inputs, options));
      options.steps_per_call = 1;
      if (runner.facts().causal) expect_same_bits("step by step", whole, runner.run(inputs, options));
    }
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what();
  }
}

void check_persistent_states(const onnx::ModelProto &proto, const std::vector<StatePair> &states, const Sizes &sizes,
                             double tolerance) {
  try {
    const auto model = check_model(proto);
    Arrays by_step;  // of the target's model without loops
    for (const auto &[target, stream_steps] : {std::pair("generic", 0u), {"generic", 4u}, {"cortex-m", 0u}, {"cortex-m", 2u}}) {
      Runner runner(compile_model(*model, CompileOptions{target, states, stream_steps}).blob);
      ASSERT_TRUE(runner.facts().causal);
      std::mt19937 random(7);
      Arrays inputs;
      for (const rnnp_tensor_info &facts : runner.inputs()) {
        const auto declared = std::find_if(model->inputs.begin(), model->inputs.end(),
                                           [&](const DeclaredInput &input) { return input.name == facts.name; });
        DeclaredInput open = *declared;
        for (uint32_t i = 0; i < facts.rank; ++i) open.dims[i].value = facts.dims[i] == RNNP_DIM_STEPS ? 0 : open.dims[i].value;
        inputs[facts.name] = random_array(facts, open, sizes, &random);
        if (!steps_are_implied(runner) || facts.role != RNNP_ROLE_SEQUENCE) continue;
        Array &array = inputs[facts.name];
        array.shape.insert(array.shape.begin(), sizes.steps);
        std::normal_distribution<float> normal;
        array.f32.resize(array.f32.size() * static_cast<size_t>(sizes.steps));
        for (float &v : array.f32) v = normal(random);
      }
      const auto expected = eval_steps(*model, runner, {}, inputs, states, {sizes.steps, sizes.batch});
      RunOptions options;
      const Arrays whole = runner.run(inputs, options);
      for (const auto &output : expected) compare(target + (" " + output.first), whole.at(output.first), output.second, tolerance);
      if (stream_steps == 0) by_step = whole;
      expect_same_bits("in loops", by_step, whole);
      for (const size_t steps : {size_t{1}, size_t{3}}) {
        options.steps_per_call = steps;
        expect_same_bits("in pieces", whole, runner.run(inputs, options));
        expect_same_bits("in pieces on two threads", whole, on_two_threads(&runner, inputs, options));
      }
    }
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what();
  }
}

compiler::Arrays lengths_of(const std::vector<int32_t> &lengths) {
  compiler::Array array;
  array.shape = {static_cast<int64_t>(lengths.size())};
  array.is_int = true;
  array.i32 = lengths;
  return {{"lengths", array}};
}

static void add_graphs(onnx::GraphProto *graph, std::vector<onnx::GraphProto *> *graphs) {
  graphs->push_back(graph);
  for (onnx::NodeProto &node : *graph->mutable_node()) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) add_graphs(attribute.mutable_g(), graphs);
    }
  }
}

std::vector<onnx::GraphProto *> every_graph(onnx::ModelProto *model) {
  std::vector<onnx::GraphProto *> graphs;
  add_graphs(model->mutable_graph(), &graphs);
  return graphs;
}

onnx::ModelProto with_constant_nodes(onnx::ModelProto model) {
  std::vector<onnx::GraphProto *> graphs = every_graph(&model);
  std::reverse(graphs.begin(), graphs.end());  // inner ones first: the nodes around them are copied
  for (onnx::GraphProto *graph : graphs) {
    onnx::GraphProto before;
    before.mutable_node()->Swap(graph->mutable_node());
    before.mutable_initializer()->Swap(graph->mutable_initializer());
    for (const onnx::TensorProto &tensor : before.initializer()) {
      onnx::NodeProto *node = graph->add_node();
      node->set_op_type("Constant");
      node->add_output(tensor.name());
      onnx::AttributeProto *value = node->add_attribute();
      value->set_name("value");
      value->set_type(onnx::AttributeProto::TENSOR);
      *value->mutable_t() = tensor;
    }
    graph->mutable_node()->MergeFrom(before.node());
  }
  return model;
}

std::string refusal_of(const onnx::ModelProto &proto) {
  try {
    compile_model(*check_model(proto), "generic");
  } catch (const ModelError &error) {
    return error.what();
  }
  return "";
}

}  // namespace rnnp::testing_support
