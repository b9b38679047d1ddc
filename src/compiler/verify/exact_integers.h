// exact_integers.h -- integer-only layers evaluated as docs/KERNELS.md defines them, in f64: every number there is one of its
// integers. Nothing of the kernels is used, their table of tanh no more than their loops. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_EXACT_INTEGERS_H_
#define RNNPACK_COMPILER_VERIFY_EXACT_INTEGERS_H_

#include <vector>

#include "compiler/verify/exact_product.h"

namespace rnnp::compiler {

class ExactIntegers {
 public:
  ExactIntegers(const Model &model, const AttrIntegerRecurrent &attr, uint32_t direction);
  // h and, of an LSTM, c are moved on by one step.
  void step(const float *x, float *h, float *c) const;

 private:
  using Numbers = std::vector<double>;

  // A matrix with what multiplies its sums, both [gates][units].
  struct Product {
    Product(const Matrix &matrix);
    void add(const float *row, double *pre) const;

    ExactMatrix weights;
    std::vector<uint32_t> scales;
    double factor;
  };

  double old_h(const float *h, uint32_t unit) const;

  rnnp::Cell cell_;
  uint32_t hidden_, gates_, c_bits_;
  std::vector<Product> products_;  // W, R, and where gate h's R is apart, this
  Numbers bias_, r_bias_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_EXACT_INTEGERS_H_
