// session_api.cpp -- rnnp_session_options_init, and sessions of a named registry: how much memory, made in it, and what was
// decided. SPDX-License-Identifier: Apache-2.0
#include "runtime/executor_check.h"
#include "runtime/prepare.h"
#include "runtime/structs.h"
#include "runtime/warm_threads.h"

void rnnp_session_options_init(rnnp_session_options *options, size_t struct_bytes) {
  const rnnp_session_options defaults = RNNP_SESSION_OPTIONS_INIT;
  rnnp::give_struct(defaults, options, struct_bytes);
}

rnnp_status rnnp_session_memory_with(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options,
                                     rnnp_memory *memory) {
  rnnp::Model m;
  rnnp::SessionConfig c;
  rnnp::Refusal refusal;
  const rnnp_status status = rnnp::prepare_session(registry, model, options, &m, &c, &refusal);
  if (status != RNNP_OK) return status;
  const rnnp_memory need = {sizeof need, rnnp::kArenaAlign, c.session_bytes, rnnp::saved_state_bytes(m)};
  return rnnp::give_struct(need, memory) ? RNNP_OK : RNNP_E_ARG;
}

rnnp_status rnnp_session_init_with(const rnnp_registry *registry, rnnp_session **session, const rnnp_model *model,
                                   const rnnp_session_options *options, void *mem, size_t bytes) {
  if (session == nullptr || mem == nullptr) return RNNP_E_ARG;
  rnnp::Model m;
  rnnp::SessionConfig c;
  rnnp::Refusal refusal;
  rnnp_status status = rnnp::prepare_session(registry, model, options, &m, &c, &refusal);
  if (status == RNNP_OK) status = rnnp::prepare_memory(c, mem, bytes, &refusal);
  if (status != RNNP_OK) return status;
  rnnp::Arena arena(mem, bytes);
  rnnp::Session *built = nullptr;
  status = rnnp::build_session(c, &arena, &arena, &built, &refusal);
  if (status != RNNP_OK) return status;
  if (rnnp::kManyThreads && built->region_threads > 1 && !rnnp::runs_all_at_once(c.executor)) {
    built->tag = 0;  // memory of no session
    return RNNP_E_EXECUTOR;
  }
  rnnp::warm_threads(c, *built);
  *session = static_cast<rnnp_session *>(built);
  return RNNP_OK;
}

rnnp_status rnnp_session_get_info(const rnnp_session *session, rnnp_session_info *facts) {
  if (!rnnp::is_session(session) || facts == nullptr) return RNNP_E_ARG;
  rnnp_session_info f = {};
  f.max_batch = session->max_batch;
  f.chunk_steps = session->chunk_steps;
  f.threads = session->region_threads;
  f.isa = session->recurrent_isa;
  f.xnnpack = session->xnnpack_count;
  f.xnnpack_refused = session->xnnpack_refused;
  f.wavefront_stages = session->wavefront.stages;
  f.wavefront_steps = session->wavefront.fewest_steps;
  return rnnp::give_struct(f, facts) ? RNNP_OK : RNNP_E_ARG;
}
