// recurrent_unfused_step.h -- the products of recurrent layers whose h * R stands apart from the cells, and their fast path.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_UNFUSED_STEP_H_
#define RNNPACK_OPS_RECURRENT_UNFUSED_STEP_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// The product `g`, whose tiles may be gone over backwards, in pieces: a gemm takes tiles upwards.
void multiply_tiles(const SplitStep &split, const GemmArgs &g, bool descending);

// Op::finish of such a layer: as finish_recurrent.
StepFn finish_split(FinishEnv *env, const BlobNode &node, void *object);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_UNFUSED_STEP_H_
