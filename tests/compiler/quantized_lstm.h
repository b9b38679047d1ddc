// quantized_lstm.h -- an LSTM whose W and R a test makes of integers, and what its blob holds of them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_QUANTIZED_LSTM_H_
#define RNNPACK_TESTS_COMPILER_QUANTIZED_LSTM_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/verify/comparison.h"
#include "format/model.h"
#include "onnx_builder.h"
#include "pack/pack.h"

namespace rnnp::testing_support {

constexpr int64_t kInputs = 8, kHidden = 16, kRows = 4 * kHidden;

// Integers from -`most` to `most`, none of whose neighbours add up to more than 129.
inline std::vector<int64_t> integers(int64_t count, int64_t most, int seed) {
  std::vector<int64_t> q;
  for (int64_t i = 0; i < count; ++i) q.push_back((i * 37 + i * i * 11 + seed) % (2 * most + 1) - most);
  for (size_t i = 0; i + 1 < q.size(); i += 2) {
    if (std::abs(q[i] + q[i + 1]) > 129) q[i] = -q[i];
  }
  return q;
}

inline std::vector<float> scales(int64_t count) {
  std::vector<float> s;
  for (int64_t i = 0; i < count; ++i) s.push_back(0.002f + 0.0001f * static_cast<float>(i % 17));
  return s;
}

// An LSTM from x [T, 1, 8] to its y, whose W and R the caller makes of the names "W" and "R".
struct Lstm {
  OnnxBuilder b;

  explicit Lstm(int64_t opset = 21, const std::string &x = "x") : b(opset) {
    b.input("x", {"T", 1, kInputs}).output("y").random("B", {1, 2 * kRows}, 0.1);
    layer = b.node("LSTM", {x, "W", "R", "B"}, {"y"}, "layer").with("hidden_size", kHidden).proto();
    b.proto.mutable_graph()->clear_node();
  }
  const onnx::ModelProto &done() {
    *b.proto.mutable_graph()->add_node() = layer;
    return b.proto;
  }
  onnx::NodeProto layer;
};

inline compiler::Compiled compiled(const onnx::ModelProto &proto, const std::string &weights = "") {
  compiler::CompileOptions options;
  options.weights = weights;
  return compiler::compile_model(*compiler::check_model(proto), options);
}

// A blob's matrices: W, then R.
class Blob {
 public:
  explicit Blob(const std::vector<uint8_t> &bytes) : bytes_(bytes.size(), 64) {
    std::memcpy(bytes_.data(), bytes.data(), bytes.size());
    EXPECT_EQ(RNNP_OK, rnnp_model_open(&opened_, bytes_.data(), bytes.size(), RNNP_OPEN_CHECK_WEIGHTS));
    EXPECT_TRUE(read_model(&opened_, &model));
  }
  Matrix matrix(uint32_t i) const { return model.matrix(i); }
  int integer(uint32_t i, uint32_t row, uint32_t k) const {
    const Matrix m = matrix(i);
    const MatrixSource source = {nullptr, m.shape.units, m.shape.k, 0, m.shape.gates};
    return static_cast<int8_t>(m.panels[place_in_panels(m.format, source, row / m.shape.units, row % m.shape.units, k)]);
  }
  float scale(uint32_t i, uint32_t row) const { return per_row(i, row, matrix(i).scales); }
  float diagonal(uint32_t i, uint32_t row) const { return per_row(i, row, matrix(i).diagonal); }

  Model model;

 private:
  float per_row(uint32_t i, uint32_t row, const float *v) const {
    const Matrix m = matrix(i);
    const uint32_t unit = row % m.shape.units, nr = m.format.nr;
    return v[(unit / nr * m.shape.gates + row / m.shape.units) * nr + unit % nr];
  }
  compiler::AlignedBytes bytes_;
  rnnp_model opened_;
};

inline void expect_integers(const Blob &blob, uint32_t matrix, const std::vector<int64_t> &q, const std::vector<float> &scale) {
  const Matrix m = blob.matrix(matrix);
  ASSERT_EQ(DType::kI8, m.format.weight);
  for (uint32_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(scale[scale.size() == 1 ? 0 : row], blob.scale(matrix, row)) << row;
    for (uint32_t k = 0; k < m.shape.k; ++k) ASSERT_EQ(q[row * m.shape.k + k], blob.integer(matrix, row, k)) << row << " " << k;
  }
}

inline double sqnr_against_f64(const onnx::ModelProto &proto, const std::vector<uint8_t> &blob, int64_t steps = 12) {
  const auto model = compiler::check_model(proto);
  compiler::Runner runner(blob);
  compiler::Arrays arrays;
  std::map<std::string, compiler::Tensor> tensors;
  for (const rnnp_tensor_info &facts : runner.inputs()) {
    compiler::Array &a = arrays[facts.name];
    for (uint32_t i = 0; i < facts.rank; ++i)
      a.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? steps : facts.dims[i] == RNNP_DIM_BATCH ? 1 : facts.dims[i]);
    a.f32.resize(static_cast<size_t>(compiler::element_count(a.shape)));
    for (size_t i = 0; i < a.f32.size(); ++i) a.f32[i] = 2 * std::sin(static_cast<float>(i * i % 1013));
    compiler::Tensor &t = tensors[facts.name] = compiler::Tensor(compiler::Elem::kFloat, a.shape);
    std::copy(a.f32.begin(), a.f32.end(), t.data.begin());
  }
  const compiler::Arrays got = runner.run(arrays, {});
  const auto want = compiler::eval_graph(*model, tensors);
  double least = HUGE_VAL;
  for (const auto &output : want) least = std::min(least, compiler::compare(got.at(output.first), output.second).sqnr());
  return least;
}

inline void add_quantized(OnnxBuilder *b, const std::string &name, int64_t k, const std::vector<int64_t> &q,
                          const std::vector<float> &s, const std::vector<int64_t> &scale_shape) {
  b->constant_ints(name + "_q", {1, kRows, k}, q, onnx::TensorProto::INT8).constant(name + "_s", scale_shape, s);
}

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_QUANTIZED_LSTM_H_
