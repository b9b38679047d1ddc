// api.cpp -- the public functions that are not run or state: versions, model, memory, session.
// Only checks arguments and hands over; every struct from the caller is read through its struct_bytes.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/compiled_isa.h"
#include "format/dataflow.h"
#include "platform/platform.h"
#include "runtime/registry.h"
#include "runtime/session_plan.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

rnnp_status describe(const Model &m, const Table<BlobIo> &table, uint32_t index, rnnp_tensor_facts *out) {
  if (index >= table.count) return RNNP_E_ARG;
  const BlobIo &io = table[index];
  rnnp_tensor_facts f = {};
  f.role = io.role;
  f.row_elems = m.values[io.value].row_elems;
  f.rank = io.rank;
  for (uint32_t i = 0; i < io.rank; ++i) f.dims[i] = io.dims[i];
  f.name = m.string(io.name);
  f.dtype = m.values[io.value].dtype;
  f.limit = io.limit;
  return give_struct(f, out) ? RNNP_OK : RNNP_E_ARG;
}

// The platform's ISA bits, narrowed to what the caller allows.
uint32_t allowed_isa(uint32_t platform, uint32_t allowed) {
  if (allowed & RNNP_ISA_REFERENCE_ONLY) return 0;
  return allowed == 0 ? platform : platform & allowed;
}

XnnUse xnn_use(const rnnp_session_options &o) {
  if (o.flags & RNNP_SESSION_PORTABLE_OPS) return XnnUse::kNever;
  if (o.flags & RNNP_SESSION_ALL_XNNPACK) return XnnUse::kAlways;
  return o.isa_allowed & RNNP_ISA_REFERENCE_ONLY ? XnnUse::kNever : XnnUse::kWhereFaster;
}

constexpr size_t kFewestOptionBytes = offsetof(rnnp_session_options, max_steps);

rnnp_session_options default_options() {
  rnnp_session_options o = {};
  o.struct_bytes = sizeof o;
  o.max_batch = 1;
  return o;
}

bool executor_fits(const rnnp_executor &e) {
  return e.threads != 0 && e.threads <= 1024 && e.parallel != nullptr && (e.threads == 1 || e.wait != nullptr);
}

uint32_t cache_bytes(uint32_t asked, uint32_t found) {
  return asked == RNNP_CACHE_NONE ? 0 : asked != 0 ? asked : found;
}

rnnp_status configure(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options,
                      SessionConfig *c) {
  const Model *m = model_of(model);
  if (!is_registry(registry)) return RNNP_E_ARG;
  rnnp_session_options o = default_options();
  if (options != nullptr && !take_struct(options, kFewestOptionBytes, &o)) return RNNP_E_ARG;
  if (m == nullptr || o.max_batch == 0 || o.max_batch > (1u << 20) || o.chunk_steps > (1u << 20)) return RNNP_E_ARG;
  if (o.flags & ~(RNNP_SESSION_PORTABLE_OPS | RNNP_SESSION_ALL_THREADS | RNNP_SESSION_ALL_XNNPACK)) return RNNP_E_ARG;
  if (o.executor != nullptr && !executor_fits(*o.executor)) return RNNP_E_ARG;
  if (m->header->fixed_batch != 0 && o.max_batch != m->header->fixed_batch) return RNNP_E_SHAPE;
  if (!(m->header->flags & kBlobCausal) && o.max_steps == 0) return RNNP_E_DIRECTION;
  if (o.max_steps > (1u << 28)) return RNNP_E_ARG;
  const CpuFacts cpu = platform_cpu();
  const uint32_t isa = cpu.isa | kCompiledIsa;
  *c = {};
  c->model = m;
  c->ops = ops_of(*registry);
  c->kernels = kernels_of(*registry);
  c->max_batch = o.max_batch;
  c->isa = allowed_isa(isa, o.isa_allowed);
  c->l1d_bytes = cache_bytes(o.l1d_bytes, cpu.l1d_bytes);
  c->l2_bytes = cache_bytes(o.l2_bytes, cpu.l2_bytes);
  c->l3_bytes = cache_bytes(o.l3_bytes, cpu.l3_bytes);
  c->xnnpack = xnn_use(o);
  return plan_session(o, c);
}

rnnp_status measure(const SessionConfig &c, size_t *bytes) {
  Arena arena(nullptr, 0);
  const rnnp_status status = build_session(c, &arena, nullptr);
  if (status != RNNP_OK) return status;
  if (arena.overflowed()) return RNNP_E_SMALL_MEMORY;
  const size_t checks = dataflow_bytes(*c.model);  // done in the session's memory before it is laid out
  *bytes = align_up(arena.used() > checks ? arena.used() : checks, kArenaAlign);
  return RNNP_OK;
}

}  // namespace
}  // namespace rnnp

uint32_t rnnp_version(void) {
  return RNNP_HEADER_VERSION;
}
uint32_t rnnp_blob_version(void) {
  return rnnp::kBlobVersion;
}

rnnp_status rnnp_model_open(rnnp_model *model, const void *blob, size_t bytes, uint32_t flags) {
  if (model == nullptr || blob == nullptr || (flags & ~RNNP_OPEN_CHECK_WEIGHTS)) return RNNP_E_ARG;
  if (!rnnp::is_aligned(blob, rnnp::kBlobAlign)) return RNNP_E_ALIGN;
  return rnnp::model_open(reinterpret_cast<rnnp::Model *>(model), blob, bytes, flags);
}

rnnp_status rnnp_model_info(const rnnp_model *model, rnnp_model_facts *facts) {
  const rnnp::Model *m = rnnp::model_of(model);
  if (m == nullptr || facts == nullptr) return RNNP_E_ARG;
  rnnp_model_facts f = {};
  f.blob_version = m->header->version;
  f.blob_align = m->header->align;
  f.input_count = m->inputs.count;
  f.output_count = m->outputs.count;
  f.node_count = m->nodes.count;
  for (uint32_t i = 0; i < m->nodes.count; ++i) f.recurrent_count += m->nodes[i].op == uint32_t(rnnp::OpKind::kRecurrent);
  f.causal = (m->header->flags & rnnp::kBlobCausal) != 0;
  f.fixed_batch = m->header->fixed_batch;
  f.layout_nr = m->header->layout_nr;
  f.blob_bytes = m->header->file_bytes;
  f.weight_bytes = m->header->weights.bytes;
  for (uint32_t i = 0; i < m->states.count; ++i) f.state_bytes_per_row += uint64_t{m->states[i].elems} * sizeof(float);
  f.model_id = m->header->model_id;
  f.macs_per_step = m->header->macs_per_step;
  return rnnp::give_struct(f, facts) ? RNNP_OK : RNNP_E_ARG;
}

rnnp_status rnnp_model_input(const rnnp_model *model, uint32_t index, rnnp_tensor_facts *facts) {
  const rnnp::Model *m = rnnp::model_of(model);
  return m == nullptr ? rnnp_status{RNNP_E_ARG} : rnnp::describe(*m, m->inputs, index, facts);
}

rnnp_status rnnp_model_output(const rnnp_model *model, uint32_t index, rnnp_tensor_facts *facts) {
  const rnnp::Model *m = rnnp::model_of(model);
  return m == nullptr ? rnnp_status{RNNP_E_ARG} : rnnp::describe(*m, m->outputs, index, facts);
}

void rnnp_session_options_init(rnnp_session_options *options, size_t struct_bytes) {
  rnnp::give_struct(rnnp::default_options(), options, struct_bytes);
}

rnnp_status rnnp_session_memory_with(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options,
                                     rnnp_memory *memory) {
  if (memory == nullptr) return RNNP_E_ARG;
  rnnp::SessionConfig c;
  rnnp_status status = rnnp::configure(registry, model, options, &c);
  if (status != RNNP_OK) return status;
  size_t bytes = 0;
  status = rnnp::measure(c, &bytes);
  if (status != RNNP_OK) return status;
  *memory = {bytes, rnnp::kArenaAlign, rnnp::saved_state_bytes(*c.model)};
  return RNNP_OK;
}

rnnp_status rnnp_session_init_with(const rnnp_registry *registry, rnnp_session **session, const rnnp_model *model,
                                   const rnnp_session_options *options, void *mem, size_t bytes) {
  if (session == nullptr || mem == nullptr) return RNNP_E_ARG;
  rnnp::SessionConfig c;
  rnnp_status status = rnnp::configure(registry, model, options, &c);
  if (status != RNNP_OK) return status;
  size_t needed = 0;
  status = rnnp::measure(c, &needed);
  if (status != RNNP_OK) return status;
  if (!rnnp::is_aligned(mem, rnnp::kArenaAlign)) return RNNP_E_ALIGN;
  if (bytes < needed) return RNNP_E_SMALL_MEMORY;
  if (!rnnp::dataflow_fits(*c.model, mem)) return RNNP_E_BLOB_CORRUPT;
  rnnp::Arena arena(mem, bytes);
  rnnp::Session *built = nullptr;
  status = rnnp::build_session(c, &arena, &built);
  if (status == RNNP_OK) *session = static_cast<rnnp_session *>(built);
  return status;
}

rnnp_status rnnp_session_info(const rnnp_session *session, rnnp_session_facts *facts) {
  if (!rnnp::is_session(session) || facts == nullptr) return RNNP_E_ARG;
  rnnp_session_facts f = {};
  f.max_batch = session->max_batch;
  f.chunk_steps = session->chunk_steps;
  f.threads = session->threads;
  f.isa = session->recurrent_isa;
  f.xnnpack = session->xnnpack_count;
  f.xnnpack_refused = session->xnnpack_refused;
  f.wave_stages = session->wave.stages;
  f.wave_steps = session->wave.fewest_steps;
  return rnnp::give_struct(f, facts) ? RNNP_OK : RNNP_E_ARG;
}
