// hostile_graphs_test.cpp -- random models with strange numbers in place of theirs: every importer, the evaluator and the runtime
// get shapes, axes, sizes and operands that do not fit. An error or a model that runs; never a crash. Sanitizers make it sharp.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "loop_models.h"
#include "onnx_builder.h"
#include "random_models.h"
#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"

namespace rnnp::testing_support {
namespace {

int64_t strange(Chance *g) {
  static const std::vector<int64_t> kNumbers = {
      0, 1, -1, 2, -2, 3, 5, 7, 9, 100, -100, 65537, int64_t{1} << 31, -(int64_t{1} << 31), int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return g->one_of(kNumbers);
}

void damage_attribute(Chance *g, onnx::AttributeProto *attribute) {
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

void damage_node(Chance *g, onnx::GraphProto *graph, onnx::NodeProto *node) {
  const auto some_node = [&]() -> const onnx::NodeProto & { return graph->node(static_cast<int>(g->below(graph->node_size()))); };
  const auto some_output = [&]() -> std::string {
    const onnx::NodeProto &made = some_node();
    return made.output_size() == 0 ? "" : made.output(0);
  };
  if (g->below(12) == 0) return g->coin() ? node->clear_output() : node->clear_input();
  const int64_t kind = g->below(6);
  if (kind == 0 && node->input_size() > 0) node->mutable_input()->RemoveLast();
  if (kind == 1 && node->input_size() > 0)
    node->set_input(static_cast<int>(g->below(node->input_size())), g->coin() ? "" : some_output());
  if (kind == 2) node->set_op_type(some_node().op_type());
  if (kind == 3) node->add_input(some_output());
  if (kind >= 4 && node->attribute_size() > 0)
    damage_attribute(g, node->mutable_attribute(static_cast<int>(g->below(node->attribute_size()))));
}

void damage_tensor(Chance *g, onnx::TensorProto *tensor) {
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

// Nodes that nobody knows behind values of a graph: the refusal has a line for each, and none for what follows them.
TEST(HostileGraphs, EveryUnsupportedNodeIsNamed) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Chance g(seed);
    onnx::ModelProto proto = random_onnx(seed - 1);
    onnx::GraphProto *graph = proto.mutable_graph();
    const std::string source = graph->input(0).name();
    const int64_t count = 1 + g.below(5);
    for (int64_t i = 0; i < count; ++i) {
      const std::string mark = std::to_string(i);
      onnx::NodeProto *unheard = graph->add_node(), *behind = graph->add_node();
      unheard->set_op_type("Unheard" + mark);
      unheard->set_name("node" + mark);
      unheard->add_input(source);
      unheard->add_output("u" + mark);
      behind->set_op_type("Relu");
      behind->add_input("u" + mark);
      behind->add_output("behind" + mark);
      graph->add_output()->set_name("behind" + mark);
    }
    const std::string refusal = refusal_of(proto);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_NE(refusal.find("'node" + std::to_string(i) + "' (Unheard" + std::to_string(i) + ")"), std::string::npos) << refusal;
    }
    EXPECT_EQ(refusal.find("behind"), std::string::npos) << refusal;
  }
}

TEST(HostileGraphs, StrangeNumbers) {
  int compiled = 0, refused = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Chance g(seed);
    const onnx::ModelProto sound = random_onnx(seed - 1);
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

// Each attribute of each node states every other type in turn, and each constant holds a byte too little.
void check_damaged(const onnx::ModelProto &sound, int *refused) {
  onnx::ModelProto proto = with_constant_nodes(sound);
  ASSERT_EQ(refusal_of(proto), "");
  for (onnx::GraphProto *graph : every_graph(&proto)) {
    for (onnx::NodeProto &node : *graph->mutable_node()) {
      for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        const onnx::AttributeProto::AttributeType type = attribute.type();
        for (int other = onnx::AttributeProto::UNDEFINED; other <= onnx::AttributeProto::GRAPHS; ++other) {
          attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(other));
          if (other != type && !survives(proto)) ++*refused;
        }
        attribute.set_type(type);
        if (!attribute.has_t()) continue;
        const onnx::TensorProto tensor = attribute.t();
        attribute.mutable_t()->set_raw_data("?");
        if (!survives(proto)) ++*refused;
        *attribute.mutable_t() = tensor;
      }
    }
  }
}

TEST(HostileGraphs, DamagedAttributes) {
  int refused = 0;
  const auto check = [&](const onnx::ModelProto &model) { check_damaged(model, &refused); };
  for (const Body body : {&rnn_body, &decay_body, &masked_body}) {
    OnnxBuilder step;
    body(&step);
    check(with_scan(scan_graph(step)).proto);
    check(with_loop(loop_graph(step)).proto);
  }
  for (uint32_t seed = 0; seed < 12; ++seed) check(random_onnx(seed));
  std::printf("%d refused\n", refused);
  EXPECT_GT(refused, 500);
}

// One word of the tables, mostly of the nodes' attributes, becomes a strange number or another word.
void corrupt_word(Chance *g, std::vector<uint8_t> *blob) {
  BlobHeader header;
  std::memcpy(&header, blob->data(), sizeof header);
  const std::vector<BlobSection> others = {header.values, header.nodes, header.args, header.inputs, header.outputs, header.states};
  const BlobSection section = g->below(3) != 0 ? header.attrs : g->one_of(others);
  if (section.bytes < 4) return;
  const auto place = [&] { return section.offset + 4 * static_cast<size_t>(g->below(section.bytes / 4)); };
  uint32_t word = static_cast<uint32_t>(strange(g));
  if (g->coin()) std::memcpy(&word, blob->data() + place(), 4);
  std::memcpy(blob->data() + place(), &word, 4);
}

size_t rows_of(const rnnp_tensor_info &facts, size_t steps) {
  return facts.role == RNNP_ROLE_SEQUENCE ? steps : 1;
}

// Two steps with every input and output, in buffers of just their size.
rnnp_status run_all(const rnnp_model &model, rnnp_session *session, const rnnp_model_info &facts) {
  constexpr size_t kSteps = 2, kMost = 1 << 16;
  std::vector<std::vector<float>> data;
  std::vector<rnnp_const_buffer> in;
  std::vector<rnnp_buffer> out;
  for (uint32_t i = 0; i < facts.input_count + facts.output_count; ++i) {
    const bool is_input = i < facts.input_count;
    rnnp_tensor_info tensor = RNNP_TENSOR_INFO_INIT;
    const rnnp_status status =
        is_input ? rnnp_model_get_input(&model, i, &tensor) : rnnp_model_get_output(&model, i - facts.input_count, &tensor);
    if (status != RNNP_OK || tensor.row_elems > kMost) return status;
    data.emplace_back(rows_of(tensor, kSteps) * std::max(1u, facts.fixed_batch) * tensor.row_elems,
                      tensor.role == RNNP_ROLE_LENGTHS || tensor.dtype == RNNP_DTYPE_I32 ? 0.0f : 0.25f);
    if (is_input) {
      in.push_back({data.back().data(), 0, 0});
    } else {
      out.push_back({data.back().data(), 0, 0});
    }
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = kSteps;
  io.batch = std::max(1u, facts.fixed_batch);
  io.input_count = facts.input_count;
  io.output_count = facts.output_count;
  io.inputs = in.data();
  io.outputs = out.data();
  return rnnp_run_io(session, &io);
}

rnnp_status open_and_run(const std::vector<uint8_t> &bytes) {
  constexpr size_t kMemory = 1 << 21;
  const rnnp_test::AlignedBytes blob(bytes);
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, blob.data(), bytes.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.max_steps = 2;
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  status = rnnp_model_get_info(&model, &facts);
  if (status != RNNP_OK) return status;
  options.max_batch = std::max(1u, facts.fixed_batch);
  rnnp_memory need = RNNP_MEMORY_INIT;
  status = rnnp_session_memory(&model, &options, &need);
  if (status != RNNP_OK) return status;
  if (need.session_bytes > kMemory) return RNNP_E_SMALL_MEMORY;
  rnnp_test::AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  status = rnnp_session_init(&session, &model, &options, memory.data(), memory.size());
  return status == RNNP_OK ? run_all(model, session, facts) : status;
}

TEST(HostileGraphs, MalformedTables) {
  int ran = 0, refused = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Chance g(seed);
    const auto model = compiler::check_model(random_onnx(seed - 1));
    const std::vector<uint8_t> blob = compiler::compile_model(*model, seed % 2 ? "generic" : "cortex-m").blob;
    EXPECT_EQ(open_and_run(blob), RNNP_OK) << seed;
    for (int round = 0; round < 60; ++round) {
      std::vector<uint8_t> malformed = blob;
      for (int64_t i = 1 + g.below(2); i > 0; --i) corrupt_word(&g, &malformed);
      rnnp_test::reseal(&malformed);
      ++(open_and_run(malformed) == RNNP_OK ? ran : refused);
    }
  }
  std::printf("%d ran, %d refused\n", ran, refused);
  EXPECT_GT(ran, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace rnnp::testing_support
