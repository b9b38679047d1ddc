// softmax.cpp -- softmax and log-softmax over one axis of a row; threads own rows.
// Touches its output only; in place allowed.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

namespace rnnp {
namespace {

struct Softmax {
  RNNPACK_BYTES_32(20);
  SoftmaxFn fn;
  AttrSoftmax attr;
};

rnnp_status check_softmax(const Model &m, const BlobNode &node) {
  const AttrSoftmax *a = m.attr<AttrSoftmax>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->outer == 0 || a->axis == 0 || a->inner == 0 || a->log > 1) return RNNP_E_BLOB_CORRUPT;
  const uint64_t part = uint64_t{a->outer} * a->axis;
  if (part > UINT32_MAX || part * a->inner > UINT32_MAX) return RNNP_E_BLOB_CORRUPT;
  const uint32_t elems = static_cast<uint32_t>(part * a->inner);
  if (!is_f32_value(m, x, elems) || !is_f32_value(m, y, elems) || m.values[x].sequence != m.values[y].sequence || is_const(m, x))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

rnnp_status build_softmax(BuildEnv *env, const BlobNode &node, void **object) {
  const Kernel *k = find_kernel(*env->kernels, KernelFamily::kSoftmax, DType::kF32, 0, env->isa);
  if (k == nullptr) return RNNP_E_LAYOUT;
  Softmax *s = env->arena->take<Softmax>(1);
  *object = s;
  if (s != nullptr) *s = {k->softmax, *env->model->attr<AttrSoftmax>(node)};
  return RNNP_OK;
}

void run_softmax(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Softmax &s = *static_cast<const Softmax *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from = row_of(env.values[x], row);
    float *to = row_of(env.values[y], row);
    for (uint32_t o = 0; o < s.attr.outer; ++o) {
      for (uint32_t i = 0; i < s.attr.inner; ++i) {
        const size_t at = size_t{o} * s.attr.axis * s.attr.inner + i;
        const SoftmaxArgs args = {from + at, to + at, s.attr.axis, s.attr.inner, s.attr.log};
        s.fn(&args);
      }
    }
  }
}

}  // namespace

RNNPACK_OP(softmax, {OpKind::kSoftmax, nullptr, check_softmax, nullptr, build_softmax, nullptr, run_softmax});

}  // namespace rnnp
