// gather.cpp -- rows of a constant table by index: an embedding. Threads own rows. Touches its output only.
// Indices were checked against the input's limit before the run began (runtime/call.cpp); negative ones count from the table's end.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"

namespace rnnp {
namespace {

rnnp_status check_gather(const Model &m, const BlobNode &node) {
  const AttrGather *a = m.attr<AttrGather>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || x >= m.values.count || a->count == 0 || a->elems == 0) return RNNP_E_BLOB_CORRUPT;
  const BlobValue &index = m.values[x];
  if (ValueKind(index.kind) != ValueKind::kInput || index.dtype != uint32_t(DType::kI32) || !index.sequence)
    return RNNP_E_BLOB_CORRUPT;
  if (index.row_elems != a->count || m.inputs[index.location].limit > a->rows) return RNNP_E_BLOB_CORRUPT;
  const uint64_t elems = uint64_t{a->count} * a->elems;
  if (elems > UINT32_MAX || !is_f32_value(m, y, static_cast<uint32_t>(elems)) || !m.values[y].sequence) return RNNP_E_BLOB_CORRUPT;
  if (!m.weights_fit(a->table, uint64_t{a->rows} * a->elems)) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

void run_gather(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrGather &a = **static_cast<const AttrGather *const *>(object);
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  const uint32_t y = env.model->node_output(node, 0);
  const float *table = env.model->weights(a.table);
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const int32_t *index = view_as<int32_t>(static_cast<const uint8_t *>(x.data) + row * x.row_bytes);
    float *to = row_of(env.values[y], row);
    for (uint32_t i = 0; i < a.count; ++i, to += a.elems) {
      const uint32_t at = index[i] < 0 ? a.rows - (0u - static_cast<uint32_t>(index[i])) : static_cast<uint32_t>(index[i]);
      copy_bytes(to, table + size_t{at} * a.elems, a.elems * sizeof(float));
    }
  }
}

}  // namespace

RNNPACK_OP(gather, {OpKind::kGather, nullptr, check_gather, nullptr, keep_attr<AttrGather>, nullptr, run_gather});

}  // namespace rnnp
