// guess_axes.h -- time and batch of inputs where no recurrent node says which they are. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_GUESS_AXES_H_
#define RNNPACK_COMPILER_IMPORT_GUESS_AXES_H_

#include "compiler/import/axis_inference.h"

namespace rnnp::compiler {

// Without a recurrent node the first axis of the inputs is the batch, and one other dynamic axis may be time.
void guess_without_recurrent(const OnnxModel &model, Origins *origins);

// An input that reaches the recurrent nodes only through operators that lose its batch axis (a convolution's sums) still has a time
// axis by its dimension's name: its first axis is then the batch, if it has the size of the others'. True when one was marked.
bool mark_batch_beside_time(const OnnxModel &model, Origins *origins);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_GUESS_AXES_H_
