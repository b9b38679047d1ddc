// prepare.h -- all that is checked and decided before a session is made: by rnnp_session_memory, rnnp_session_init and
// rnnp_session_explain alike, so that none answers what another would not. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_PREPARE_H_
#define RNNPACK_RUNTIME_PREPARE_H_

#include "runtime/refusal.h"
#include "runtime/registry_view.h"
#include "runtime/session.h"

namespace rnnp {

// Reads *model and the options, plans, and measures: c->session_bytes. *c refers to *m. *refusal: RNNP_OK's, or why not.
// memory: where the session's values and states will be kept; nullptr: in the session's own memory.
rnnp_status prepare_session(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options, Model *m,
                            SessionConfig *c, Refusal *refusal, DataMemory *memory = nullptr);

// The size of a session that has been prepared, by the walk that will lay it out: c->session_bytes, for c->machine.
rnnp_status measure_session(SessionConfig *c, Refusal *refusal);

// The checks that take the session's memory: its content is lost.
rnnp_status prepare_memory(const SessionConfig &c, void *mem, size_t bytes, Refusal *refusal);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_PREPARE_H_
