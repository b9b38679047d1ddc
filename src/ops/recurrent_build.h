// recurrent_build.h -- a recurrent node becomes an object of the session.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_BUILD_H_
#define RNNPACK_OPS_RECURRENT_BUILD_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// Op::build but for what is done with R's products. *built stays as it is while measuring. `fixed`: an integer-only layer.
rnnp_status build_recurrent(BuildEnv *env, const BlobNode &node, bool fixed, RecurrentPlan *planned, Recurrent **built);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_BUILD_H_
