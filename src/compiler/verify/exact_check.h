// exact_check.h -- a blob's layers of low precision than f32, as a session runs them on given inputs, beside their exact
// evaluation: the bits must be equal. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_EXACT_CHECK_H_
#define RNNPACK_COMPILER_VERIFY_EXACT_CHECK_H_

#include <string>
#include <vector>

#include "compiler/run/captured_nodes.h"
#include "format/model.h"

namespace rnnp::compiler {

constexpr double kAllWork = 1e300;

struct ExactResult {
  size_t layers = 0, numbers = 0;    // compared
  std::vector<std::string> skipped;  // layers whose formats or operators the evaluation does not know
  std::string difference;            // the first one, in words; empty: all are equal
};

// Where a row of a direction starts: what the call gave as operand `in`, else what the blob has; zeros stay.
void initial_state(const Model &model, const SeenNode &seen, uint32_t state, size_t in, const BlobStrided &at, size_t row,
                   std::vector<float> *to);

// Nodes with low-precision weights.
std::vector<bool> low_precision_nodes(const Model &model);

// Every such node that was watched, given what a session gave it (x, h and so on), must make what the session made.
ExactResult check_exactly(const Model &model, const SeenRun &seen, double most_work = kAllWork);

// Whether kernels with fused multiply-adds run the blob here: the reference rounds twice, and its bits are others.
bool kernels_fuse(const Model &model);

// Runs the blob on the inputs and says what came of it, in a line. False when something differs. `most_work`: multiply-adds of each
// node; of one that takes more, some rows and steps are evaluated.
bool is_exact(Runner *runner, const Arrays &inputs, double most_work, std::string *report);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_EXACT_CHECK_H_
