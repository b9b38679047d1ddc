// recurrent.h -- a recurrent layer over time, whatever its kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_H_
#define RNNPACK_OPS_RECURRENT_H_

#include "ops/recurrent_build.h"
#include "ops/recurrent_phases.h"

namespace rnnp {

// Op::build and Op::run. products: the thread's own, of an unfused layer.
rnnp_status build_over_time(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, const RecurrentKernels &kernels,
                            Recurrent **built);
void run_over_time(const RunEnv &env, const BlobNode &node, const Recurrent &layer, uint32_t thread, Products *products);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_H_
