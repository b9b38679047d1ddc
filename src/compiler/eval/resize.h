// resize.h -- what a Resize node makes of each axis: the same for the evaluator and the importer.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_RESIZE_H_
#define RNNPACK_COMPILER_EVAL_RESIZE_H_

#include <vector>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {

// One axis whose elements become others. weights: [out][in], each row sums to 1.
struct ResizedAxis {
  size_t axis = 0;
  int64_t in = 1, out = 1;
  bool nearest = true;
  std::vector<int64_t> from;    // of each result: the element it is nearest to, or the lower of two
  std::vector<double> towards;  // how far on the way to the next one; 0 where nearest
  Tensor matrix() const;
};

// Axes that change, of a tensor of this shape; inputs as in the node, nullptr where one is no constant. Throws Refusal.
std::vector<ResizedAxis> resized_axes(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in,
                                      const Shape &shape);
// Which axis each of the scales or sizes is for.
std::vector<size_t> axes_of_resize(const Attributes &attributes, size_t rank);
void eval_resize(EvalCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_RESIZE_H_
