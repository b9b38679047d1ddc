// prepare.cpp -- Contract: prepare.h. Options are read through their struct_bytes, and what they leave open is asked of the
// machine. SPDX-License-Identifier: Apache-2.0
#include "runtime/prepare.h"

#include "base/bytes.h"
#include "base/compiled_isa.h"
#include "base/isa_closure.h"
#include "platform/platform.h"
#include "runtime/session_plan.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

// The platform's ISA bits, narrowed to what the caller allows.
uint32_t allowed_isa(uint32_t platform, uint32_t allowed) {
  if (allowed & RNNP_ISA_REFERENCE_ONLY) return 0;
  return allowed == 0 ? platform : platform & isa_closure(allowed);
}

XnnUse xnn_use(const rnnp_session_options &o) {
  if (o.flags & RNNP_SESSION_PORTABLE_OPS) return XnnUse::kNever;
  if (o.flags & RNNP_SESSION_ALL_XNNPACK) return XnnUse::kAlways;
  return o.isa_allowed & RNNP_ISA_REFERENCE_ONLY ? XnnUse::kNever : XnnUse::kWhereFaster;
}

constexpr size_t kFewestOptionBytes = offsetof(rnnp_session_options, max_steps);

constexpr size_t kFewestExecutorBytes = offsetof(rnnp_executor, wait) + sizeof(rnnp_executor::wait);

bool take_executor(const rnnp_executor *given, rnnp_executor *e) {
  if (!take_struct(given, kFewestExecutorBytes, e)) return false;
  return e->threads != 0 && e->threads <= RNNP_MAX_THREADS && e->parallel != nullptr && (e->threads == 1 || e->wait != nullptr);
}

uint32_t cache_bytes(uint32_t asked, uint32_t found) {
  return asked == RNNP_CACHE_NONE ? 0 : asked != 0 ? asked : found;
}

// What can be said of the options before anything is planned.
Reason options_fit(const Model &m, const rnnp_session_options &o) {
  if (o.max_batch == 0 || o.max_batch > RNNP_MAX_BATCH) return Reason::kMaxBatch;
  if (o.chunk_steps > RNNP_MAX_CHUNK_STEPS) return Reason::kChunkSteps;
  if (o.max_steps > RNNP_MAX_STEPS) return Reason::kMaxSteps;
  if (o.flags & ~(RNNP_SESSION_PORTABLE_OPS | RNNP_SESSION_ALL_THREADS | RNNP_SESSION_ALL_XNNPACK)) return Reason::kFlags;
  if (m.header->fixed_batch != 0 && o.max_batch != m.header->fixed_batch) return Reason::kFixedBatch;
  if (!(m.header->flags & kBlobCausal) && o.max_steps == 0) return Reason::kNotCausal;
  return Reason::kNothing;
}

void ask_machine(const rnnp_session_options &o, SessionConfig *c) {
  const CpuFacts cpu = platform_cpu();
  c->max_batch = o.max_batch;
  c->isa = allowed_isa(cpu.isa | kCompiledIsa, o.isa_allowed);
  c->l1d_bytes = cache_bytes(o.l1d_bytes, cpu.l1d_bytes);
  c->l2_bytes = cache_bytes(o.l2_bytes, cpu.l2_bytes);
  c->l3_bytes = cache_bytes(o.l3_bytes, cpu.l3_bytes);
  c->xnnpack = xnn_use(o);
}

}  // namespace

rnnp_status status_of(Reason reason) {
  static constexpr int8_t kStatuses[] = {
#define RNNPACK_REASON(name, status, words) status,
      RNNPACK_REASONS(RNNPACK_REASON)
#undef RNNPACK_REASON
  };
  return rnnp_status(kStatuses[uint32_t(reason)]);
}

rnnp_status refuse(Refusal *refusal, Reason reason, uint32_t node, size_t needed) {
  *refusal = {reason, node, needed};
  return status_of(reason);
}

rnnp_status measure_session(SessionConfig *c, Refusal *refusal) {
  Arena arena(nullptr, 0, c->machine), apart(nullptr, 0);
  Arena *data = kDataElsewhere && c->memory != nullptr ? &apart : &arena;
  const rnnp_status status = build_session(*c, &arena, data, nullptr, refusal);
  if (status != RNNP_OK) return status;
  if (arena.overflowed()) return refuse(refusal, Reason::kTooLarge);
  const size_t checks = c->check == nullptr ? 0 : c->check->bytes(*c->model);  // done in the session's memory before it is laid out
  c->session_bytes = arena_align_up(arena.used() > checks ? arena.used() : checks, c->machine);
  c->data_bytes = apart.used();
  return RNNP_OK;
}

rnnp_status prepare_session(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options, Model *m,
                            SessionConfig *c, Refusal *refusal, DataMemory *memory) {
  refuse(refusal, Reason::kNothing);
  rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
  *c = {};
  c->memory = memory;
  if (!is_registry(registry)) return refuse(refusal, Reason::kRegistry);
  if (!read_model(model, m)) return refuse(refusal, Reason::kModel);
  if (options != nullptr && !take_struct(options, kFewestOptionBytes, &o)) return refuse(refusal, Reason::kOptions);
  if (o.executor != nullptr) {
    if (!take_executor(o.executor, &c->executor)) return refuse(refusal, Reason::kExecutor);
    o.executor = &c->executor;
  }
  const Reason reason = options_fit(*m, o);
  if (reason != Reason::kNothing) return refuse(refusal, reason, kNone, reason == Reason::kFixedBatch ? m->header->fixed_batch : 0);
  c->model = m;
  c->ops = ops_of(*registry);
  c->kernels = kernels_of(*registry);
  if (registry->blob != m->header) {
    c->check = check_of(*registry);
    if (c->check == nullptr) return refuse(refusal, Reason::kOtherBlob);
  }
  ask_machine(o, c);
  const rnnp_status status = plan_session(o, c, refusal);
  return status == RNNP_OK ? measure_session(c, refusal) : status;
}

rnnp_status prepare_memory(const SessionConfig &c, void *mem, size_t bytes, Refusal *refusal) {
  if (!is_aligned(mem, kArenaAlign)) return refuse(refusal, Reason::kAlignment, kNone, kArenaAlign);
  if (bytes < c.session_bytes) return refuse(refusal, Reason::kMemory, kNone, c.session_bytes);
  uint32_t node = kNone;
  return c.check == nullptr || c.check->fits(*c.model, mem, &node) ? RNNP_OK : refuse(refusal, Reason::kDataflow, node);
}

}  // namespace rnnp
