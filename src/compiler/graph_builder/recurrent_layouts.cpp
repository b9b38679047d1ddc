// recurrent_layouts.cpp -- weights of Keras and PyTorch in the order of ONNX's gates. Contract: built_layers.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_builder/built_layers.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Which gate of the source stands at each place of ONNX: RNN; z r h; i o f c.
std::vector<int64_t> gate_order(Recurrence kind, bool torch) {
  if (kind == Recurrence::kRnn) return {0};
  if (kind == Recurrence::kGru) return torch ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{0, 1, 2};
  return {0, 3, 1, 2};
}

// Blocks of `block` elements in the order of the gates.
std::vector<float> by_gates(const std::vector<float> &from, const std::vector<int64_t> &order, size_t block) {
  std::vector<float> out;
  out.reserve(from.size());
  for (const int64_t gate : order) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(gate) * block);
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(block));
  }
  return out;
}

}  // namespace

Weights transposed(const Weights &matrix) {
  const size_t rows = static_cast<size_t>(matrix.shape[0]), columns = static_cast<size_t>(matrix.shape[1]);
  Weights out{{matrix.shape[1], matrix.shape[0]}, std::vector<float>(matrix.data.size())};
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) out.data[j * rows + i] = matrix.data[i * columns + j];
  }
  return out;
}

void check_shape(const std::string &what, const Weights &weights, const std::vector<int64_t> &wanted) {
  int64_t count = 1;
  for (const int64_t size : weights.shape) count *= size;
  if (weights.shape == wanted && count == static_cast<int64_t>(weights.data.size()) && count > 0) return;
  throw ModelError(what + " has shape " + shape_text(weights.shape) + "; expected: " + shape_text(wanted));
}

int64_t gates_of(Recurrence kind) {
  constexpr int64_t kGates[] = {1, 3, 4};
  return kGates[static_cast<int>(kind)];
}

RecurrentWeights of_torch(const std::string &what, Recurrence kind, const Weights &ih, const Weights &hh, const Weights &bias_ih,
                          const Weights &bias_hh) {
  const int64_t gates = gates_of(kind);
  if (ih.shape.size() != 2 || hh.shape.size() != 2)
    throw ModelError(what + ": its weights have shapes " + shape_text(ih.shape) + " and " + shape_text(hh.shape) +
                     "; expected: matrices");
  const int64_t hidden = hh.shape[1], features = ih.shape[1];
  check_shape(what + ": its input weights", ih, {gates * hidden, features});
  check_shape(what + ": its recurrent weights", hh, {gates * hidden, hidden});
  const std::vector<int64_t> order = gate_order(kind, true);
  const size_t h = static_cast<size_t>(hidden);
  RecurrentWeights out;
  out.kind = kind;
  out.w = {ih.shape, by_gates(ih.data, order, h * static_cast<size_t>(features))};
  out.r = {hh.shape, by_gates(hh.data, order, h * h)};
  if (bias_ih.empty() != bias_hh.empty()) throw ModelError(what + ": it has one bias of two");
  if (bias_ih.empty()) return out;
  check_shape(what + ": its input bias", bias_ih, {gates * hidden});
  check_shape(what + ": its recurrent bias", bias_hh, {gates * hidden});
  out.input_bias = by_gates(bias_ih.data, order, h);
  out.recurrent_bias = by_gates(bias_hh.data, order, h);
  return out;
}

RecurrentWeights of_keras(const std::string &what, Recurrence kind, const Weights &kernel, const Weights &recurrent,
                          const Weights &bias) {
  const int64_t gates = gates_of(kind);
  if (kernel.shape.size() != 2 || recurrent.shape.size() != 2)
    throw ModelError(what + ": its kernels have shapes " + shape_text(kernel.shape) + " and " + shape_text(recurrent.shape) +
                     "; expected: matrices");
  const int64_t hidden = recurrent.shape[0], features = kernel.shape[0];
  check_shape(what + ": its kernel", kernel, {features, gates * hidden});
  check_shape(what + ": its recurrent kernel", recurrent, {hidden, gates * hidden});
  const std::vector<int64_t> order = gate_order(kind, false);
  const size_t h = static_cast<size_t>(hidden);
  RecurrentWeights out;
  out.kind = kind;
  out.w = {{gates * hidden, features}, by_gates(transposed(kernel).data, order, h * static_cast<size_t>(features))};
  out.r = {{gates * hidden, hidden}, by_gates(transposed(recurrent).data, order, h * h)};
  out.reset_after = bias.shape.size() == 2;
  if (bias.empty()) return out;
  const size_t one = static_cast<size_t>(gates) * h;
  if (bias.shape.size() == 2)
    check_shape(what + ": its bias", bias, {2, gates * hidden});
  else
    check_shape(what + ": its bias", bias, {gates * hidden});
  const auto half = bias.data.begin() + static_cast<std::ptrdiff_t>(one);
  out.input_bias = by_gates({bias.data.begin(), half}, order, h);
  out.recurrent_bias = bias.shape.size() == 2 ? by_gates({half, bias.data.end()}, order, h) : std::vector<float>(one, 0.0f);
  return out;
}

}  // namespace rnnp::compiler
