// recurrent_step.h -- the short road of a recurrent layer: a single step of all rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_STEP_H_
#define RNNPACK_OPS_RECURRENT_STEP_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// Op::finish of a recurrent layer: sets what its arguments need for single steps of all rows, where it has a short road for them.
StepFn finish_recurrent(FinishEnv *env, const BlobNode &node, void *object);
// The same of a layer whose h * R is a product of its own.
StepFn finish_split(FinishEnv *env, const BlobNode &node, void *object);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_STEP_H_
