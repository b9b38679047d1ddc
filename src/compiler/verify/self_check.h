// self_check.h -- what `compile` does before it writes: the blob is run by the public API and compared with the f64 evaluation of
// the ONNX graph, at two sizes where more than one is taken, in one call and in pieces. The work is bounded by counted
// multiply-adds: of more, large nodes are checked by samples (joint_check.h). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_SELF_CHECK_H_
#define RNNPACK_COMPILER_VERIFY_SELF_CHECK_H_

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/eval/progress.h"

namespace onnx {}

namespace rnnp::compiler {

class OnnxGraph;

// Whether results of the graph jump (ArgMax, Round, ...): there a rounding of f32 may move an element as far as a fault would.
bool has_jumps(const OnnxGraph &graph);

struct SelfCheck {
  std::string failure;  // empty: none was found
  std::string note;     // what could not be checked; may be empty
};

// `how`: what the blob was compiled with; `pruned`: its weights are not those of the file. Throws ModelError where only runs that
// are too short for the file's own slices differ. Both the model and what was compiled of it are unchanged afterwards; while it
// runs, the blob is lent to who runs it.
SelfCheck check_compiled(OnnxModel *model, Compiled *compiled, const CompileOptions &how, bool pruned,
                         const Progress &progress = {});

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_SELF_CHECK_H_
