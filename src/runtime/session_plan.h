// session_plan.h -- how a session is cut up: steps of a chunk, threads that share a layer, a wavefront.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_SESSION_PLAN_H_
#define RNNPACK_RUNTIME_SESSION_PLAN_H_

#include "runtime/session.h"

namespace rnnp {

inline OpChoice choice_of(const SessionConfig &config) {
  return {config.model, &config.kernels, config.isa, config.xnnpack};
}

// The operator that runs a node; nullptr: none of them.
const Op *operator_of(const SessionConfig &config, const BlobNode &node);

// The operator that runs a node where values are channel-major alone; nullptr: none does.
const Op *channel_major_of(const SessionConfig &config, const BlobNode &node);

// Checks every node, and fills in what the model's shapes, the options, the caches and threads decide. The options have been
// checked; of *config the model, operators, kernels, instruction sets, rows, caches and executor are there.
rnnp_status plan_session(const rnnp_session_options &options, SessionConfig *config, Refusal *refusal);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_SESSION_PLAN_H_
