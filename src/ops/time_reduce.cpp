// time_reduce.cpp -- sum, mean, extremes or product of a row's elements over all its steps; threads own rows.
// Touches its output and its state: sums so far, what their rounding lost, the number of steps. In a causal model the state lives
// on between runs, so a sequence in pieces gives, with its last piece, the bits of the whole; others begin anew with every run.
// One accumulator per element, steps ascending; a row that has ended, or has no step in a run, is left as it is.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"

namespace rnnp {
namespace {

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrTimeReduce *a = m.attr<AttrTimeReduce>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->op > uint32_t(Reduce::kProd) || !is_f32_value(m, y, 0) || !is_f32_value(m, x, m.values[y].row_elems))
    return RNNP_E_BLOB_CORRUPT;
  if (!m.values[x].sequence || m.values[y].sequence || a->state >= m.states.count) return RNNP_E_BLOB_CORRUPT;
  const BlobState &state = m.states[a->state];
  if (state.buffers != 1 || state.elems != 2 * uint64_t{m.values[y].row_elems} + 1) return RNNP_E_BLOB_CORRUPT;
  return keep_attr(env, a, object);
}

// sum + lost is the sum to twice the digits, after Neumaier.
void add(const float *x, uint32_t n, float *sum, float *lost) {
  for (uint32_t i = 0; i < n; ++i) {
    const float before = sum[i], by = x[i], after = before + by;
    const float size = before < 0.0f ? -before : before, other = by < 0.0f ? -by : by;
    lost[i] += size >= other ? (before - after) + by : (by - after) + before;
    sum[i] = after;
  }
}

void take(Reduce op, const float *x, uint32_t n, float *so_far, float *lost) {
  switch (op) {
    case Reduce::kMax:
      for (uint32_t i = 0; i < n; ++i) so_far[i] = x[i] > so_far[i] || x[i] != x[i] ? x[i] : so_far[i];
      return;
    case Reduce::kMin:
      for (uint32_t i = 0; i < n; ++i) so_far[i] = x[i] < so_far[i] || x[i] != x[i] ? x[i] : so_far[i];
      return;
    case Reduce::kProd:
      for (uint32_t i = 0; i < n; ++i) so_far[i] *= x[i];
      return;
    default:
      add(x, n, so_far, lost);
  }
}

void give(Reduce op, const float *so_far, const float *lost, float count, uint32_t n, float *y) {
  const bool sums = op == Reduce::kSum || op == Reduce::kMean;
  for (uint32_t i = 0; i < n; ++i) {
    // An infinite sum has lost nothing that counts.
    const float whole = sums && so_far[i] - so_far[i] == 0.0f ? so_far[i] + lost[i] : so_far[i];
    y[i] = op == Reduce::kMean && count > 0.0f ? whole / count : whole;
  }
}

// The row's steps of this chunk.
uint32_t live_steps(const RunEnv &env, size_t row) {
  if (env.lengths == nullptr) return env.steps;
  const size_t length = static_cast<size_t>(env.lengths[row]);
  if (length <= env.first_step) return 0;
  return length - env.first_step < env.steps ? static_cast<uint32_t>(length - env.first_step) : env.steps;
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrTimeReduce &a = **static_cast<const AttrTimeReduce *const *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  const uint32_t n = env.model->values[y].row_elems;
  const bool anew = env.first_chunk && (env.model->header->flags & kBlobCausal) == 0;
  const StateSlot &state = env.states[a.state];
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    float *so_far = state.buffer[state.live] + row * state.row_elems, *lost = so_far + n, *count = lost + n;
    if (anew) zero_bytes(so_far, state.elems * sizeof(float));
    for (uint32_t step = 0, steps = live_steps(env, row); step < steps; ++step) {
      const float *from = row_of(env.values[x], size_t{step} * env.batch + row);
      if (*count == 0.0f)
        copy_bytes(so_far, from, size_t{n} * sizeof(float));
      else
        take(Reduce(a.op), from, n, so_far, lost);
      *count += 1.0f;
    }
    if (env.last_chunk) give(Reduce(a.op), so_far, lost, *count, n, row_of(env.values[y], row));
  }
}

}  // namespace

const Op rnnp_op_time_reduce = {OpKind::kTimeReduce, build, nullptr, run};

}  // namespace rnnp
