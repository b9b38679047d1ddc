// fit_norm.h -- the layer norm that a piece of a graph is, read off what it makes of chosen rows: it may be one operator or written
// in a dozen. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_FIT_NORM_H_
#define RNNPACK_COMPILER_REWRITES_FIT_NORM_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace rnnp::compiler {

using Rows = std::vector<std::vector<double>>;

// Columns of a row that one mean and variance are of.
struct Span {
  size_t first = 0, count = 0;
};

// (v - mean) / sqrt(variance + epsilon) * scale + bias.
struct FittedNorm {
  std::vector<double> scale, bias;
  double epsilon = 0;

  // Of the columns of `row` from `first` on, as many as there are scales.
  std::vector<double> apply(const std::vector<double> &row, size_t first, const Span &span) const;
};

// Rows to put in the place of what may be normalised: zeros, some so wide that no epsilon tells, and some so narrow that each does.
class NormProbe {
 public:
  explicit NormProbe(size_t width);
  const Rows &rows() const { return rows_; }
  // made[r]: what became of columns `first` and on of row r.
  std::optional<FittedNorm> fit(const Rows &made, size_t first, const Span &span) const;

 private:
  Rows rows_;
};

// Equal but for rounding.
bool is_near(double a, double b);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_FIT_NORM_H_
