// eval_window.h -- the windows of convolutions and pools: one record per spatial axis, from a node's attributes. Shared by the
// evaluator and the importer. Every number is checked and bounded here. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_EVAL_WINDOW_H_
#define RNNPACK_COMPILER_EVAL_EVAL_WINDOW_H_

#include <vector>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

struct WindowAxis {
  int64_t size = 0;  // of the input
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding; of a transposed convolution: what is cut off its full output
  int64_t out = 0;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};
using Window = std::vector<WindowAxis>;

// kernel_shape, when the node has it, must be `kernel`. Padding by auto_pad is resolved.
Window conv_window(const Attributes &attributes, const Shape &spatial, const Shape &kernel);
// Output o takes input i by tap k where o = i * stride + k * dilation - before.
Window conv_transpose_window(const Attributes &attributes, const Shape &spatial, const Shape &kernel);
// kernel_shape is required; ceil_mode counts.
Window pool_window(const Attributes &attributes, const Shape &spatial);

// All axes but the first two, which are batch and channels. Throws Refusal when there is none.
Shape spatial_of(const Shape &shape);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_EVAL_WINDOW_H_
