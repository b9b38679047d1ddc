// time_reverse.cpp -- a sequence's steps from the last to the first, each row's inside its own length; what lies behind that stays
// where it is. Touches its output only. Whole sequences alone, so a run is one chunk. Threads own steps.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"

namespace rnnp {
namespace {

rnnp_status check_time_reverse(const Model &m, const BlobNode &node) {
  const AttrTimeReverse *a = m.attr<AttrTimeReverse>(node);
  const uint32_t lengths = m.node_input(node, 1);
  const bool moves = is_elementwise(m, node) && m.values[m.node_output(node, 0)].sequence;
  if (a == nullptr || a->reserved != 0 || !moves || (m.header->flags & kBlobCausal) != 0) return RNNP_E_BLOB_CORRUPT;
  return lengths == kNone || is_lengths_input(m, lengths) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

void run_time_reverse(const RunEnv &env, const BlobNode &node, void *, uint32_t thread) {
  const ValueSlot &x = env.values[env.model->node_input(node, 0)], &y = env.values[env.model->node_output(node, 0)];
  const int32_t *lengths = row_lengths(env, env.model->node_input(node, 1));
  size_t begin, end;
  split_range(env.steps, env.threads, thread, &begin, &end);
  for (size_t step = begin; step < end; ++step) {
    for (size_t row = 0; row < env.batch; ++row) {
      const size_t length = lengths != nullptr ? static_cast<size_t>(lengths[row]) : env.steps;
      const size_t from = step < length ? length - 1 - step : step;
      copy_bytes(row_of(y, step * env.batch + row), row_of(x, from * env.batch + row), x.row_bytes);
    }
  }
}

}  // namespace

RNNPACK_OP(time_reverse,
           {OpKind::kTimeReverse, nullptr, check_time_reverse, nullptr, keep_attr<AttrTimeReverse>, nullptr, run_time_reverse});

}  // namespace rnnp
