// ops_linear.cpp -- MatMul and Gemm: with one constant matrix a dense node, else a product of product.h. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/import/product.h"

namespace rnnp::compiler {
namespace {

// w as [out][in] from a constant [in][out] (or [out][in] when it is transposed already).
std::vector<float> weights(const Tensor &m, bool out_first, double scale) {
  const int64_t rows = m.shape[0], columns = m.shape[1];
  std::vector<float> w(m.data.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const double v = scale == 1 ? m.data[r * columns + c]
                                  : static_cast<double>(static_cast<float>(scale) * static_cast<float>(m.data[r * columns + c]));
      w[static_cast<size_t>(out_first ? r * columns + c : c * rows + r)] = static_cast<float>(v);
    }
  }
  return w;
}

struct FileMatrix {
  std::vector<float> w, steps;
  DType type;
};

// The same, and how the file has it. A factor makes other numbers of floats, and other steps of integers.
FileMatrix weights_of(const Tensor &m, bool out_first, double scale) {
  FileMatrix out{weights(m, out_first, scale), {}, stored_type(m)};
  if (!m.steps.empty()) out.steps = weights(steps_tensor(m), out_first, scale);
  for (float &step : out.steps) step = std::fabs(step);
  if (m.steps.empty() && scale != 1) out.type = DType::kF32;
  return out;
}

// A constant of rank 1 or 2, or of higher rank with leading ones, as a matrix.
Tensor matrix(Tensor m, bool column) {
  if (m.elem != Elem::kFloat || m.is_dynamic()) throw Refusal("its weights are not constant floats");
  if (m.rank() == 1) m.shape = column ? Shape{m.shape[0], 1} : Shape{1, m.shape[0]};
  while (m.rank() > 2 && m.shape[0] == 1) m.shape.erase(m.shape.begin());
  if (m.rank() != 2) throw Refusal("its constant operand has shape " + shape_text(m.shape) + "; accepted: one matrix");
  if (m.size() == 0) throw Refusal("its constant operand is empty");
  return m;
}

// y[..., out] = x[..., in] w^T over the last axis.
View dense_node(Builder &b, const View &x, FileMatrix given, std::vector<float> bias, int64_t outputs, const std::string &name) {
  std::vector<float> &w = given.w;
  const Axis &last = x.axes.back();
  const int64_t inputs = static_cast<int64_t>(w.size()) / outputs;
  if (!axis_is_features(last)) throw Refusal("it sums over the time or batch axis of " + view_text(x) + "; accepted: feature axes");
  if (axis_size(last) != inputs)
    throw Refusal("its operand " + view_text(x) + " does not fit weights for " + std::to_string(inputs) + " inputs");
  const View whole = b.dense(x, name);
  Dense dense;
  dense.input_size = static_cast<uint32_t>(inputs);
  dense.output_size = static_cast<uint32_t>(outputs);
  dense.groups = static_cast<uint32_t>(feature_count(whole) / inputs);
  dense.storage = storage_of_file(given.type, w, given.steps, dense.input_size);
  dense.storage.lhs_scale = x.known_step();
  dense.w = std::move(w);
  dense.bias = std::move(bias);
  View out = whole;
  out.axes.back() = outputs == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, outputs, 0, -1}};
  out = densified(out);
  out.value = b.new_row(feature_count(out), b.is_sequence(whole));
  b.graph.nodes.push_back({OpKind::kDense, name, {whole.value}, {out.value}, std::move(dense)});
  return out;
}

View swapped(View view) {
  std::swap(view.axes[view.axes.size() - 1], view.axes[view.axes.size() - 2]);
  return view;
}

// Not a stack of different ones.
bool is_matrix(const Tensor &m) {
  return m.rank() <= 2 || std::all_of(m.shape.begin(), m.shape.end() - 2, [](int64_t dim) { return dim == 1; });
}

void matmul(OpCall &call) {
  const bool right = call.is_const(1);
  if ((!right && !call.is_const(0)) || !is_matrix(call.constant(right ? 1 : 0, "the operand"))) {
    call.give(0, matmul_of(call.b, factor_of(call, 0), factor_of(call, 1), call.name));
    return;
  }
  View x = call.real_view(right ? 0 : 1);
  const Tensor &given = right ? call.constant(1, "B") : call.constant(0, "A");
  const bool vector = given.rank() == 1;
  const size_t lead = given.rank() > 2 ? given.rank() - 2 : 0;
  const Tensor m = matrix(given, right);
  if (x.axes.empty()) throw Refusal("its operand is a scalar");
  View y;
  if (right) {
    y = dense_node(call.b, x, weights_of(m, false, 1), {}, m.shape[1], call.name);
  } else {
    // A x: the columns of x are its vectors, so both sides are seen transposed.
    const bool x_vector = x.axes.size() == 1;
    y = dense_node(call.b, x_vector ? x : swapped(x), weights_of(m, true, 1), {}, m.shape[0], call.name);
    if (!x_vector) y = swapped(y);
  }
  if (vector) y.axes.erase(y.axes.end() - (right || x.axes.size() == 1 ? 1 : 2));
  const size_t rank = lead + 2;
  if (!vector && y.axes.size() < rank) y.axes.insert(y.axes.begin(), rank - y.axes.size() - (x.axes.size() == 1 ? 1 : 0), Axis{});
  call.give(0, y);
}

// C as a bias per output, or empty when it is not one.
std::vector<float> gemm_bias(OpCall &call, int64_t outputs, double beta) {
  if (!call.is_const(2)) return {};
  const Tensor &c = call.constant(2, "C");
  if (c.is_dynamic() || (c.size() != outputs && c.size() != 1) || (c.rank() > 0 && c.shape.back() != c.size())) return {};
  std::vector<float> bias;
  for (int64_t i = 0; i < outputs; ++i) {
    const double v = c.data[c.size() == 1 ? 0 : static_cast<size_t>(i)];
    bias.push_back(beta == 1 ? static_cast<float>(v) : static_cast<float>(beta) * static_cast<float>(v));
  }
  return bias;
}

// alpha y + beta C, C at run time or of a shape that is no bias.
View with_sum(OpCall &call, const View &y, double beta) {
  View c = call.real_view(2);
  if (c.axes.size() > 2) throw Refusal("C has rank " + std::to_string(c.axes.size()) + "; accepted: up to 2");
  if (beta != 1) {
    Tensor scale(Elem::kFloat, {});
    scale.data[0] = beta;
    c = call.b.binary(Binary::kMul, c, call.b.const_view(scale), call.name);
  }
  return call.b.binary(Binary::kAdd, y, c, call.name);
}

// B is made at run time.
void gemm_of_two(OpCall &call, bool trans_a, bool trans_b, double alpha, double beta) {
  Factor a = factor_of(call, 0), b = factor_of(call, 1);
  a.labels = trans_a ? "km" : "mk";
  b.labels = trans_b ? "nk" : "kn";
  if ((a.constant ? a.constant->rank() : a.view.axes.size()) != 2 || b.view.axes.size() != 2)
    throw Refusal("A and B must have rank 2");
  View y = product_of(call.b, a, b, "mn", call.name);
  if (alpha != 1) y = call.b.unary(y, {static_cast<uint32_t>(Act::kAffine), static_cast<float>(alpha), 0.0f}, call.name);
  call.give(0, call.has(2) && beta != 0 ? with_sum(call, y, beta) : y);
}

void gemm(OpCall &call) {
  const bool trans_a = call.attributes.integer("transA", 0) != 0, trans_b = call.attributes.integer("transB", 0) != 0;
  const double alpha = call.attributes.real("alpha", 1), beta = call.attributes.real("beta", 1);
  if (!call.is_const(1)) return gemm_of_two(call, trans_a, trans_b, alpha, beta);
  View x = call.real_view(0);
  const Tensor m = matrix(call.constant(1, "B"), false);
  if (x.axes.size() != 2 || call.constant(1, "B").rank() != 2) throw Refusal("A and B must have rank 2");
  if (trans_a) x = swapped(x);
  const int64_t outputs = m.shape[trans_b ? 0 : 1];
  const std::vector<float> bias = call.has(2) && beta != 0 ? gemm_bias(call, outputs, beta) : std::vector<float>();
  const bool separate = call.has(2) && beta != 0 && bias.empty();
  View y = dense_node(call.b, x, weights_of(m, trans_b, alpha), bias, outputs, call.name);
  if (separate) y = with_sum(call, y, beta);
  call.give(0, y);
}

}  // namespace

const std::vector<ImportRow> kImportLinear = {
    {"MatMul", matmul, "sums over a feature axis"},
    {"Gemm", gemm, "all of transA, transB, alpha, beta and C; sums over a feature axis"},
};

}  // namespace rnnp::compiler
