// cuda_prepare.cpp -- from options to a measured session: rnnp_cuda_session_memory, _explain, _pack and _plan. Contract: cuda.h.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"
#include "cuda/ops/cuda_ops.h"
#include "cuda/panels.h"
#include "format/crc32.h"
#include "runtime/structs.h"

namespace rnnp {
namespace cuda {
namespace {

constexpr uint32_t kChosenChunk = 256;
constexpr uint32_t kChosenSpins = 1u << 23;  // some seconds
constexpr uint32_t kImageVersion = 4;
constexpr size_t kFewestOptionBytes = offsetof(rnnp_cuda_options, max_steps);
constexpr size_t kFewestDeviceBytes = offsetof(rnnp_cuda_device, l2_bytes);

void refuse_with(Prepared *p, rnnp_status status, const char *reason) {
  p->status = status;
  p->reason = reason;
}

bool take_device(const rnnp_cuda_options &o, Prepared *p) {
  rnnp_cuda_device d = RNNP_CUDA_DEVICE_INIT;
  if (o.device != nullptr) {
    if (!take_struct(o.device, kFewestDeviceBytes, &d))
      return refuse_with(p, RNNP_E_ARG, "options.device.struct_bytes is not set"), false;
  } else if (gpu_query(-1, &d) != 0) {
    return refuse_with(p, RNNP_E_DEVICE, "there is no GPU, or no driver for it"), false;
  }
  if (d.arch < kOldestArch) return refuse_with(p, RNNP_E_DEVICE, "the GPU is too old: kernels are for sm_80 and later"), false;
  if (d.sm_count == 0 || d.sm_count > 4096 || d.shared_per_block < 48 * 1024 || d.shared_per_block > (1u << 20))
    return refuse_with(p, RNNP_E_ARG, "options.device: sm_count or shared_per_block is no GPU's"), false;
  p->context.limits.device = d;
  return true;
}

// Options that the runtime does not know.
bool take_options(const rnnp_cuda_options &o, Prepared *p) {
  if (o.weights > RNNP_CUDA_BF16)
    return refuse_with(p, RNNP_E_ARG, "options.weights is none of RNNP_CUDA_F32, RNNP_CUDA_F16 and RNNP_CUDA_BF16"), false;
  if (o.kernels_allowed & ~(RNNP_CUDA_RESIDENT | RNNP_CUDA_STEPS | RNNP_CUDA_CLUSTER))
    return refuse_with(p, RNNP_E_ARG, "options.kernels_allowed has a bit that this library does not know"), false;
  PlanLimits &l = p->context.limits;
  l.weights = Weights(o.weights);
  l.max_batch = o.max_batch;
  l.max_steps_per_launch = o.max_steps_per_launch;
  l.sm_limit = o.sm_limit;
  l.kernels_allowed = o.kernels_allowed;
  p->context.spin_limit = o.spin_limit != 0 ? o.spin_limit : kChosenSpins;
  return take_device(o, p);
}

// Of all that the image depends on: the model and the plans, not the facts that led to them.
uint64_t key_of(const Prepared &p) {
  const BlobHeader &h = *p.model.header;
  uint64_t key = p.context.plan_key;
  const uint64_t parts[] = {kImageVersion, h.model_id, h.weights_crc, h.tables_crc};
  for (const uint64_t part : parts) key = add_to_key(key, part);
  return key;
}

// What the runtime wants of the blob's own weights: constants, and initial states.
void put_constants(Context *c) {
  const Model &m = *c->model;
  c->image.reserve(sizeof(ImageHeader));
  for (uint32_t i = 0; i < m.values.count; ++i) {
    const BlobValue &v = m.values[i];
    if (ValueKind(v.kind) != ValueKind::kConst) continue;
    const float *at = c->image.put(m.weights(v.location), size_t{v.row_elems} * sizeof(float));
    if (c->constants != nullptr) c->constants[i] = at;
  }
  for (uint32_t i = 0; i < m.states.count; ++i) {
    const BlobState &s = m.states[i];
    if (s.init == kNone) continue;
    const size_t rows = s.per_row ? m.header->fixed_batch : 1;
    const float *at = c->image.put(m.weights(s.init), rows * s.elems * sizeof(float));
    if (c->initials != nullptr) c->initials[i] = at;
  }
}

// Of a recurrent or dense layer that has no kernel for its weights; nullptr of other nodes.
const char *words_for_layer(const Model &m, const BlobNode &node) {
  if (OpKind(node.op) == OpKind::kDense) return words_for_panels(m.matrix(m.attr<AttrDense>(node)->matrix).format);
  if (OpKind(node.op) != OpKind::kRecurrent) return nullptr;
  Weights kind;
  const AttrRecurrent &a = *m.attr<AttrRecurrent>(node);
  const PanelFormat w = m.matrix(a.direction[0].w).format, r = m.matrix(a.direction[0].r).format;
  return words_for_panels(kind_of_panels(w, Weights::kF32, &kind) ? r : w);
}

size_t align_device(size_t bytes) {
  return align_up(bytes, kDeviceAlign);
}

}  // namespace

void prepare(const rnnp_model *model, const rnnp_cuda_options *options, Prepared *p, bool loads_kernels) {
  begin_context(&p->context);
  p->context.loads_kernels = loads_kernels;
  refuse(&p->refusal, Reason::kNothing);
  p->reason = nullptr;
  rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
  if (!read_model(model, &p->model)) {
    p->status = refuse(&p->refusal, Reason::kModel);
    return;
  }
  if (options != nullptr && !take_struct(options, kFewestOptionBytes, &o)) {
    p->status = refuse(&p->refusal, Reason::kOptions);
    return;
  }
  if (!take_options(o, p)) return;
  Context &c = p->context;
  c.model = &p->model;
  put_constants(&c);
  rnnp_session_options s = RNNP_SESSION_OPTIONS_INIT;
  s.max_batch = o.max_batch;
  s.max_steps = o.max_steps;
  s.chunk_steps = o.chunk_steps != 0 ? o.chunk_steps : p->model.header->stream_steps != 0 ? 0 : kChosenChunk;
  s.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
  s.flags = RNNP_SESSION_PORTABLE_OPS;
  load_plain_kernels(&c);
  p->status = prepare_session(&kCudaRegistry, model, &s, &p->model, &p->config, &p->refusal, &c);
  const Model &m = p->model;
  const uint32_t node = p->refusal.node;
  if (p->status == RNNP_E_UNSUPPORTED && node != kNone) p->reason = why_not_on_cuda(m.nodes[node].op);
  if (p->status == RNNP_E_LAYOUT && node != kNone) p->reason = words_for_layer(m, m.nodes[node]);
  if (p->status != RNNP_OK) return;
  const size_t lists = mul_sat(add_sat(m.values.count, m.states.count), sizeof(float *));
  p->own_bytes = align_up(add_sat(align_up(sizeof(rnnp_cuda_session), kArenaAlign), lists), kArenaAlign);
  p->host_bytes = add_sat(p->own_bytes, p->config.session_bytes);
  p->weight_bytes = align_device(c.image.used);
  size_t work = align_device(p->config.data_bytes);
  work = add_sat(work, align_device(mul_sat(words_of_exchanges(c), sizeof(uint64_t))));
  work = add_sat(work, align_device(kControlBytes));
  work = add_sat(work, mul_sat(align_device(mul_sat(o.max_batch, sizeof(uint32_t))), 2));
  p->work_bytes = work;
  p->key = key_of(*p);
  if (p->host_bytes == kSizeOverflow || p->weight_bytes == kSizeOverflow || work == kSizeOverflow || c.words_needed > UINT32_MAX)
    p->status = refuse(&p->refusal, Reason::kTooLarge);
}

rnnp_status walk_nodes(const SessionConfig &config, Context *context, const Image &image, Arena *arena, Arena *data,
                       Session **session, Refusal *refusal) {
  context->image = image;
  put_constants(context);
  return build_session(config, arena, data, session, refusal);
}

}  // namespace cuda
}  // namespace rnnp

using rnnp::cuda::Prepared;

rnnp_status rnnp_cuda_device_query(int32_t index, rnnp_cuda_device *device) {
  rnnp_cuda_device d = RNNP_CUDA_DEVICE_INIT;
  if (device == nullptr || index < -1) return RNNP_E_ARG;
  if (rnnp::cuda::gpu_query(index, &d) != 0) return RNNP_E_DEVICE;
  return rnnp::give_struct(d, device) ? RNNP_OK : RNNP_E_ARG;
}

rnnp_status rnnp_cuda_session_memory(const rnnp_model *model, const rnnp_cuda_options *options, rnnp_cuda_memory *memory) {
  Prepared p;
  rnnp::cuda::prepare(model, options, &p);
  if (p.status != RNNP_OK) return p.status;
  const rnnp_cuda_memory need = {
      sizeof need, rnnp::kArenaAlign, p.host_bytes, p.weight_bytes, p.weight_bytes, p.work_bytes, rnnp::saved_state_bytes(p.model)};
  return rnnp::give_struct(need, memory) ? RNNP_OK : RNNP_E_ARG;
}

rnnp_status rnnp_cuda_session_explain(const rnnp_model *model, const rnnp_cuda_options *options, rnnp_refusal *refusal) {
  Prepared p;
  rnnp::cuda::prepare(model, options, &p);
  rnnp_refusal r = rnnp::refusal_of(p.model, p.refusal, p.status);
  if (p.reason != nullptr) r.reason = p.reason;
  return rnnp::give_struct(r, refusal) ? p.status : RNNP_E_ARG;
}

rnnp_status rnnp_cuda_pack(const rnnp_model *model, const rnnp_cuda_options *options, void *image, size_t bytes) {
  if (image == nullptr) return RNNP_E_ARG;
  if (!rnnp::is_aligned(image, 16)) return RNNP_E_ALIGN;
  Prepared p;
  rnnp::cuda::prepare(model, options, &p);
  if (p.status != RNNP_OK) return p.status;
  if (bytes < p.weight_bytes) return RNNP_E_SMALL_MEMORY;
  uint8_t *to = static_cast<uint8_t *>(image);
  rnnp::zero_bytes(to, p.weight_bytes);
  rnnp::Arena arena(nullptr, 0), data(nullptr, 0);
  const rnnp_status status = walk_nodes(p.config, &p.context, {to, nullptr, 0}, &arena, &data, nullptr, &p.refusal);
  if (status != RNNP_OK) return status;
  constexpr size_t kHeader = sizeof(rnnp::cuda::ImageHeader);
  const rnnp::cuda::ImageHeader header = {rnnp::cuda::kImageMagic,
                                          rnnp::cuda::kImageVersion,
                                          p.key,
                                          p.weight_bytes,
                                          rnnp::crc32(0, to + kHeader, p.weight_bytes - kHeader),
                                          0};
  rnnp::copy_bytes(to, &header, sizeof header);
  return RNNP_OK;
}

rnnp_status rnnp_cuda_plan(const rnnp_model *model, const rnnp_cuda_options *options, uint32_t layer, rnnp_cuda_layer_info *facts) {
  Prepared p;
  rnnp::cuda::prepare(model, options, &p);
  if (p.status != RNNP_OK) return p.status;
  for (uint32_t i = 0, seen = 0; i < p.model.nodes.count; ++i) {
    if (p.model.nodes[i].op != uint32_t(rnnp::OpKind::kRecurrent) || seen++ != layer) continue;
    const rnnp::AttrRecurrent &a = *p.model.attr<rnnp::AttrRecurrent>(p.model.nodes[i]);
    rnnp::cuda::LayerPlan plan;
    if (!rnnp::cuda::plan_recurrent_node(p.context, a, p.context.limits.max_batch, p.config.chunk_steps, false, &plan))
      return RNNP_E_LAYOUT;
    return rnnp::give_struct(rnnp::cuda::facts_of(plan), facts) ? RNNP_OK : RNNP_E_ARG;
  }
  return RNNP_E_ARG;
}
