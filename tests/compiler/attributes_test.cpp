// attributes_test.cpp -- attributes that an operator does not have are refused by name, wherever the node stands and whoever reads
// it. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/read_proto.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace attributes_test {

using Ints = std::vector<int64_t>;

std::string refusal(const onnx::NodeProto &node, int64_t opset) {
  try {
    compiler::check_attributes(compiler::read_node(node), opset);
  } catch (const compiler::Refusal &refusal) {
    return refusal.what();
  }
  return "";
}

template <typename Value>
std::string refusal(const char *op, const char *name, Value value, int64_t opset = 17) {
  onnx::NodeProto node;
  node.set_op_type(op);
  NodeBuilder(&node).with(name, value);
  return refusal(node, opset);
}

TEST(Attributes, UnknownOnesAreRefusedWithTheNearestName) {
  EXPECT_EQ(refusal("Softmax", "temperature", 0.5), "attribute 'temperature' is not known; accepted: axis");
  EXPECT_EQ(refusal("LeakyRelu", "Alpha", 0.3), "attribute 'Alpha' is not known; accepted: alpha (the nearest is 'alpha')");
  EXPECT_EQ(refusal("Relu", "alpha", 0.3), "attribute 'alpha' is not known; accepted: no attributes");
  EXPECT_NE(refusal("Conv", "dilation", Ints{1}).find("the nearest is 'dilations'"), std::string::npos);
  EXPECT_NE(refusal("Gemm", "transb", 1).find("the nearest is 'transB'"), std::string::npos);
  EXPECT_NE(refusal("LSTM", "output_sequence", 1).find("is not known"), std::string::npos);
}

TEST(Attributes, OpsetsAndTypesCount) {
  EXPECT_EQ(refusal("Squeeze", "axes", Ints{0}, 12), "");
  EXPECT_EQ(refusal("Squeeze", "axes", Ints{0}, 13), "attribute 'axes' is of opset 12 and earlier; the model has opset 13");
  EXPECT_EQ(refusal("Clip", "min", 0.0, 10), "");
  EXPECT_NE(refusal("Clip", "min", 0.0, 11), "");
  EXPECT_EQ(refusal("Split", "num_outputs", 2, 17), "attribute 'num_outputs' is of opset 18 and later; the model has opset 17");
  EXPECT_EQ(refusal("Split", "num_outputs", 2, 18), "");
  EXPECT_EQ(refusal("Softmax", "axis", 1.0), "attribute 'axis' has the wrong type; accepted: an integer");
  EXPECT_EQ(refusal("LeakyRelu", "alpha", 1), "attribute 'alpha' has the wrong type; accepted: a float");
  EXPECT_EQ(refusal("Transpose", "perm", 1), "attribute 'perm' has the wrong type; accepted: a list of integers");
  EXPECT_EQ(refusal("Pad", "mode", 1), "attribute 'mode' has the wrong type; accepted: a string");
  EXPECT_EQ(refusal("GRU", "activation_alpha", 0.5), "attribute 'activation_alpha' has the wrong type; accepted: a list of floats");
  EXPECT_EQ(refusal("GRU", "activations", "Tanh"), "attribute 'activations' has the wrong type; accepted: a list of strings");
  EXPECT_EQ(refusal("ConstantOfShape", "value", 1.0), "attribute 'value' has the wrong type; accepted: a tensor");
  EXPECT_EQ(refusal("If", "then_branch", 1), "attribute 'then_branch' has the wrong type; accepted: a graph");
  onnx::NodeProto twice;
  twice.set_op_type("Elu");
  NodeBuilder(&twice).with("alpha", 1.0).with("alpha", 2.0);
  EXPECT_EQ(refusal(twice, 17), "attribute 'alpha' is given twice");
}

TEST(Attributes, EveryOperatorHasItsRow) {
  for (const auto *table : compiler::import_tables()) {
    for (const compiler::ImportRow &row : *table) EXPECT_TRUE(compiler::has_attribute_row(row.op_type)) << row.op_type;
  }
  for (const std::string &name : compiler::eval_operators()) EXPECT_TRUE(compiler::has_attribute_row(name)) << name;
}

// At run time, folded, in a branch, and by the evaluator.
TEST(Attributes, AreCheckedWhereverANodeIsRead) {
  OnnxBuilder run;
  run.input("X", {"N", 4}).output("Y");
  run.node("Softmax", {"X"}, {"Y"}, "soft").with("temperature", 0.5);
  EXPECT_NE(refusal_of(run.proto).find("'soft' (Softmax): attribute 'temperature' is not known"), std::string::npos);
  OnnxBuilder folded;
  folded.input("X", {"N", 4}).output("Y").constant("c", {4}, {1, 2, 3, 4});
  folded.node("Softmax", {"c"}, {"s"}, "soft").with("temperature", 0.5);
  folded.node("Add", {"X", "s"}, {"Y"});
  EXPECT_NE(refusal_of(folded.proto).find("'soft' (Softmax): attribute 'temperature' is not known"), std::string::npos);
  OnnxBuilder inner;
  inner.output("out").node("LeakyRelu", {"X"}, {"out"}, "leak").with("Alpha", 0.3);
  OnnxBuilder branch;
  branch.input("X", {"N", 4}).output("Y").constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL);
  branch.node("If", {"yes"}, {"Y"}).with("then_branch", inner.proto.graph()).with("else_branch", inner.proto.graph());
  EXPECT_NE(refusal_of(branch.proto).find("'leak' (LeakyRelu): attribute 'Alpha' is not known"), std::string::npos);
  const compiler::Tensor x(compiler::Elem::kFloat, {1, 4});
  try {
    compiler::eval_graph(*compiler::check_model(branch.proto), {{"X", x}});
    ADD_FAILURE() << "evaluated";
  } catch (const compiler::ModelError &error) {
    EXPECT_NE(std::string(error.what()).find("'Alpha' is not known"), std::string::npos) << error.what();
  }
}

// Before opset 9 it could be one of each position, which is another operator.
TEST(Attributes, NormalisationsOfWholePositionsAreRefused) {
  OnnxBuilder b(8);
  b.input("X", {"N", 2, 3}).output("Y").constant("one", {2}, {1, 1}).constant("zero", {2}, {0, 0});
  b.node("BatchNormalization", {"X", "one", "zero", "zero", "one"}, {"Y"}, "bn").with("spatial", 0);
  EXPECT_NE(refusal_of(b.proto).find("'spatial' is 0"), std::string::npos) << refusal_of(b.proto);
}

TEST(Attributes, SplitsIntoAsManyAsItSays) {
  OnnxBuilder b(18);
  b.input("X", {"N", 4}).output("Y").output("Z");
  b.node("Split", {"X"}, {"Y", "Z"}, "cut").with("axis", 1).with("num_outputs", 3);
  EXPECT_NE(refusal_of(b.proto).find("num_outputs"), std::string::npos);
}

}  // namespace attributes_test
}  // namespace rnnp::testing_support
