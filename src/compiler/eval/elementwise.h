// elementwise.h -- maps over one tensor and over two with broadcasting; shared by the tables of operators.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_ELEMENTWISE_H_
#define RNNPACK_COMPILER_EVAL_ELEMENTWISE_H_

#include <algorithm>
#include <cmath>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

template <typename F>
Tensor zip(const Tensor &a, const Tensor &b, Elem elem, F f) {
  Tensor out(elem, broadcast_shape(a.shape, b.shape));
  const Shape sa = broadcast_strides(a.shape, out.shape), sb = broadcast_strides(b.shape, out.shape);
  double *to = out.data.data();
  const NumberPointer of_a = a.data.numbers(), of_b = b.data.numbers();
  for_each_index(out.shape, sa, 0, [&](int64_t i, int64_t at) { to[i] = of_a[at]; });
  for_each_index(out.shape, sb, 0, [&](int64_t i, int64_t at) { to[i] = f(to[i], of_b[at]); });
  return out;
}

template <typename F>
Tensor map(const Tensor &x, Elem elem, F f) {
  Tensor out(elem, x.shape);
  std::transform(x.data.begin(), x.data.end(), out.data.begin(), f);
  return out;
}

// The extreme of two; a NaN wins.
inline double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}
inline double smaller(double a, double b) {
  return std::isnan(a) || a < b ? a : b;
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_ELEMENTWISE_H_
