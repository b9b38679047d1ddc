// comparison.h -- one output of the library held against its f64 evaluation, and runs in pieces against the run in one call.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_COMPARISON_H_
#define RNNPACK_COMPILER_VERIFY_COMPARISON_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/run/runner.h"

namespace rnnp::compiler {

// Errors are relative to max(1, |expected|) where they are called so.
struct Comparison {
  bool same_size = true, same_shape = true;
  size_t elements = 0;
  size_t not_finite = 0;                 // the same NaN or infinity on both sides (infinity: beyond what f32 holds)
  size_t one_sided = 0;                  // NaN or infinity on one side only, or another one
  size_t undefined = 0;                  // of these, NaN in the evaluation alone
  double worst = 0, worst_relative = 0;  // of the finite elements
  double signal = 0, noise = 0;          // their squares and the squares of their errors, summed
  size_t worst_at = 0;                   // of the largest relative error, or of the first element that is one-sided

  // Signal over noise in dB; infinite where there is no noise.
  double sqnr() const;
  // `rounds`: the graph rounds values, so a quotient of two zeros may be one of two other numbers here; it is left out.
  bool is_comparable(bool rounds = false) const { return same_size && same_shape && one_sided == (rounds ? undefined : 0); }
  bool agrees(double tolerance) const { return is_comparable() && worst_relative <= tolerance; }
};

Comparison compare(const Array &got, const Tensor &expected);
// How far two evaluations of the same graph are apart, relative; elements that are not finite in either are left out.
double distance(const Tensor &a, const Tensor &b);
std::string comparison_text(const std::string &name, const Array &got, const Tensor &expected, const Comparison &result);

// Calls `run` with the cuts and holds what it gives, bit for bit, against `whole`; adds a line a finding to *report.
// False: some output differs.
bool pieces_agree(const Arrays &whole, const std::vector<size_t> &cuts,
                  const std::function<Arrays(const std::vector<size_t> &)> &run, std::string *report);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_COMPARISON_H_
