// quantized_operators_test.cpp -- operators on integers as onnxruntime's quantizer writes them, against their formulas: the f64
// evaluation of the same network on floats. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/compile.h"
#include "quantized_lstm.h"

namespace rnnp::testing_support {
namespace {

using onnx::TensorProto;
using Ints = std::vector<int64_t>;

// Two networks of the same outputs: of operators on integers, and of floats. Both have 'x' and 'y'.
struct Networks {
  OnnxBuilder quantized, plain;

  explicit Networks(const std::vector<Dim> &x) {
    for (OnnxBuilder *b : {&quantized, &plain}) b->input("x", x).output("y");
  }
  // A scale and zero point of uint8, from initializers or Constant nodes.
  void grid(const std::string &name, float scale, int64_t zero, int type = TensorProto::UINT8) {
    if (!from_nodes) {
      quantized.constant(name + "s", {}, {scale}).constant_ints(name + "z", {}, {zero}, type);
      return;
    }
    TensorProto s, z;
    s.set_data_type(TensorProto::FLOAT);
    s.add_float_data(scale);
    z.set_data_type(type);
    z.add_int32_data(static_cast<int32_t>(zero));
    for (const auto &part : {std::make_pair(name + "s", &s), std::make_pair(name + "z", &z)}) {
      onnx::AttributeProto *value = quantized.node("Constant", {}, {part.first}).proto().add_attribute();
      value->set_name("value");
      value->set_type(onnx::AttributeProto::TENSOR);
      *value->mutable_t() = *part.second;
    }
  }
  // Weights: integers in the one, their numbers in the other.
  void weights(const std::string &name, const Ints &shape, float scale, int seed) {
    const int64_t count = compiler::element_count(shape);
    const Ints q = integers(count, 60, seed);
    std::vector<float> w;
    for (const int64_t v : q) w.push_back(scale * static_cast<float>(v));
    quantized.constant_ints(name + "q", shape, q, TensorProto::INT8);
    grid(name, scale, 0, TensorProto::INT8);
    plain.constant(name, shape, w);
  }
  NodeBuilder microsoft(const std::string &op, const std::vector<std::string> &in, const std::string &out) {
    NodeBuilder node = quantized.node(op, in, {out}, out + ".node");
    node.proto().set_domain("com.microsoft");
    return node;
  }
  void begin() {
    grid("x", 0.025f, 128);
    quantized.node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"});
  }
  void end(const std::string &from, const std::string &grid_name) {
    quantized.node("DequantizeLinear", {from, grid_name + "s", grid_name + "z"}, {"y"});
  }

  bool from_nodes = false;
};

compiler::Arrays outputs(const std::vector<uint8_t> &blob) {
  compiler::Runner runner(blob);
  compiler::Arrays arrays;
  for (const rnnp_tensor_info &facts : runner.inputs()) {
    compiler::Array &a = arrays[facts.name];
    for (uint32_t i = 0; i < facts.rank; ++i)
      a.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? 9 : facts.dims[i] == RNNP_DIM_BATCH ? 2 : facts.dims[i]);
    a.f32.resize(static_cast<size_t>(compiler::element_count(a.shape)));
    for (size_t i = 0; i < a.f32.size(); ++i) a.f32[i] = std::sin(static_cast<float>(i * i % 1013));
  }
  return runner.run(arrays, {});
}

// Weights in f32 leave what was not rounded: nothing.
void expect_same(const Networks &n) {
  const std::vector<float> want = outputs(compiled(n.plain.proto).blob).at("y").f32;
  for (const bool floats : {true, false}) {
    const compiler::Compiled made = compiled(n.quantized.proto, floats ? "f32" : "");
    const std::vector<float> got = outputs(made.blob).at("y").f32;
    ASSERT_EQ(want.size(), got.size());
    float most = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      most = std::max(most, std::fabs(want[i]));
      ASSERT_NEAR(want[i], got[i], floats ? 1e-4 : 0.04) << i;
    }
    EXPECT_LT(0.1f, most);
  }
}

TEST(QuantizedOperators, AConvolutionWithItsBias) {
  for (const bool nodes : {false, true}) {
    Networks n({"N", 3, 12});
    n.from_nodes = nodes;
    n.begin();
    n.weights("w", {4, 3, 3}, 0.01f, 3);
    n.grid("y", 0.02f, 0);
    n.quantized.constant_ints("b", {4}, {400, -800, 0, 1200}, TensorProto::INT32);
    n.quantized.node("QLinearConv", {"xq", "xs", "xz", "wq", "ws", "wz", "ys", "yz", "b"}, {"yq"}).with("pads", Ints{1, 1});
    n.end("yq", "y");
    n.plain.constant("b", {4}, {0.1f, -0.2f, 0, 0.3f});
    n.plain.node("Conv", {"x", "w", "b"}, {"c"}).with("pads", Ints{1, 1});
    n.plain.constant("top", {}, {255 * 0.02f}).constant("zero", {}, {0});
    n.plain.node("Clip", {"c", "zero", "top"}, {"y"});  // the grid has no numbers below 0
    expect_same(n);
  }
}

TEST(QuantizedOperators, DenseLayersAndArithmetic) {
  for (const bool gemm : {false, true}) {
    Networks n({"N", 8});
    n.begin();
    n.weights("w", gemm ? Ints{6, 8} : Ints{8, 6}, 0.01f, 5);
    n.weights("v", {6}, 0.01f, 9);
    n.grid("m", 0.03f, 128);
    n.grid("a", 0.03f, 120);
    n.grid("t", 0.05f, 120);
    if (gemm) {
      n.quantized.constant_ints("b", {6}, {0, 400, -400, 100, 0, 800}, TensorProto::INT32);
      n.microsoft("QGemm", {"xq", "xs", "xz", "wq", "ws", "wz", "b", "ms", "mz"}, "mq").with("transB", 1);
      n.plain.constant("b", {6}, {0, 0.1f, -0.1f, 0.025f, 0, 0.2f});
      n.plain.node("Gemm", {"x", "w", "b"}, {"m"}).with("transB", 1);
    } else {
      n.quantized.node("QLinearMatMul", {"xq", "xs", "xz", "wq", "ws", "wz", "ms", "mz"}, {"mq"});
      n.plain.node("MatMul", {"x", "w"}, {"m"});
    }
    n.microsoft("QLinearAdd", {"mq", "ms", "mz", "vq", "vs", "vz", "as", "az"}, "aq");
    n.plain.node("Add", {"m", "v"}, {"a"});
    n.microsoft("QLinearMul", {"aq", "as", "az", "mq", "ms", "mz", "ts", "tz"}, "tq");
    n.plain.node("Mul", {"a", "m"}, {"y"});
    n.end("tq", "t");
    expect_same(n);
  }
}

TEST(QuantizedOperators, ActivationsPoolsAndConcat) {
  Networks n({"N", 4, 8});
  n.begin();
  n.grid("l", 0.02f, 20);
  n.grid("c", 0.02f, 20);
  n.grid("p", 0.02f, 20);
  n.grid("g", 0.02f, 20);
  n.grid("s", 1.0f / 255, 0);
  n.microsoft("QLinearLeakyRelu", {"xq", "xs", "xz", "ls", "lz"}, "lq").with("alpha", 0.2);
  n.microsoft("QLinearSigmoid", {"xq", "xs", "xz", "ss", "sz"}, "sq");
  n.microsoft("QLinearConcat", {"cs", "cz", "lq", "ls", "lz", "sq", "ss", "sz"}, "cq").with("axis", 1);
  n.microsoft("QLinearAveragePool", {"cq", "cs", "cz", "ps", "pz"}, "pq")
      .with("kernel_shape", Ints{2})
      .with("strides", Ints{2})
      .with("channels_last", 0);
  n.quantized.node("MaxPool", {"pq"}, {"mq"}).with("kernel_shape", Ints{2}).with("strides", Ints{2});
  n.microsoft("QLinearGlobalAveragePool", {"mq", "ps", "pz", "gs", "gz"}, "gq");
  n.end("gq", "g");
  n.plain.node("LeakyRelu", {"x"}, {"l"}).with("alpha", 0.2);
  n.plain.node("Sigmoid", {"x"}, {"s"});
  n.plain.node("Concat", {"l", "s"}, {"c"}).with("axis", 1);
  n.plain.node("AveragePool", {"c"}, {"p"}).with("kernel_shape", Ints{2}).with("strides", Ints{2});
  n.plain.node("MaxPool", {"p"}, {"m"}).with("kernel_shape", Ints{2}).with("strides", Ints{2});
  n.plain.node("GlobalAveragePool", {"m"}, {"y"});
  expect_same(n);

  auto &nodes = *n.quantized.proto.mutable_graph()->mutable_node();
  for (onnx::NodeProto &node : nodes) {
    if (node.op_type() == "QLinearAveragePool") node.mutable_attribute(2)->set_i(1);
  }
  EXPECT_NE(std::string::npos, refusal_of(n.quantized.proto).find("'pq.node' (QLinearAveragePool): attribute 'channels_last' is 1"))
      << refusal_of(n.quantized.proto);
}

// The integers of x times those of W, of which Cast and Mul make floats.
TEST(QuantizedOperators, ProductsOfIntegers) {
  for (const bool conv : {false, true}) {
    for (const bool dynamic : {false, true}) {
      for (const bool nodes : {false, true}) {
        Networks n(conv ? std::vector<Dim>{"N", 3, 12} : std::vector<Dim>{"N", 8});
        n.from_nodes = nodes;
        n.weights("w", conv ? Ints{4, 3, 3} : Ints{8, 6}, 0.01f, 3);
        if (dynamic) {
          n.quantized.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
        } else {
          n.begin();
        }
        n.quantized.node(conv ? "ConvInteger" : "MatMulInteger", {"xq", "wq", "xz", "wz"}, {"sum"}, "product");
        n.quantized.node("Cast", {"sum"}, {"float"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
        n.quantized.node("Mul", {"xs", "ws"}, {"both"});
        n.quantized.node("Mul", {"float", "both"}, {"y"});
        n.plain.node(conv ? "Conv" : "MatMul", {"x", "w"}, {"y"});
        expect_same(n);
        const Blob blob(compiled(n.quantized.proto).blob);
        EXPECT_EQ(DType::kI8, blob.matrix(0).format.weight);
      }
    }
  }
}

TEST(QuantizedOperators, ProductsWithABias) {
  for (const bool dynamic : {true, false}) {
    Networks n({"N", 8});
    n.weights("w", {8, 6}, 0.01f, 3);
    for (OnnxBuilder *b : {&n.quantized, &n.plain}) b->constant("b", {6}, {0.1f, 0, -0.3f, 0.2f, 0, 1});
    if (dynamic) {
      n.microsoft("DynamicQuantizeMatMul", {"x", "wq", "ws", "wz", "b"}, "y");
    } else {
      n.begin();
      n.microsoft("MatMulIntegerToFloat", {"xq", "wq", "xs", "ws", "xz", "wz", "b"}, "y");
    }
    n.plain.node("MatMul", {"x", "w"}, {"m"});
    n.plain.node("Add", {"m", "b"}, {"y"});
    expect_same(n);
  }
}

// As files of older tools have it, in integers of the product's scale.
TEST(QuantizedOperators, ProductsWithABiasAmongTheIntegers) {
  for (const bool conv : {false, true}) {
    for (const char *wrong : {"", "scale", "floor"}) {
      Networks n(conv ? std::vector<Dim>{"N", 3, 12} : std::vector<Dim>{"N", 8});
      n.weights("w", conv ? Ints{4, 3, 3} : Ints{8, 6}, 0.01f, 3);
      const std::vector<float> bias = conv ? std::vector<float>{0.5f, 0, -0.3f, 1} : std::vector<float>{0.1f, 0, -0.3f, 0.2f, 0, 1};
      for (OnnxBuilder *b : {&n.quantized, &n.plain}) b->constant("b", {conv ? 4 : 6}, bias);
      OnnxBuilder &q = n.quantized;
      q.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
      q.constant("other", {}, {0.5f}).constant_ints("shape", {3}, {1, -1, 1});
      q.node("Mul", {"xs", std::string(wrong) == "scale" ? "other" : "ws"}, {"bs"});
      q.node("Div", {"b", "bs"}, {"bd"});
      q.node(std::string(wrong) == "floor" ? "Ceil" : "Floor", {"bd"}, {"bf"});
      q.node("Cast", {"bf"}, {"bq"}).with("to", static_cast<int64_t>(TensorProto::INT32));
      if (conv) q.node("Reshape", {"bq", "shape"}, {"br"});
      q.node(conv ? "ConvInteger" : "MatMulInteger", {"xq", "wq", "xz", "wz"}, {"sum"}, "product");
      q.node("Add", {"sum", conv ? "br" : "bq"}, {"biased"});
      q.node("Cast", {"biased"}, {"float"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
      q.node("Mul", {"xs", "ws"}, {"both"});
      q.node("Mul", {"float", "both"}, {"y"});
      if (*wrong != '\0') {
        EXPECT_NE(std::string::npos, refusal_of(q.proto).find("it is not part of the chain")) << refusal_of(q.proto);
        continue;
      }
      n.plain.node(conv ? "Conv" : "MatMul", {"x", "w"}, {"m"});
      if (conv) n.plain.constant_ints("shape", {3}, {1, -1, 1}).node("Reshape", {"b", "shape"}, {"br"});
      n.plain.node("Add", {"m", conv ? "br" : "b"}, {"y"});
      expect_same(n);
    }
  }
}

TEST(QuantizedOperators, OfMicrosoftsDomainArePairs) {
  Networks n({"N", 8});
  n.grid("x", 0.001f, 0, TensorProto::INT16);
  n.microsoft("QuantizeLinear", {"x", "xs", "xz"}, "xq");
  n.microsoft("DequantizeLinear", {"xq", "xs", "xz"}, "y");
  n.plain.node("Identity", {"x"}, {"y"});
  expect_same(n);
}

TEST(QuantizedOperators, WhatTheyCannotBeIsRefusedByName) {
  Networks n({"N", 8});
  n.begin();
  n.weights("w", {8, 6}, 0.01f, 3);
  n.quantized.node("MatMulInteger", {"xq", "wq", "xz", "wz"}, {"y"}, "product");
  EXPECT_NE(std::string::npos, refusal_of(n.quantized.proto).find("'product' (MatMulInteger): its integers are an output"))
      << refusal_of(n.quantized.proto);
  for (const char *op : {"QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearConcat", "QLinearWhere", "QLinearSigmoid",
                         "QLinearReduceMean", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "DynamicQuantizeLSTM"}) {
    for (const std::vector<std::string> &in : {std::vector<std::string>{"x"}, std::vector<std::string>{}}) {
      Networks m({"N", 8});
      m.microsoft(op, in, "y");
      EXPECT_NE(std::string::npos, refusal_of(m.quantized.proto).find(op)) << op << refusal_of(m.quantized.proto);
    }
  }
}

}  // namespace
}  // namespace rnnp::testing_support
