// hostile_arity_test.cpp -- nodes with too few or too many inputs and outputs, and counts that do not fit, wherever a file may have
// them: refused by the node's name before anything reads them. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace hostile_arity_test {

using onnx::NodeProto;

std::set<std::string> operators() {
  std::set<std::string> names;
  for (const auto *table : compiler::import_tables()) {
    for (const compiler::ImportRow &row : *table) {
      if (std::string(row.op_type).find('.') == std::string::npos) names.insert(row.op_type);
    }
  }
  for (const std::string &name : compiler::eval_operators()) names.insert(name);
  for (const char *name : {"If", "Loop", "Scan", "DynamicQuantizeLinear", "MatMulInteger"}) names.insert(name);
  return names;
}

NodeProto node_of(const std::string &op, int inputs, int outputs) {
  NodeProto node;
  node.set_op_type(op);
  node.set_name("bad");
  for (int i = 0; i < inputs; ++i) node.add_input("X");
  for (int i = 0; i < outputs; ++i) node.add_output("made" + std::to_string(i));
  return node;
}

OnnxBuilder sound(int64_t opset) {
  OnnxBuilder b(opset);
  b.input("X", {"T", "N", 3}).output("Y");
  b.node("Relu", {"X"}, {"Y"});
  return b;
}

onnx::ModelProto in_graph(const NodeProto &node, int64_t opset) {
  OnnxBuilder b = sound(opset);
  *b.proto.mutable_graph()->add_node() = node;
  return b.proto;
}

onnx::ModelProto in_branch_of_branch(const NodeProto &node, int64_t opset) {
  OnnxBuilder b = sound(opset);
  onnx::GraphProto inner, outer;
  *inner.add_node() = node;
  NodeProto *middle = outer.add_node();
  middle->set_op_type("If");
  middle->add_input("X");
  middle->add_output("m");
  NodeBuilder(middle).with("then_branch", inner).with("else_branch", inner);
  b.node("If", {"X"}, {"z"}).with("then_branch", outer).with("else_branch", outer);
  return b.proto;
}

onnx::ModelProto in_function(const NodeProto &node, int64_t opset) {
  OnnxBuilder b = sound(opset);
  onnx::FunctionProto *function = b.proto.add_functions();
  function->set_domain("local");
  function->set_name("f");
  function->add_opset_import()->set_version(opset);
  *function->add_node() = node;
  return b.proto;
}

void expect_refused(const NodeProto &node, int64_t opset) {
  for (const auto place : {in_graph, in_branch_of_branch, in_function}) {
    const std::string text = refusal_of(place(node, opset));
    EXPECT_NE(text.find("'bad' (" + node.op_type() + "): it has"), std::string::npos) << node.op_type() << ": " << text;
  }
}

TEST(HostileArity, NoOperatorIsReadWithoutOutputs) {
  for (const std::string &op : operators()) {
    for (const int64_t opset : {7, 13, 25}) expect_refused(node_of(op, 1, 0), opset);
  }
}

TEST(HostileArity, NoOperatorIsReadWithoutItsInputs) {
  int refused = 0;
  for (const std::string &op : operators()) {
    for (const int64_t opset : {7, 13, 25}) {
      const std::string text = refusal_of(in_graph(node_of(op, 0, 1), opset));
      if (text.find("it has 0 inputs; accepted: ") != std::string::npos) ++refused;
      EXPECT_TRUE(text.find("accepted: ") != std::string::npos || op == "Constant") << op << ": " << text;
    }
  }
  EXPECT_GE(refused, 3 * (static_cast<int>(operators().size()) - 1));
}

TEST(HostileArity, NoOperatorIsReadWithMoreThanItsSchemaHas) {
  for (const char *op : {"Squeeze", "Identity", "Gather", "GRU", "LSTM", "Slice", "Relu", "Constant"})
    expect_refused(node_of(op, 9, 1), 17);
  for (const char *op : {"Identity", "Gather", "GRU", "Relu"}) expect_refused(node_of(op, 1, 9), 17);
}

TEST(HostileArity, AnInputThatMustBeThereHasAName) {
  OnnxBuilder b = sound(11);
  b.node("Squeeze", {""}, {"q"}, "bad");
  EXPECT_NE(refusal_of(b.proto).find("'bad' (Squeeze): input 0 is missing"), std::string::npos) << refusal_of(b.proto);
}

// The call leaves out what the body needs.
TEST(HostileArity, ACallMustGiveWhatItsBodyReads) {
  OnnxBuilder b = sound(17);
  NodeProto squeeze;
  squeeze.set_op_type("Squeeze");
  squeeze.set_name("bad");
  squeeze.add_input("x");
  squeeze.add_output("y");
  b.proto = in_function(squeeze, 17);
  b.proto.mutable_functions(0)->add_input("x");
  b.proto.mutable_functions(0)->add_output("y");
  b.node("f", {}, {"z"}, "call").proto().set_domain("local");
  EXPECT_NE(refusal_of(b.proto).find("(Squeeze): input 0 is missing"), std::string::npos) << refusal_of(b.proto);
}

TEST(HostileArity, TwoInitializersOfOneName) {
  OnnxBuilder b = sound(17);
  b.random("twice", {3}).random("twice", {3});
  EXPECT_NE(refusal_of(b.proto).find("initializer 'twice': the name is used twice"), std::string::npos) << refusal_of(b.proto);
}

// Counts of 64 bits, of which 32 would fit.
TEST(HostileArity, AScanOfMoreSequencesThanInputs) {
  for (const int64_t count : {(int64_t{1} << 32) + 1, (int64_t{1} << 40) + 1, INT64_MAX, INT64_MIN, int64_t{0}}) {
    OnnxBuilder b(17);
    b.input("h0", {"N", 3}).input("X", {"T", "N", 3}).output("hf");
    OnnxBuilder body(17);
    body.input("h", {"N", 3}).input("x", {"N", 3}).output("h2").output("o");
    body.node("Add", {"h", "x"}, {"h2"});
    body.node("Identity", {"h2"}, {"o"});
    b.node("Scan", {"h0", "X"}, {"hf", "z"}, "scan").with("num_scan_inputs", count).with("body", body.proto.graph());
    EXPECT_NE(refusal_of(b.proto), "");
    std::map<std::string, compiler::Tensor> inputs;
    inputs["h0"] = compiler::Tensor(compiler::Elem::kFloat, {2, 3});
    inputs["X"] = compiler::Tensor(compiler::Elem::kFloat, {4, 2, 3});
    try {
      compiler::eval_graph(*compiler::check_model(b.proto), inputs);
      ADD_FAILURE() << count;
    } catch (const compiler::ModelError &error) {
      EXPECT_NE(std::string(error.what()).find("'num_scan_inputs' is " + std::to_string(count)), std::string::npos) << error.what();
    }
  }
}

TEST(HostileArity, BlocksLargerThanTheirAxis) {
  OnnxBuilder b(21);
  b.input("X", {"N", 4}).output("Y").constant_ints("q", {4, 4}, std::vector<int64_t>(16, 1), onnx::TensorProto::INT8);
  b.constant("s", {1, 4}, {1, 1, 1, 1});
  b.node("DequantizeLinear", {"q", "s"}, {"w"}).with("axis", 0).with("block_size", INT64_MAX);
  b.node("MatMul", {"X", "w"}, {"Y"});
  EXPECT_EQ(refusal_of(b.proto), "");
}

// What used to end as an exception of the C++ library.
TEST(HostileArity, OperandsWithoutElementsAreRefusedByTheNode) {
  OnnxBuilder top(17);
  top.input("X", {"N", 3}).output("Y").constant_ints("k", {0}, {}).constant("c", {3}, {1, 2, 3});
  top.node("TopK", {"c", "k"}, {"v", "i"}, "top");
  top.node("Add", {"X", "v"}, {"Y"});
  EXPECT_NE(refusal_of(top.proto).find("'top' (TopK): K has shape [0]"), std::string::npos) << refusal_of(top.proto);
  OnnxBuilder branch(17);
  branch.input("X", {"N", 3}).output("Y").constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL);
  OnnxBuilder inner(17);
  inner.output("nothing");
  branch.node("If", {"yes"}, {"z"}, "if").with("then_branch", inner.proto.graph()).with("else_branch", inner.proto.graph());
  branch.node("Add", {"X", "z"}, {"Y"});
  EXPECT_NE(refusal_of(branch.proto), "");
}

// Calls of calls: 2^14 nodes from 2 KiB.
TEST(HostileArity, NodesAreCountedBeforeTheyAreMade) {
  OnnxBuilder b(17);
  b.input("X", {"T", "N", 3}).output("Y");
  for (int depth = 0; depth <= 14; ++depth) {
    onnx::FunctionProto *function = b.proto.add_functions();
    function->set_domain("local");
    function->set_name("f" + std::to_string(depth));
    function->add_opset_import()->set_version(17);
    function->add_input("x");
    function->add_output("y");
    for (int half = 0; half < (depth == 0 ? 1 : 2); ++half) {
      NodeProto *node = function->add_node();
      node->set_op_type(depth == 0 ? "Relu" : "f" + std::to_string(depth - 1));
      node->set_domain(depth == 0 ? "" : "local");
      node->add_input(half == 0 ? "x" : "t");
      node->add_output(depth > 0 && half == 0 ? "t" : "y");
    }
  }
  b.node("f14", {"X"}, {"Y"}).proto().set_domain("local");
  EXPECT_NE(refusal_of(b.proto).find("so often that its graph becomes too large"), std::string::npos) << refusal_of(b.proto);
}

TEST(HostileArity, MoreNodesThanABlobCanHoldEndTheReading) {
  OnnxBuilder b(17);
  b.input("X", {"T", "N", 3}).output("Y");
  const int many = 20000;
  for (int i = 0; i < many; ++i)
    b.node("Sin", {i == 0 ? "X" : "v" + std::to_string(i)}, {i + 1 == many ? "Y" : "v" + std::to_string(i + 1)});
  EXPECT_NE(refusal_of(b.proto).find("graph: it has more than 16384 nodes; accepted: up to 4096"), std::string::npos)
      << refusal_of(b.proto);
}

}  // namespace hostile_arity_test
}  // namespace rnnp::testing_support
