// cuda_session.cpp -- rnnp_cuda_session_init, _info, _plan and the states. Contract: cuda.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"
#include "cuda/kernels/args.h"
#include "cuda/ops/cuda_ops.h"
#include "cuda/ops/recurrent_pieces.h"
#include "format/crc32.h"
#include "runtime/structs.h"

namespace rnnp {
namespace cuda {
namespace {

rnnp_status check_image(const Prepared &p, const void *image) {
  if (!is_aligned(image, 16)) return RNNP_E_ALIGN;
  ImageHeader h;
  copy_bytes(&h, image, sizeof h);
  const bool same = h.magic == kImageMagic && h.key == p.key && h.bytes == p.weight_bytes;
  const uint8_t *rest = static_cast<const uint8_t *>(image) + sizeof h;
  return same && h.crc == crc32(0, rest, p.weight_bytes - sizeof h) ? RNNP_OK : RNNP_E_IMAGE_MISMATCH;
}

// The session's own memory behind what the runtime has: words, control, lists of rows and lengths.
void place_own(const Prepared &p, uint8_t *work, void *findings, Context *c) {
  const auto take = [&](size_t bytes) {
    uint8_t *at = work;
    work += align_up(bytes, kDeviceAlign);
    return static_cast<void *>(at);
  };
  take(p.config.data_bytes);
  c->words = static_cast<uint64_t *>(take(words_of_exchanges(*c) * sizeof(uint64_t)));
  c->control = static_cast<uint32_t *>(take(kControlBytes));
  static_assert((kExchanges * kControlWords + kFindings) * sizeof(uint32_t) <= kControlBytes, "room for all");
  c->has_mapped_findings = findings != nullptr;
  c->findings = findings != nullptr ? static_cast<uint32_t *>(findings) : c->control + kExchanges * kControlWords;
  c->row_list = static_cast<uint32_t *>(take(c->limits.max_batch * sizeof(uint32_t)));
  c->length_list = static_cast<int32_t *>(take(c->limits.max_batch * sizeof(int32_t)));
}

// In memory that has been checked.
rnnp_status make(const Prepared &p, const rnnp_cuda_buffers &b, void *stream, rnnp_cuda_session **session) {
  uint8_t *const host = static_cast<uint8_t *>(b.host), *const weights = static_cast<uint8_t *>(b.weights);
  uint8_t *const work = static_cast<uint8_t *>(b.work);
  Arena own(host, p.own_bytes);
  rnnp_cuda_session *s = own.take<rnnp_cuda_session>(1);
  *s = {};
  Context &c = s->context;
  c = p.context;  // where it stays: nodes and the runtime's session keep its address
  c.constants = own.take<const float *>(size_t{p.model.values.count} + p.model.states.count);
  c.initials = c.constants + p.model.values.count;
  c.stream = stream;
  c.loads_kernels = false;
  c.error = gpu_current(&s->device);
  place_own(p, work, b.findings, &c);
  if (c.has_mapped_findings) zero_bytes(c.findings, kFindings * sizeof(uint32_t));
  if (c.error == 0 && b.image != nullptr) c.error = gpu_upload(weights, b.image, p.weight_bytes, stream);
  if (c.error == 0) c.error = gpu_zero(c.words, words_of_exchanges(c) * sizeof(uint64_t), stream);
  if (c.error == 0) c.error = gpu_zero(c.control, kControlBytes, stream);
  SessionConfig config = p.config;
  config.memory = &c;
  Arena arena(host + p.own_bytes, p.config.session_bytes), data(work, p.config.data_bytes);
  Refusal refusal;
  const rnnp_status status = walk_nodes(config, &c, {nullptr, weights, 0}, &arena, &data, &s->session, &refusal);
  if (status != RNNP_OK) return status;
  c.model = &s->session->model;
  s->has_run = true;
  s->last_stream = stream;
  const rnnp_status launched = take_error(s);
  if (launched != RNNP_OK) return launched;
  s->tag = kCudaSessionTag;
  *session = s;
  return RNNP_OK;
}

rnnp_status check_memory(const Prepared &p, const rnnp_cuda_buffers &b) {
  if (b.host == nullptr || b.weights == nullptr || b.work == nullptr) return RNNP_E_ARG;
  if (!is_aligned(b.host, kArenaAlign) || !is_aligned(b.weights, kDeviceAlign) || !is_aligned(b.work, kDeviceAlign) ||
      !is_aligned(b.findings, RNNP_CUDA_FINDINGS_BYTES))
    return RNNP_E_ALIGN;
  if (b.host_bytes < p.host_bytes) return RNNP_E_SMALL_MEMORY;
  if (b.findings != nullptr && !gpu_is_mapped(b.findings)) return RNNP_E_ARG;
  return gpu_owns(b.weights) && gpu_owns(b.work) ? RNNP_OK : RNNP_E_ARG;
}

const RecurrentNode *recurrent_node(const Session &s, uint32_t layer) {
  for (uint32_t i = 0; i < s.model.nodes.count; ++i) {
    if (s.nodes[i].op == &op_recurrent && layer-- == 0) return static_cast<const RecurrentNode *>(s.nodes[i].object);
  }
  return nullptr;
}

}  // namespace

rnnp_status status_of_error(int32_t error) {
  return error == 0 ? RNNP_OK : error == kGridDoesNotFit ? RNNP_E_BUSY : RNNP_E_DEVICE;
}

rnnp_status take_error(rnnp_cuda_session *s) {
  const int32_t error = s->context.error;
  s->context.error = 0;
  if (error != 0) s->error = error;
  return status_of_error(error);
}

rnnp_status begin_work(rnnp_cuda_session *s, void *stream) {
  if (!is_cuda_session(s)) return RNNP_E_ARG;
  int32_t device = -1;
  s->context.error = gpu_current(&device);
  if (s->context.error == 0 && device != s->device) s->context.error = kInvalidDevice;
  if (s->context.error != 0) return take_error(s);
  // Nothing may be asked of a stream during a capture.
  const bool elsewhere = s->has_run && s->last_stream != stream && !gpu_is_capturing(stream);
  if (elsewhere && gpu_is_busy(s->last_stream)) return RNNP_E_BUSY;
  s->context.stream = stream;
  return RNNP_OK;
}

rnnp_status end_work(rnnp_cuda_session *s) {
  s->has_run = true;
  s->last_stream = s->context.stream;
  return take_error(s);
}

}  // namespace cuda
}  // namespace rnnp

using rnnp::cuda::Prepared;

rnnp_status rnnp_cuda_session_init(rnnp_cuda_session **session, const rnnp_model *model, const rnnp_cuda_options *options,
                                   const rnnp_cuda_buffers *buffers, void *stream) {
  rnnp_cuda_buffers b = RNNP_CUDA_BUFFERS_INIT;
  if (session == nullptr || !rnnp::take_struct(buffers, offsetof(rnnp_cuda_buffers, findings), &b) || b.reserved != 0)
    return RNNP_E_ARG;
  Prepared p;
  rnnp::cuda::prepare(model, options, &p, true);
  if (p.status == RNNP_OK) p.status = rnnp::cuda::status_of_error(p.context.error);
  if (p.status != RNNP_OK) return p.status;
  rnnp_status status = rnnp::cuda::check_memory(p, b);
  if (status == RNNP_OK && b.image != nullptr) status = rnnp::cuda::check_image(p, b.image);
  if (status != RNNP_OK) return status;
  status = rnnp::prepare_memory(p.config, static_cast<uint8_t *>(b.host) + p.own_bytes, p.config.session_bytes, &p.refusal);
  return status != RNNP_OK ? status : rnnp::cuda::make(p, b, stream, session);
}

rnnp_status rnnp_cuda_layer_get_info(const rnnp_cuda_session *session, uint32_t layer, rnnp_cuda_layer_info *facts) {
  if (!rnnp::cuda::is_cuda_session(session)) return RNNP_E_ARG;
  const rnnp::cuda::RecurrentNode *node = rnnp::cuda::recurrent_node(*session->session, layer);
  if (node == nullptr) return RNNP_E_ARG;
  return rnnp::give_struct(rnnp::cuda::facts_of(node->plan), facts) ? RNNP_OK : RNNP_E_ARG;
}

int32_t rnnp_cuda_error(const rnnp_cuda_session *session) {
  return rnnp::cuda::is_cuda_session(session) ? session->error : 0;
}

int32_t rnnp_cuda_session_device(const rnnp_cuda_session *session) {
  return rnnp::cuda::is_cuda_session(session) ? session->device : -1;
}

rnnp_status rnnp_cuda_state_reset(rnnp_cuda_session *session, uint32_t row, void *stream) {
  rnnp_status status = rnnp::cuda::begin_work(session, stream);
  if (status != RNNP_OK) return status;
  status = rnnp::reset_rows(*session->session, row);
  const rnnp_status done = rnnp::cuda::end_work(session);
  return status != RNNP_OK ? status : done;
}

rnnp_status rnnp_cuda_state_save(rnnp_cuda_session *session, uint32_t row, void *dst, size_t bytes, void *stream) {
  rnnp_status status = rnnp::cuda::begin_work(session, stream);
  if (status == RNNP_OK) status = rnnp::save_row(*session->session, row, dst, bytes);
  if (status != RNNP_OK) return status;
  return rnnp::cuda::end_work(session);
}

rnnp_status rnnp_cuda_state_load(rnnp_cuda_session *session, uint32_t row, const void *src, size_t bytes, void *stream) {
  rnnp_status status = rnnp::cuda::begin_work(session, stream);
  if (status == RNNP_OK) status = rnnp::load_row(*session->session, row, src, bytes);
  if (status != RNNP_OK) return status;
  return rnnp::cuda::end_work(session);
}
