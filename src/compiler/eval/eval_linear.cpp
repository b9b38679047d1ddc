// eval_linear.cpp -- MatMul and Gemm in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

void matmul(EvalCall &call) {
  Shape a = call.input(0).shape, b = call.input(1).shape;
  if (a.empty() || b.empty()) throw Refusal("an input is a scalar");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  if (b[b.size() - 2] != k)
    throw Refusal("shapes " + shape_text(call.in[0]->shape) + " and " + shape_text(call.in[1]->shape) + " do not multiply");
  const Shape outer_a(a.begin(), a.end() - 2), outer_b(b.begin(), b.end() - 2), outer = broadcast_shape(outer_a, outer_b);
  Shape dims = outer;
  if (!vector_a) dims.push_back(m);
  if (!vector_b) dims.push_back(n);
  Tensor out(call.in[0]->elem, dims);
  check_work(element_count(outer), m, n, k);
  std::vector<int64_t> from_b(static_cast<size_t>(element_count(outer)));
  for_each_index(outer, broadcast_strides(outer_b, outer), 0, [&](int64_t i, int64_t at) { from_b[i] = at * k * n; });
  for_each_index(outer, broadcast_strides(outer_a, outer), 0, [&](int64_t i, int64_t at) {
    const NumberPointer x = call.in[0]->data.numbers() + at * m * k;
    double *z = out.data.data() + i * m * n;
    (call.in[1]->data.numbers() + from_b[i]).as_they_are([&](const auto *y) {
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t p = 0; p < k; ++p) {
          const double factor = x[r * k + p];
          for (int64_t c = 0; c < n; ++c) z[r * n + c] += factor * static_cast<double>(y[p * n + c]);
        }
      }
    });
  });
  call.give(std::move(out));
}

void gemm(EvalCall &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.rank() != 2 || b.rank() != 2) throw Refusal("its inputs must have rank 2");
  const bool ta = call.attributes.integer("transA", 0) != 0, tb = call.attributes.integer("transB", 0) != 0;
  const double alpha = call.attributes.real("alpha", 1), beta = call.attributes.real("beta", 1);
  const int64_t m = a.shape[ta], k = a.shape[!ta], n = b.shape[!tb];
  if (b.shape[tb] != k) throw Refusal("shapes " + shape_text(a.shape) + " and " + shape_text(b.shape) + " do not multiply");
  Tensor out(Elem::kFloat, {m, n});
  if (call.has(2)) {
    const Tensor &c = *call.in[2];
    if (broadcast_shape(c.shape, out.shape) != out.shape)
      throw Refusal("C of shape " + shape_text(c.shape) + " does not broadcast to " + shape_text(out.shape));
    for_each_index(out.shape, broadcast_strides(c.shape, out.shape), 0,
                   [&](int64_t i, int64_t at) { out.data[i] = beta * c.data[at]; });
  }
  check_work(1, m, n, k);
  const int64_t step_m = ta ? 1 : k, step_k = ta ? m : 1, row_k = tb ? 1 : n, row_n = tb ? k : 1;
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a.data[r * step_m + p * step_k] * b.data[p * row_k + c * row_n];
      out.data[r * n + c] += alpha * sum;
    }
  }
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalLinear = {{"MatMul", matmul}, {"Gemm", gemm}};

}  // namespace rnnp::compiler
