// quantized_forms_test.cpp -- ONNX files that bring integers of their own, or floats of 16 bits: panels hold what the file has.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "compiler/files/files.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/choose_storage.h"
#include "quantized_lstm.h"

namespace rnnp::testing_support {
namespace {

using onnx::TensorProto;

TEST(QuantizedForms, IntegersAndScalesOfTheFileAreThoseOfThePanels) {
  for (const bool per_row : {false, true}) {
    SCOPED_TRACE(per_row ? "a scale for each row" : "one scale");
    Lstm net;
    const std::vector<int64_t> w = integers(kRows * kInputs, 120, 1), r = integers(kRows * kHidden, 127, 5);
    const std::vector<float> s = per_row ? scales(kRows) : std::vector<float>{0.003f};
    const std::vector<int64_t> shape = per_row ? std::vector<int64_t>{kRows} : std::vector<int64_t>{};
    add_quantized(&net.b, "W", kInputs, w, s, shape);
    add_quantized(&net.b, "R", kHidden, r, s, shape);
    for (const std::string name : {"W", "R"}) {
      NodeBuilder node = net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name});
      if (per_row) node.with("axis", 1);
    }
    const compiler::Compiled made = compiled(net.done());
    const Blob blob(made.blob);
    expect_integers(blob, 0, w, s);
    expect_integers(blob, 1, r, s);
    ASSERT_EQ(1u, made.graph.notes.size());
    EXPECT_NE(std::string::npos, made.graph.notes[0].find("int8 weights and their scales are kept")) << made.graph.notes[0];
    EXPECT_LT(30, sqnr_against_f64(net.b.proto, made.blob));
    EXPECT_EQ(DType::kF32, Blob(compiled(net.b.proto, "f32").blob).matrix(0).format.weight);
    expect_integers(Blob(compiled(net.b.proto, "int8").blob), 1, r, s);
  }
}

// Of two directions each has scales and zero points of its own, one or one for each row.
TEST(QuantizedForms, DirectionsDifferInScalesAndZeroPoints) {
  constexpr int64_t kDirections = 2;
  for (const bool per_row : {false, true}) {
    OnnxBuilder quantised(17), plain(17);
    for (OnnxBuilder *b : {&quantised, &plain})
      b->input("x", {"T", 1, kInputs}).output("y").random("B", {kDirections, 2 * kRows}, 0.1);
    for (const auto &matrix : {std::make_pair(std::string("W"), kInputs), std::make_pair(std::string("R"), kHidden)}) {
      const std::string &name = matrix.first;
      const int64_t k = matrix.second;
      const std::vector<int64_t> q = integers(kDirections * k * kRows, 50, name == "W" ? 1 : 5);
      const std::vector<int64_t> shape = per_row ? std::vector<int64_t>{kDirections, kRows} : std::vector<int64_t>{kDirections};
      std::vector<float> scale, weights(q.size());
      std::vector<int64_t> zero;
      for (int64_t d = 0; d < kDirections; ++d) {
        for (int64_t row = 0; row < (per_row ? kRows : 1); ++row) {
          scale.push_back(0.002f + 0.003f * static_cast<float>(d) + 0.0001f * static_cast<float>(row % 7));
          zero.push_back(d == 0 ? 9 + row % 3 : -20 - row % 5);
        }
      }
      for (int64_t i = 0; i < static_cast<int64_t>(q.size()); ++i) {
        const int64_t d = i / (k * kRows), at = i / kRows % k, row = i % kRows;
        const size_t of = static_cast<size_t>(per_row ? d * kRows + row : d);
        weights[static_cast<size_t>((d * kRows + row) * k + at)] =
            static_cast<float>(static_cast<double>(q[static_cast<size_t>(i)] - zero[of]) * static_cast<double>(scale[of]));
      }
      quantised.constant_ints(name + "q", {kDirections, k, kRows}, q, TensorProto::INT8);
      quantised.constant(name + "s", shape, scale).constant_ints(name + "z", shape, zero, TensorProto::INT8);
      plain.constant(name, {kDirections, kRows, k}, weights);
    }
    NodeBuilder node = quantised.node("DynamicQuantizeLSTM", {"x", "Wq", "Rq", "B", "", "", "", "", "Ws", "Wz", "Rs", "Rz"}, {"y"});
    node.with("hidden_size", kHidden).with("direction", "bidirectional").proto().set_domain("com.microsoft");
    plain.node("LSTM", {"x", "W", "R", "B"}, {"y"}).with("hidden_size", kHidden).with("direction", "bidirectional");
    compiler::Tensor x(compiler::Elem::kFloat, {6, 1, kInputs});
    for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = std::sin(static_cast<double>(i * i % 101));
    const auto want = compiler::eval_graph(*compiler::check_model(plain.proto), {{"x", x}}).at("y");
    const auto got = compiler::eval_graph(*compiler::check_model(quantised.proto), {{"x", x}}).at("y");
    ASSERT_EQ(want.shape, got.shape);
    for (size_t i = 0; i < want.data.size(); ++i) ASSERT_NEAR(want.data[i], got.data[i], 1e-6) << per_row << ' ' << i;
  }
}

// Where the integers of one direction are none of the panels', both directions are floats, of the file's values.
TEST(QuantizedForms, DirectionsShareAFormat) {
  for (const bool first : {true, false}) {
    OnnxBuilder b(17);
    b.input("x", {"T", 1, kInputs}).output("y").weights("", 4, 2, kInputs, kHidden);
    b.node("LSTM", {"x", "W", "R", "B"}, {"y"}, "layer").with("hidden_size", kHidden).with("direction", "bidirectional");
    compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
    auto &layer = std::get<compiler::Recurrent>(graph.nodes[0].attr);
    compiler::Storage &bytes = layer.directions[first ? 0 : 1].r_storage;
    bytes.type = DType::kI8;
    bytes.scales.assign(kRows, 0.01f);
    compiler::choose_storage(&graph, {});
    for (const compiler::Direction &direction : layer.directions) {
      EXPECT_EQ(DType::kF32, direction.r_storage.type) << first;
      EXPECT_TRUE(direction.r_storage.scales.empty()) << first;
    }
  }
}

TEST(QuantizedForms, AZeroPointMovesTheIntegers) {
  Lstm net;
  const std::vector<int64_t> w = integers(kRows * kInputs, 100, 1), r = integers(kRows * kHidden, 100, 5);
  for (const auto &matrix : {std::make_pair("W", &w), std::make_pair("R", &r)}) {
    const std::string name = matrix.first;
    std::vector<int64_t> moved = *matrix.second;
    for (int64_t &q : moved) q += 120;
    net.b.constant_ints(name + "_q", {1, kRows, static_cast<int64_t>(moved.size()) / kRows}, moved, TensorProto::UINT8)
        .constant(name + "_s", {}, {0.004f})
        .constant_ints(name + "_z", {}, {120}, TensorProto::UINT8);
    net.b.node("DequantizeLinear", {name + "_q", name + "_s", name + "_z"}, {name});
  }
  const Blob blob(compiled(net.done()).blob);
  expect_integers(blob, 0, w, {0.004f});
  expect_integers(blob, 1, r, {0.004f});
}

// 100 + 30 is one too much: one of them loses it. A row full of such pairs is cheaper to round anew.
TEST(QuantizedForms, RowsThatPanelsCannotHoldAreMovedOrRoundedAnewWhicheverErrsLess) {
  Lstm net;
  std::vector<int64_t> w = integers(kRows * kInputs, 60, 1), r = integers(kRows * kHidden, 60, 5);
  r[0] = 100, r[1] = 30;
  for (int64_t k = 0; k < kInputs; ++k) w[static_cast<size_t>(kInputs + k)] = 120 + k % 2;
  add_quantized(&net.b, "W", kInputs, w, {0.003f}, {});
  add_quantized(&net.b, "R", kHidden, r, {0.003f}, {});
  for (const std::string name : {"W", "R"}) net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name});
  const compiler::Compiled made = compiled(net.done());
  const Blob blob(made.blob);
  r[1] = 29;
  expect_integers(blob, 1, r, {0.003f});
  EXPECT_EQ(0.003f, blob.scale(0, 0));
  EXPECT_NEAR(0.003 * 241 / 128, blob.scale(0, 1), 1e-6);
  std::string notes;
  for (const std::string &note : made.graph.notes) notes += note + "\n";
  EXPECT_NE(std::string::npos, notes.find("1 of 64 rows of W")) << notes;
  EXPECT_NE(std::string::npos, notes.find("1 of 64 rows of R")) << notes;
}

// Uniform weights use all of int8, so that no row is without a pair that panels cannot hold.
TEST(QuantizedForms, AMatrixAllOfWhoseRowsAreRoundedAnewStaysInt8) {
  Lstm net;
  std::vector<int64_t> w = integers(kRows * kInputs, 60, 1), r = integers(kRows * kHidden, 60, 5);
  for (std::vector<int64_t> *q : {&w, &r}) {
    for (size_t i = 0; i < q->size(); ++i) (*q)[i] = 120 + static_cast<int64_t>(i % 3);
  }
  add_quantized(&net.b, "W", kInputs, w, {0.001f}, {});
  add_quantized(&net.b, "R", kHidden, r, {0.001f}, {});
  for (const std::string name : {"W", "R"}) net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name});
  const compiler::Compiled made = compiled(net.done());
  const Blob blob(made.blob);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(DType::kI8, blob.matrix(i).format.weight);
  EXPECT_LT(30, sqnr_against_f64(net.b.proto, made.blob));
}

TEST(QuantizedForms, ADiagonalThatIsAddedStaysApart) {
  Lstm net;
  const std::vector<int64_t> w = integers(kRows * kInputs, 120, 1);
  std::vector<int64_t> r = integers(kRows * kHidden, 120, 5);
  const std::vector<float> s = scales(kRows);
  std::vector<float> apart(static_cast<size_t>(kRows * kHidden), 0.0f);
  for (int64_t row = 0; row < kRows; ++row) {
    const size_t at = static_cast<size_t>(row * kHidden + row % kHidden);
    r[at] = 0;
    apart[at] = 0.5f + static_cast<float>(row) / 64;
  }
  add_quantized(&net.b, "W", kInputs, w, s, {kRows});
  add_quantized(&net.b, "R", kHidden, r, s, {kRows});
  net.b.constant("D", {1, kRows, kHidden}, apart);
  net.b.node("DequantizeLinear", {"W_q", "W_s"}, {"W"}).with("axis", 1);
  net.b.node("DequantizeLinear", {"R_q", "R_s"}, {"R_0"}).with("axis", 1);
  net.b.node("Add", {"R_0", "D"}, {"R"});
  const compiler::Compiled made = compiled(net.done());
  const Blob blob(made.blob);
  expect_integers(blob, 1, r, s);
  ASSERT_NE(nullptr, blob.matrix(1).diagonal);
  for (uint32_t row = 0; row < kRows; ++row) EXPECT_EQ(apart[row * kHidden + row % kHidden], blob.diagonal(1, row));
  EXPECT_EQ(nullptr, blob.matrix(0).diagonal);
  EXPECT_LT(35, sqnr_against_f64(net.b.proto, made.blob));
}

// Of onnxruntime: W [D][I][4H], and a scale for each column.
TEST(QuantizedForms, DynamicQuantizeLstmKeepsItsIntegers) {
  for (const bool per_row : {false, true}) {
    OnnxBuilder b;
    b.input("x", {"T", 1, kInputs}).output("y").random("B", {1, 2 * kRows}, 0.1);
    const std::vector<int64_t> w = integers(kRows * kInputs, 120, 1), r = integers(kRows * kHidden, 127, 5);
    const auto columns = [](const std::vector<int64_t> &rows, int64_t k) {
      std::vector<int64_t> out;
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t row = 0; row < kRows; ++row) out.push_back(rows[static_cast<size_t>(row * k + i)]);
      }
      return out;
    };
    const std::vector<float> s = per_row ? scales(kRows) : std::vector<float>{0.003f};
    const std::vector<int64_t> shape = per_row ? std::vector<int64_t>{1, kRows} : std::vector<int64_t>{1};
    b.constant_ints("Wq", {1, kInputs, kRows}, columns(w, kInputs), TensorProto::INT8)
        .constant_ints("Rq", {1, kHidden, kRows}, columns(r, kHidden), TensorProto::INT8)
        .constant("s", shape, s)
        .constant_ints("z", shape, std::vector<int64_t>(s.size(), 0), TensorProto::INT8);
    NodeBuilder node = b.node("DynamicQuantizeLSTM", {"x", "Wq", "Rq", "B", "", "", "", "", "s", "z", "s", "z"}, {"y"}, "layer");
    node.with("hidden_size", kHidden).proto().set_domain("com.microsoft");
    const compiler::Compiled made = compiled(b.proto);
    const Blob blob(made.blob);
    expect_integers(blob, 0, w, s);
    expect_integers(blob, 1, r, s);
    EXPECT_LT(30, sqnr_against_f64(b.proto, made.blob));
  }
}

// Both directions of an LSTM, by `form`: a scale and a zero point for each direction, or for each of its columns.
TEST(QuantizedForms, DynamicQuantizeLstmHasScalesAndZeroPointsOfEachDirection) {
  for (const bool per_column : {false, true}) {
    OnnxBuilder quantized, plain;
    for (OnnxBuilder *b : {&quantized, &plain}) b->input("x", {"T", 1, kInputs}).output("y").random("B", {2, 2 * kRows}, 0.1);
    std::vector<std::string> inputs = {"x", "Wq", "Rq", "B", "", "", "", ""};
    for (const auto &part : {std::make_pair(std::string("W"), kInputs), {std::string("R"), kHidden}}) {
      const int64_t k = part.second, groups = per_column ? 2 * kRows : 2;
      const std::vector<int64_t> q = integers(2 * k * kRows, 60, static_cast<int>(k));
      std::vector<float> s, w(q.size());
      std::vector<int64_t> z;
      for (int64_t i = 0; i < groups; ++i) {
        s.push_back(0.001f + 0.002f * static_cast<float>(i % 7));
        z.push_back(5 - i % 11);
      }
      for (int64_t d = 0; d < 2; ++d) {
        for (int64_t i = 0; i < k; ++i) {
          for (int64_t row = 0; row < kRows; ++row) {
            const size_t at = static_cast<size_t>(per_column ? d * kRows + row : d);
            const int64_t number = q[static_cast<size_t>((d * k + i) * kRows + row)];
            w[static_cast<size_t>((d * kRows + row) * k + i)] = static_cast<float>(number - z[at]) * s[at];
          }
        }
      }
      const std::vector<int64_t> shape = per_column ? std::vector<int64_t>{2, kRows} : std::vector<int64_t>{2};
      quantized.constant_ints(part.first + "q", {2, k, kRows}, q, TensorProto::INT8).constant(part.first + "s", shape, s);
      quantized.constant_ints(part.first + "z", shape, z, TensorProto::INT8);
      plain.constant(part.first, {2, kRows, k}, w);
      inputs.insert(inputs.end(), {part.first + "s", part.first + "z"});
    }
    NodeBuilder node = quantized.node("DynamicQuantizeLSTM", inputs, {"y"}, "layer");
    node.with("hidden_size", kHidden).with("direction", "bidirectional").proto().set_domain("com.microsoft");
    plain.node("LSTM", {"x", "W", "R", "B"}, {"y"}, "layer").with("hidden_size", kHidden).with("direction", "bidirectional");
    compiler::Array x;
    x.shape = {5, 1, kInputs};
    for (int i = 0; i < 5 * kInputs; ++i) x.f32.push_back(0.1f * static_cast<float>(i % 13 - 6));
    compiler::Runner left(compiled(quantized.proto, "f32").blob), right(compiled(plain.proto, "f32").blob);
    const std::vector<float> got = left.run({{"x", x}}, {}).at("y").f32, want = right.run({{"x", x}}, {}).at("y").f32;
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(want[i], got[i], 1e-6) << per_column << " " << i;
  }
}

// The blob has the numbers of the file then, and nothing is moved.
TEST(QuantizedForms, RowsThatPanelsCannotHoldAreTheirNumbersWhereF32IsAskedFor) {
  Lstm net;
  std::vector<int64_t> w = integers(kRows * kInputs, 60, 1), r = integers(kRows * kHidden, 60, 5);
  r[0] = 100, r[1] = 30;
  for (int64_t k = 0; k < kInputs; ++k) w[static_cast<size_t>(kInputs + k)] = 120 + k % 2;
  add_quantized(&net.b, "W", kInputs, w, {0.003f}, {});
  add_quantized(&net.b, "R", kHidden, r, {0.003f}, {});
  for (const std::string name : {"W", "R"}) net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name});
  const compiler::Compiled made = compiled(net.done(), "f32");
  const Blob blob(made.blob);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(DType::kF32, blob.matrix(i).format.weight);
  for (const std::string &note : made.graph.notes) EXPECT_EQ(std::string::npos, note.find("rows of")) << note;
  EXPECT_LT(100, sqnr_against_f64(net.b.proto, made.blob));
}

OnnxBuilder product_chain() {
  OnnxBuilder b;
  b.input("x", {"T", 1, kInputs}).output("y");
  b.constant_ints("Q", {kInputs, kRows}, integers(kInputs * kRows, 60, 3), TensorProto::INT8)
      .constant("s", {}, {0.01f})
      .constant_ints("z", {}, {0}, TensorProto::INT8);
  b.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
  b.node("MatMulInteger", {"xq", "Q", "xz", "z"}, {"whole"}, "product");
  b.node("Cast", {"whole"}, {"float"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
  b.node("Mul", {"xs", "s"}, {"both"});
  b.node("Mul", {"float", "both"}, {"y"}, "last");
  return b;
}

TEST(QuantizedForms, AChainAroundMatMulIntegerIsALayerThatKeepsItsIntegers) {
  const OnnxBuilder b = product_chain();
  const compiler::Compiled made = compiled(b.proto);
  const Blob blob(made.blob);
  ASSERT_EQ(1u, made.graph.nodes.size());
  ASSERT_EQ(DType::kI8, blob.matrix(0).format.weight);
  const std::vector<int64_t> q = integers(kInputs * kRows, 60, 3);
  for (uint32_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(0.01f, blob.scale(0, row));
    for (uint32_t k = 0; k < kInputs; ++k) EXPECT_EQ(q[k * kRows + row], blob.integer(0, row, k));
  }
  EXPECT_LT(35, sqnr_against_f64(b.proto, made.blob));
}

// A weight's factor for each output, and the matrix by its columns.
TEST(QuantizedForms, IntegersSurviveMovesAndFactors) {
  OnnxBuilder b;
  b.input("x", {"T", 1, kInputs}).output("y").random("factor", {kRows}, 1.0);
  const std::vector<int64_t> q = integers(kRows * kInputs, 120, 1);
  const std::vector<float> s = scales(kRows);
  b.constant_ints("Q", {kRows, kInputs}, q, TensorProto::INT8).constant("s", {kRows}, s);
  b.node("DequantizeLinear", {"Q", "s"}, {"rows"}).with("axis", 0);
  b.node("Transpose", {"rows"}, {"columns"}).with("perm", std::vector<int64_t>{1, 0});
  b.node("MatMul", {"x", "columns"}, {"product"});
  b.node("Mul", {"product", "factor"}, {"y"});
  const compiler::Compiled made = compiled(b.proto);
  ASSERT_EQ(1u, made.graph.nodes.size());
  const Blob blob(made.blob);
  const auto &factor = b.proto.graph().initializer(0);
  for (uint32_t row = 0; row < kRows; ++row) {
    const float by = factor.float_data(static_cast<int>(row));
    ASSERT_FLOAT_EQ(s[row] * std::fabs(by), blob.scale(0, row)) << row;
    for (uint32_t k = 0; k < kInputs; ++k)
      ASSERT_EQ(by < 0 ? -q[row * kInputs + k] : q[row * kInputs + k], blob.integer(0, row, k));
  }
  EXPECT_LT(35, sqnr_against_f64(b.proto, made.blob));
}

TEST(QuantizedForms, NumbersOfSixteenBitsArePanelsOfThem) {
  for (const bool brain : {false, true}) {
    for (const bool cast : {false, true}) {
      Lstm net;
      for (const std::string name : {"W", "R"}) {
        const int64_t k = name == "W" ? kInputs : kHidden;
        std::vector<int64_t> bits;
        for (int64_t i = 0; i < kRows * k; ++i) bits.push_back((brain ? 0x3e00 : 0x3000) + i % 61 + (i % 2) * 0x8000);
        net.b.constant_ints(cast ? name + "_h" : name, {1, kRows, k}, bits, brain ? TensorProto::BFLOAT16 : TensorProto::FLOAT16);
        if (cast) net.b.node("Cast", {name + "_h"}, {name}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
      }
      const compiler::Compiled made = compiled(net.done());
      const Blob blob(made.blob);
      for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(brain ? DType::kBf16 : DType::kF16, blob.matrix(i).format.weight);
      EXPECT_LT(110, sqnr_against_f64(net.b.proto, made.blob));
      EXPECT_EQ(DType::kF32, Blob(compiled(net.b.proto, "f32").blob).matrix(0).format.weight);
    }
  }
}

void add_nibbles(OnnxBuilder *b, const std::string &name, const std::vector<int64_t> &shape, const std::vector<int64_t> &q) {
  TensorProto *tensor = b->proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(22);  // INT4
  for (const int64_t dim : shape) tensor->add_dims(dim);
  for (size_t i = 0; i < q.size(); i += 2)
    tensor->mutable_raw_data()->push_back(static_cast<char>((q[i] & 15) | (q[i + 1] & 15) << 4));
}

TEST(QuantizedForms, IntegersOfFourBitsWithAScaleARowAreKept) {
  Lstm net;
  const std::vector<int64_t> w = integers(kRows * kInputs, 7, 1), r = integers(kRows * kHidden, 7, 5);
  const std::vector<float> s = scales(kRows);
  add_nibbles(&net.b, "W_q", {1, kRows, kInputs}, w);
  add_nibbles(&net.b, "R_q", {1, kRows, kHidden}, r);
  net.b.constant("s", {kRows}, s);
  for (const std::string name : {"W", "R"}) net.b.node("DequantizeLinear", {name + "_q", "s"}, {name}).with("axis", 1);
  const Blob blob(compiled(net.done()).blob);
  expect_integers(blob, 0, w, s);
  expect_integers(blob, 1, r, s);
}

TEST(QuantizedForms, IntegersOfFourBitsInBlocksAreTheirNumbers) {
  Lstm net;
  const std::vector<int64_t> w = integers(kRows * kInputs, 7, 1), r = integers(kRows * kHidden, 7, 5);
  add_nibbles(&net.b, "W_q", {1, kRows, kInputs}, w);
  add_nibbles(&net.b, "R_q", {1, kRows, kHidden}, r);
  net.b.constant("W_s", {1, kRows, 2}, scales(kRows * 2)).constant("R_s", {1, kRows, 4}, scales(kRows * 4));
  for (const std::string name : {"W", "R"})
    net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name}).with("axis", 2).with("block_size", 4);
  const onnx::ModelProto proto = net.done();
  EXPECT_LT(110, sqnr_against_f64(proto, compiled(proto).blob));
}

TEST(QuantizedForms, SparseInitializersAreTheirNumbers) {
  for (const bool linear : {true, false}) {
    Lstm net;
    net.b.random("W", {1, kRows, kInputs}, 0.3);
    std::vector<float> dense(static_cast<size_t>(kRows * kHidden), 0.0f);
    onnx::SparseTensorProto *sparse = net.b.proto.mutable_graph()->add_sparse_initializer();
    sparse->mutable_values()->set_name("R");
    sparse->mutable_values()->set_data_type(TensorProto::FLOAT);
    sparse->mutable_indices()->set_data_type(TensorProto::INT64);
    int64_t count = 0;
    for (int64_t at = 3; at < kRows * kHidden; at += 7, ++count) {
      dense[static_cast<size_t>(at)] = std::sin(static_cast<float>(at)) / 2;
      sparse->mutable_values()->add_float_data(dense[static_cast<size_t>(at)]);
      if (linear) {
        sparse->mutable_indices()->add_int64_data(at);
      } else {
        for (const int64_t index : {int64_t{0}, at / kHidden, at % kHidden}) sparse->mutable_indices()->add_int64_data(index);
      }
    }
    sparse->mutable_values()->add_dims(count);
    sparse->mutable_indices()->add_dims(count);
    if (!linear) sparse->mutable_indices()->add_dims(3);
    for (const int64_t dim : {int64_t{1}, kRows, kHidden}) sparse->add_dims(dim);
    onnx::ModelProto plain = net.done();
    plain.mutable_graph()->clear_sparse_initializer();
    TensorProto *r = plain.mutable_graph()->add_initializer();
    r->set_name("R");
    r->set_data_type(TensorProto::FLOAT);
    for (const int64_t dim : {int64_t{1}, kRows, kHidden}) r->add_dims(dim);
    for (const float v : dense) r->add_float_data(v);
    EXPECT_EQ(compiled(plain).blob, compiled(net.b.proto).blob);
    sparse->mutable_indices()->set_int64_data(0, kRows * kHidden);
    EXPECT_NE(std::string::npos, refusal_of(net.b.proto).find("sparse initializer 'R': it has the index"))
        << refusal_of(net.b.proto);
  }
}

// x quantised around 0 by a scale; around 3, which bytes of panels are not.
TEST(QuantizedForms, QuantisedEdgesAreScalesOfX) {
  for (const int64_t zero : {0, 3}) {
    Lstm net(21, "x_dq");
    const std::vector<int64_t> w = integers(kRows * kInputs, 120, 1), r = integers(kRows * kHidden, 127, 5);
    add_quantized(&net.b, "W", kInputs, w, {0.003f}, {});
    add_quantized(&net.b, "R", kHidden, r, {0.003f}, {});
    for (const std::string name : {"W", "R"}) net.b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name});
    net.b.constant("x_s", {}, {0.03f}).constant_ints("x_z", {}, {zero}, TensorProto::INT8);
    net.b.node("QuantizeLinear", {"x", "x_s", "x_z"}, {"x_q"}, "edge");
    net.b.node("DequantizeLinear", {"x_q", "x_s", "x_z"}, {"x_dq"});
    const compiler::Compiled made = compiled(net.done());
    const Blob blob(made.blob);
    EXPECT_EQ(zero == 0 ? 0.03f : 0.0f, blob.matrix(0).lhs_scale);
    EXPECT_EQ(1.0f / 127.0f, blob.matrix(1).lhs_scale);
    EXPECT_EQ(zero == 0 ? 1u : 2u, made.graph.notes.size());
    EXPECT_LT(25, sqnr_against_f64(net.b.proto, made.blob));
  }
}

TEST(QuantizedForms, AnEdgeOfTwoGridsStretchesAndShifts) {
  Lstm net(21, "x_dq");
  net.b.random("W", {1, kRows, kInputs}).random("R", {1, kRows, kHidden});
  net.b.constant("s", {}, {0.03f}).constant("t", {}, {0.06f});
  net.b.constant_ints("z", {}, {3}, TensorProto::INT8).constant_ints("u", {}, {-5}, TensorProto::INT8);
  net.b.node("QuantizeLinear", {"x", "s", "z"}, {"x_q"}, "edge");
  net.b.node("DequantizeLinear", {"x_q", "t", "u"}, {"x_dq"});
  const compiler::Compiled made = compiled(net.done());
  EXPECT_LT(25, sqnr_against_f64(net.b.proto, made.blob));
}

TEST(QuantizedForms, AScaleThatNothingCanBeDividedByIsRefused) {
  for (const float scale : {0.0f, -0.01f, INFINITY, NAN}) {
    Lstm net(21, "x_dq");
    net.b.random("W", {1, kRows, kInputs}).random("R", {1, kRows, kHidden}).constant("s", {}, {scale});
    net.b.node("QuantizeLinear", {"x", "s"}, {"x_q"}, "edge");
    net.b.node("DequantizeLinear", {"x_q", "s"}, {"x_dq"});
    const std::string text = refusal_of(net.done());
    EXPECT_NE(std::string::npos, text.find("'edge' (QuantizeLinear): its scale is not a finite number above 0")) << text;
  }
}

TEST(QuantizedForms, OtherFormsAreRefusedByTheirNames) {
  OnnxBuilder chain = product_chain();
  chain.proto.mutable_graph()->mutable_node(4)->set_op_type("Add");
  std::string text = refusal_of(chain.proto);
  EXPECT_NE(std::string::npos, text.find("'product' (MatMulInteger)")) << text;
  EXPECT_NE(std::string::npos, text.find("DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, Mul")) << text;

  // Nodes that lack what the chain needs are refused, not read.
  for (int node = 0; node < 5; ++node) {
    for (const bool inputs : {true, false}) {
      OnnxBuilder damaged = product_chain();
      onnx::NodeProto *hurt = damaged.proto.mutable_graph()->mutable_node(node);
      if (inputs) {
        hurt->clear_input();
      } else {
        hurt->clear_output();
      }
      EXPECT_NE("", refusal_of(damaged.proto)) << node << inputs;
    }
  }

  OnnxBuilder other_scale;
  other_scale.input("x", {"T", 1, kInputs}).output("y").constant("s", {}, {0.5f});
  other_scale.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
  other_scale.node("DequantizeLinear", {"xq", "s", "xz"}, {"y"}, "back");
  text = refusal_of(other_scale.proto);
  EXPECT_NE(std::string::npos, text.find("its scale is not that of the DynamicQuantizeLinear before it")) << text;

  Lstm net(21, "x_q");
  net.b.random("W", {1, kRows, kInputs}).random("R", {1, kRows, kHidden}).constant("s", {}, {0.03f});
  net.b.node("QuantizeLinear", {"x", "s"}, {"x_q"}, "edge");
  text = refusal_of(net.done());
  net.b.node("Cast", {"x_q"}, {"z"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
  net.b.output("z");
  EXPECT_NE(std::string::npos, refusal_of(net.b.proto).find("'z' (Cast): input 0 comes from QuantizeLinear"))
      << refusal_of(net.b.proto);
  EXPECT_NE(std::string::npos, text.find("comes from QuantizeLinear; accepted: DequantizeLinear behind that")) << text;

  OnnxBuilder foreign;
  foreign.input("x", {"T", 1, kInputs}).output("y");
  foreign.node("QuantLSTMCell", {"x"}, {"y"}, "cell").proto().set_domain("onnx.brevitas");
  text = refusal_of(foreign.proto);
  EXPECT_NE(std::string::npos, text.find("'onnx.brevitas'")) << text;
}

// Every file of a folder of such models, where there is one.
TEST(QuantizedForms, EveryFileOfAFolderCompilesAndRuns) {
  const char *folder = std::getenv("RNNPACK_MODELS_LP_DIR");
  if (folder == nullptr) GTEST_SKIP() << "RNNPACK_MODELS_LP_DIR is not set";
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(std::string(folder) + "/onnx_forms")) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::vector<uint8_t> bytes = compiler::read_file(entry.path().string());
    onnx::ModelProto proto;
    ASSERT_TRUE(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    const compiler::Compiled made = compiled(proto);
    const double sqnr = sqnr_against_f64(proto, made.blob);
    EXPECT_LT(18, sqnr);
    if (std::getenv("RNNPACK_SHOW") != nullptr) {
      std::printf("%s: %.1f dB\n", entry.path().filename().c_str(), sqnr);
      for (const std::string &note : made.graph.notes) std::printf("    %s\n", note.c_str());
    }
    ++count;
  }
  EXPECT_EQ(35u, count);
}

// Nothing of such a node is ever read.
TEST(QuantizedForms, AnAddWithoutOutputsIsRefused) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 4}).constant("s", {}, {0.5f}).constant("c", {4}, {0, 1, 0, 0});
  b.constant_ints("q", {4}, {1, 2, 3, 4}, onnx::TensorProto::INT8);
  b.node("DequantizeLinear", {"q", "s"}, {"w"});
  b.node("Add", {"w", "c"}, {}, "add");
  b.node("Relu", {"x"}, {"y"});
  b.output("y");
  EXPECT_NE(refusal_of(b.proto).find("'add' (Add): it has 0 outputs; accepted: 1"), std::string::npos) << refusal_of(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
