// equations.h -- every activation and ONNX's recurrent cells in double precision with libm, one number or unit at a time: what the
// tests compare with. Sums of products are the caller's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_EQUATIONS_H_
#define RNNPACK_TESTS_SUPPORT_EQUATIONS_H_

#include "format/blob_attrs.h"

namespace rnnp_test {

// NaN stays NaN, and infinities have their limits.
double apply_act(const rnnp::BlobActivation &a, double x);

struct CellRules {
  const rnnp::BlobActivation *act;  // f, g, h as ONNX numbers them
  double clip;                      // of what f and g are given; 0: none
  bool input_forget;
  double f(double sum) const { return clipped(0, sum); }
  double g(double sum) const { return clipped(1, sum); }
  double h(double c) const { return apply_act(act[2], c); }

 private:
  double clipped(int which, double sum) const;
};

struct LstmUnit {
  double h, c;
};
// Sums of the gates i, o, f, c, and the unit's peepholes of i, o, f.
LstmUnit lstm_unit(const CellRules &rules, const double (&sums)[4], const double (&peepholes)[3], double c);

// z is the gate, `candidate` the sum of the hidden gate.
double gru_unit(const CellRules &rules, double z, double candidate, double h);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_EQUATIONS_H_
