// recurrent_run.h -- a recurrent layer on a chunk of steps.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_RUN_H_
#define RNNPACK_OPS_RECURRENT_RUN_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// Op::run of a layer as build_recurrent makes it.
void run_recurrent(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_RUN_H_
