// norm.cpp -- (x - mean) / sqrt(variance + epsilon), scaled and shifted, over the elements of each group of a row.
// Touches its output only; in place allowed; threads own rows. Sums in the fixed order of lanes.h; two passes, so no digits cancel.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/scalar_math.h"
#include "ops/lanes.h"
#include "ops/op.h"

namespace rnnp {
namespace {

struct Norm {
  RNNPACK_BYTES_32(12);
  const AttrNorm *attr;
  const float *scale, *bias;  // nullptr: 1 and 0
};

rnnp_status check_norm(const Model &m, const BlobNode &node) {
  const AttrNorm *a = m.attr<AttrNorm>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->outer == 0 || a->elems == 0 || a->centred > 1 || a->per_outer > 1) return RNNP_E_BLOB_CORRUPT;
  const uint64_t elems = uint64_t{a->outer} * a->elems;
  if (elems > UINT32_MAX || !is_f32_value(m, x, uint32_t(elems)) || !is_f32_value(m, y, uint32_t(elems)))
    return RNNP_E_BLOB_CORRUPT;
  if (m.values[x].sequence != m.values[y].sequence || is_const(m, x)) return RNNP_E_BLOB_CORRUPT;
  const uint32_t parameters = a->per_outer ? a->outer : a->elems;
  if ((a->scale != kNone && !m.weights_fit(a->scale, parameters)) || (a->bias != kNone && !m.weights_fit(a->bias, parameters)))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

rnnp_status build_norm(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrNorm *a = m.attr<AttrNorm>(node);
  Norm *n = env->arena->take<Norm>(1);
  *object = n;
  if (n == nullptr) return RNNP_OK;
  *n = {a, a->scale == kNone ? nullptr : m.weights(a->scale), a->bias == kNone ? nullptr : m.weights(a->bias)};
  return RNNP_OK;
}

void normalise(const Norm &n, uint32_t group, const float *x, float *y) {
  const AttrNorm &a = *n.attr;
  const size_t elems = a.elems;
  const float count = static_cast<float>(a.elems);
  const float mean = a.centred ? fold_row(FoldSum(), x, elems) / count : 0.0f;
  const float variance = fold_row(FoldSumSquareOff(mean), x, elems) / count;
  const float factor = 1.0f / scalar_sqrt(variance + a.epsilon);
  if (a.per_outer || n.scale == nullptr) {
    const float scale = n.scale != nullptr ? n.scale[group] * factor : factor;
    for (size_t i = 0; i < elems; ++i) y[i] = (x[i] - mean) * scale;
  } else {
    for (size_t i = 0; i < elems; ++i) y[i] = (x[i] - mean) * factor * n.scale[i];
  }
  if (n.bias == nullptr) return;
  if (a.per_outer) {
    const float bias = n.bias[group];
    for (size_t i = 0; i < elems; ++i) y[i] += bias;
  } else {
    for (size_t i = 0; i < elems; ++i) y[i] += n.bias[i];
  }
}

void run_norm(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Norm &n = *static_cast<const Norm *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from = row_of(env.values[x], row);
    float *to = row_of(env.values[y], row);
    for (uint32_t group = 0; group < n.attr->outer; ++group, from += n.attr->elems, to += n.attr->elems)
      normalise(n, group, from, to);
  }
}

}  // namespace

RNNPACK_OP(norm, {OpKind::kNorm, nullptr, check_norm, nullptr, build_norm, nullptr, run_norm});

}  // namespace rnnp
