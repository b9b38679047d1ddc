// hostile_graphs_test.cpp -- random graphs with strange numbers in place of theirs: every importer, the evaluator and the runtime
// get shapes, axes, sizes and operands that do not fit. An error or a model that runs; never a crash. Sanitizers make it sharp.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

int64_t strange(RandomGraph *g) {
  static const std::vector<int64_t> kNumbers = {
      0, 1, -1, 2, -2, 3, 5, 7, 9, 100, -100, 65537, int64_t{1} << 31, -(int64_t{1} << 31), int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return g->one_of(kNumbers);
}

void damage_attribute(RandomGraph *g, onnx::AttributeProto *attribute) {
  switch (g->below(4)) {
    case 0:
      attribute->set_i(strange(g));
      if (attribute->ints_size() > 0) attribute->set_ints(static_cast<int>(g->below(attribute->ints_size())), strange(g));
      break;
    case 1:
      attribute->add_ints(strange(g));
      break;
    case 2:
      if (attribute->ints_size() > 0) attribute->mutable_ints()->RemoveLast();
      attribute->set_f(static_cast<float>(strange(g)));
      break;
    default:
      attribute->set_s(g->one_of(std::vector<std::string>{"", "SAME_UPPER", "SAME_LOWER", "VALID", "reverse", "tanh", "edge",
                                                          "abc,cd->abd", "...a->a..."}));
  }
}

void damage_node(RandomGraph *g, onnx::GraphProto *graph, onnx::NodeProto *node) {
  const auto some_node = [&]() -> const onnx::NodeProto & { return graph->node(static_cast<int>(g->below(graph->node_size()))); };
  const int64_t kind = g->below(6);
  if (kind == 0 && node->input_size() > 0) node->mutable_input()->RemoveLast();
  if (kind == 1 && node->input_size() > 0)
    node->set_input(static_cast<int>(g->below(node->input_size())), g->coin() ? "" : some_node().output(0));
  if (kind == 2) node->set_op_type(some_node().op_type());
  if (kind == 3) node->add_input(g->one_of(g->values).name);
  if (kind >= 4 && node->attribute_size() > 0)
    damage_attribute(g, node->mutable_attribute(static_cast<int>(g->below(node->attribute_size()))));
}

void damage_tensor(RandomGraph *g, onnx::TensorProto *tensor) {
  if (tensor->int64_data_size() > 0 && g->below(4) != 0) {
    tensor->set_int64_data(static_cast<int>(g->below(tensor->int64_data_size())), strange(g));
  } else if (g->coin() && tensor->dims_size() > 0) {
    // The same elements in another shape: first and last size change places.
    const int64_t first = tensor->dims(0);
    tensor->set_dims(0, tensor->dims(tensor->dims_size() - 1));
    tensor->set_dims(tensor->dims_size() - 1, first);
  } else {
    tensor->add_dims(1);
  }
}

// The inputs become constants, so that the whole graph is folded.
void make_constant(onnx::GraphProto *graph) {
  while (graph->input_size() > 0) {
    std::vector<int64_t> shape;
    for (const auto &dim : graph->input(0).type().tensor_type().shape().dim())
      shape.push_back(dim.dim_value() ? dim.dim_value() : 2);
    OnnxBuilder donor;
    donor.random(graph->input(0).name(), shape);
    *graph->add_initializer() = donor.proto.graph().initializer(0);
    graph->mutable_input()->DeleteSubrange(0, 1);
  }
}

// True when it compiled.
bool survives(const onnx::ModelProto &proto) {
  try {
    std::string bytes;
    proto.SerializeToString(&bytes);
    compiler::Runner runner(compiler::compile_model(*compiler::parse_model(bytes.data(), bytes.size()), "generic").blob);
    return true;
  } catch (const compiler::ModelError &) {
    return false;
  }
}

TEST(HostileGraphs, StrangeNumbers) {
  int compiled = 0, refused = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    RandomGraph g = grown_graph(seed);
    const onnx::ModelProto sound = g.with_outputs({"firstY", g.values.back().name});
    for (int round = 0; round < 30; ++round) {
      onnx::ModelProto proto = sound;
      onnx::GraphProto *graph = proto.mutable_graph();
      if (round % 2 == 1) make_constant(graph);
      for (int64_t i = 1 + g.below(3); i > 0; --i) {
        if (g.below(3) == 0 && graph->initializer_size() > 0)
          damage_tensor(&g, graph->mutable_initializer(static_cast<int>(g.below(graph->initializer_size()))));
        else
          damage_node(&g, graph, graph->mutable_node(static_cast<int>(g.below(graph->node_size()))));
      }
      ++(survives(proto) ? compiled : refused);
    }
  }
  std::printf("%d compiled, %d refused\n", compiled, refused);
  EXPECT_GT(compiled, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace rnnp::testing_support
