// linear_system.h -- the rows h for which h A + b comes nearest to what is given, in least squares.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_LINEAR_SYSTEM_H_
#define RNNPACK_COMPILER_REWRITES_LINEAR_SYSTEM_H_

#include <vector>

#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

class LinearSystem {
 public:
  LinearSystem(int64_t width, int64_t rows);

  // More columns: `made` [1 + width][columns] is what zeros and the rows of the unit matrix give, `given` [rows][columns] what h
  // does.
  void add(const Tensor &made, const Tensor &given);
  // *h [rows][width], in float; false where the columns do not say what it is.
  bool solve(Tensor *h);

 private:
  bool factor();
  std::vector<double> solved(std::vector<double> right) const;

  const int64_t width_, rows_;
  std::vector<double> a_, right_;  // A [width][columns so far], given - b [rows][columns so far], by columns
  std::vector<double> lower_;      // of A A^T, after Cholesky
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_LINEAR_SYSTEM_H_
