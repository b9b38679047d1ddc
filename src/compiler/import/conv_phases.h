// conv_phases.h -- the windows of convolutions and pools along one axis, as the library takes them: outputs at even distances that
// all have the same taps. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_CONV_PHASES_H_
#define RNNPACK_COMPILER_IMPORT_CONV_PHASES_H_

#include <cstdint>
#include <vector>

#include "compiler/eval/eval_window.h"

namespace rnnp::compiler {

constexpr int64_t kMostPhases = 1024;

// Rounded down; b > 0.
inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

// Outputs first, first + step, ... of an axis, each from the same taps: output o reads x at o * stride + i * dilation - pad with
// tap(0, i) of the weights. A plain convolution has one phase, a transposed one as many as its stride.
struct Phase {
  int64_t first = 0, step = 1, count = 1;
  int64_t stride = 1, dilation = 1, pad = 0;
  int64_t kernel = 1;
  // The run's steps that it reads: from `lead` steps before its own, step_dilation apart.
  int64_t steps = 1, step_dilation = 1, lead = 0;
  std::vector<int64_t> taps = {0};  // of a convolution, [steps where they differ][kernel]; -1: no tap, zeros

  int64_t tap(int64_t at_step, int64_t i) const {
    return taps[static_cast<size_t>(static_cast<int64_t>(taps.size()) > kernel ? at_step * kernel + i : i)];
  }
};

std::vector<Phase> plain_phases(const WindowAxis &axis, bool with_taps);
std::vector<Phase> transposed_phases(const WindowAxis &axis);

// Along the run's steps, each of which holds one of x: taps are steps.
Phase step_phase(const WindowAxis &axis, bool transposed);

// Along an axis of which every step of the run holds `in` elements side by side, and `out` of the result: one phase for each of
// these, over steps and over the elements within them.
std::vector<Phase> phases_within_steps(const WindowAxis &axis, bool transposed, int64_t in, int64_t out);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_CONV_PHASES_H_
