// default_sessions.cpp -- sessions that name no registry: of the operators and kernels of rnnp_default_registry, which is that of
// everything (registry.cpp) unless the program defines one. SPDX-License-Identifier: Apache-2.0
#include "rnnpack/registry.h"

rnnp_status rnnp_session_memory(const rnnp_model *model, const rnnp_session_options *options, rnnp_memory *memory) {
  return rnnp_session_memory_with(&rnnp_default_registry, model, options, memory);
}

rnnp_status rnnp_session_init(rnnp_session **session, const rnnp_model *model, const rnnp_session_options *options, void *mem,
                              size_t bytes) {
  return rnnp_session_init_with(&rnnp_default_registry, session, model, options, mem, bytes);
}

rnnp_status rnnp_session_explain(const rnnp_model *model, const rnnp_session_options *options, void *mem, size_t bytes,
                                 rnnp_refusal *refusal) {
  return rnnp_session_explain_with(&rnnp_default_registry, model, options, mem, bytes, refusal);
}
