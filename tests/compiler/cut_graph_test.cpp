// cut_graph_test.cpp -- a part of a graph: what it keeps, and what is said where it cannot be cut.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/cut_graph.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "compiler/verify/self_check.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace cut_graph_test {

using Names = std::vector<std::string>;

// x and y through a GRU each; the first one's results are both read behind it.
OnnxBuilder two_layers() {
  OnnxBuilder b;
  b.input("x", {"S", "N", 4}).input("y", {"U", "N", 4}).output("Y").output("M");
  b.weights("e", 3, 1, 4, 6).weights("d", 3, 1, 4, 6);
  b.node("GRU", {"x", "eW", "eR", "eB"}, {"all", "last"}).with("hidden_size", 6);
  b.node("ReduceMax", {"all"}, {"M"}).with("axes", std::vector<int64_t>{0});
  b.node("GRU", {"y", "dW", "dR", "dB", "", "last"}, {"Y"}).with("hidden_size", 6);
  return b;
}

Names inputs_of(const compiler::OnnxModel &model) {
  Names names;
  for (const compiler::DeclaredInput &input : model.inputs) names.push_back(input.name);
  return names;
}

std::string refused(const compiler::Cut &cut) {
  const auto model = compiler::check_model(two_layers().proto);
  try {
    compiler::cut_graph(model.get(), cut);
  } catch (const compiler::UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(CutGraph, KeepsWhatThePartNeeds) {
  auto model = compiler::check_model(two_layers().proto);
  compiler::cut_graph(model.get(), {{}, {"last"}});
  EXPECT_EQ(inputs_of(*model), Names{"x"});
  EXPECT_EQ(model->outputs, Names{"last"});
  EXPECT_EQ(model->nodes.size(), 1u);
  model = compiler::check_model(two_layers().proto);
  compiler::cut_graph(model.get(), {{{"last", "1,N,6"}}, {"Y"}});
  EXPECT_EQ(inputs_of(*model), (Names{"y", "last"}));
  ASSERT_EQ(model->nodes.size(), 1u);
  const compiler::DeclaredInput &last = model->inputs.back();
  ASSERT_EQ(last.dims.size(), 3u);
  EXPECT_EQ(last.dims[0].value, 1);
  EXPECT_EQ(last.dims[1].name, "N");
  EXPECT_EQ(last.dims[1].value, 0);
  EXPECT_EQ(last.dims[2].value, 6);
}

TEST(CutGraph, TakesTheShapeThatTheFileSays) {
  onnx::ModelProto proto = two_layers().proto;
  onnx::ValueInfoProto *info = proto.mutable_graph()->add_value_info();
  info->set_name("last");
  auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  shape->add_dim()->set_dim_value(1);
  shape->add_dim()->set_dim_param("rows");
  shape->add_dim()->set_dim_value(6);
  const auto model = compiler::check_model(proto);
  compiler::cut_graph(model.get(), {{{"last", ""}}, {"Y"}});
  ASSERT_EQ(model->inputs.size(), 2u);
  EXPECT_EQ(model->inputs[1].dims[1].name, "rows");
}

TEST(CutGraph, SaysWhereItCannotBeCut) {
  EXPECT_NE(refused({{}, {"nothing"}}).find("--to: no node of the graph makes 'nothing'"), std::string::npos);
  EXPECT_NE(refused({{{"x", "1,N,4"}}, {}}).find("--from: no node of the graph makes 'x'"), std::string::npos);
  EXPECT_NE(refused({{{"last", ""}}, {"Y"}}).find("the file does not say its shape"), std::string::npos);
  EXPECT_NE(refused({{{"last", "1,0,6"}}, {"Y"}}).find("'0' is no size"), std::string::npos);
  EXPECT_NE(refused({{{"last", "1,,6"}}, {"Y"}}).find("a size is missing"), std::string::npos);
  EXPECT_NE(refused({{{"last", "1,99999999999999999999,6"}}, {"Y"}}).find("is no size"), std::string::npos);
  EXPECT_NE(refused({{{"last", "1,N,6"}}, {"M"}}).find("does not need it"), std::string::npos);
  // The layer is still needed for its other result.
  EXPECT_NE(refused({{{"last", "1,N,6"}}, {}}).find("accepted: also --from all"), std::string::npos)
      << refused({{{"last", "1,N,6"}}, {}});
}

// Nothing says which axes of `u` are steps and rows; named alike, they made both of them the batch.
TEST(CutGraph, LeavesOutInputsThatNoOutputNeeds) {
  OnnxBuilder b;
  b.input("u", {"N", 4, "N"}).input("x", {"N", 5}).output("y");
  b.node("Relu", {"u"}, {"dead"});
  b.node("Relu", {"x"}, {"y"});
  const auto model = compiler::check_model(b.proto), kept = compiler::check_model(b.proto);
  compiler::leave_out_unread(model.get());
  EXPECT_EQ(inputs_of(*model), Names{"x"});
  EXPECT_EQ(model->unread, Names{"u"});
  EXPECT_EQ(model->nodes.size(), 1u);
  const compiler::Graph graph = compiler::compile_graph(*model, {});
  ASSERT_EQ(graph.inputs.size(), 1u);
  ASSERT_EQ(graph.notes.size(), 1u);
  EXPECT_EQ(graph.notes[0], "input 'u': no output needs it, so the blob has no such input");
  compiler::leave_out_unread(kept.get(), {"u"});
  EXPECT_EQ(inputs_of(*kept), (Names{"u", "x"}));
}

// The reversal of one step reads them in the file, and nothing does in the blob: the library would hold them against one step.
TEST(CutGraph, LeavesOutLengthsThatNothingReadsAnyMore) {
  OnnxBuilder b;
  b.input("x", {1, "N", 5}).input("lengths", {"N"}, onnx::TensorProto::INT64).output("y");
  b.node("ReverseSequence", {"x", "lengths"}, {"r"});
  b.node("Relu", {"r"}, {"y"});
  const auto model = compiler::check_model(b.proto);
  compiler::Compiled compiled = compiler::compile_model(*model, compiler::CompileOptions());
  ASSERT_EQ(compiled.graph.inputs.size(), 1u);
  EXPECT_EQ(compiled.graph.inputs[0].name, "x");
  const compiler::SelfCheck found = compiler::check_compiled(model.get(), &compiled, {}, false);
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.note, "");
}

}  // namespace cut_graph_test
}  // namespace rnnp::testing_support
