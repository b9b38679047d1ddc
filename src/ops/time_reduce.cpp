// time_reduce.cpp -- sum, mean, extremes or product of a row's elements over all its steps; threads own rows.
// Touches its output and its state: sums so far, what their rounding lost, the number of steps as 64 bits. In a causal model the
// state lives on between runs, so a sequence in pieces gives, with its last piece, the bits of the whole; others begin anew with
// every run. One accumulator per element, steps ascending; a row that has ended, or has no step in a run, is left as it is.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"

namespace rnnp {
namespace {

constexpr uint32_t kCountWords = 2;

rnnp_status check_time_reduce(const Model &m, const BlobNode &node) {
  const AttrTimeReduce *a = m.attr<AttrTimeReduce>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->op > uint32_t(Reduce::kProd) || !is_f32_value(m, y, 0) || !is_f32_value(m, x, m.values[y].row_elems))
    return RNNP_E_BLOB_CORRUPT;
  if (!m.values[x].sequence || m.values[y].sequence) return RNNP_E_BLOB_CORRUPT;
  if (!is_persistent_state(m, a->state, 2 * uint64_t{m.values[y].row_elems}, kCountWords)) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

// sum + lost is the sum to twice the digits, after Neumaier; what was lost is taken back into the sum at once, so that it stays
// below the sum's last digit and never becomes too large to be added to. An infinite sum has lost nothing that counts.
void add(const float *x, uint32_t n, float *sum, float *lost) {
  for (uint32_t i = 0; i < n; ++i) {
    const float before = sum[i], by = x[i], after = before + by;
    const float size = before < 0.0f ? -before : before, other = by < 0.0f ? -by : by;
    const float rest = lost[i] + (size >= other ? (before - after) + by : (by - after) + before);
    const float whole = after + rest;
    const bool finite = whole - whole == 0.0f;
    sum[i] = finite ? whole : after;
    lost[i] = finite ? rest - (whole - after) : 0.0f;
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

// The number of steps, in two words of the state. Stays at its largest when it gets there: 12 million years of 48 kHz.
uint64_t read_count(const float *words) {
  return read_word(words) | uint64_t{read_word(words + 1)} << 32;
}
void write_count(float *words, uint64_t count) {
  write_word(words, static_cast<uint32_t>(count));
  write_word(words + 1, static_cast<uint32_t>(count >> 32));
}

// In halves: small cores have no conversion of 64 bits.
float count_as_float(uint64_t count) {
  return static_cast<float>(static_cast<uint32_t>(count >> 32)) * 4294967296.0f + static_cast<float>(static_cast<uint32_t>(count));
}

void give(Reduce op, const float *so_far, uint64_t count, uint32_t n, float *y) {
  const float divisor = op == Reduce::kMean && count != 0 ? count_as_float(count) : 1.0f;
  for (uint32_t i = 0; i < n; ++i) y[i] = so_far[i] / divisor;
}

void run_time_reduce(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrTimeReduce &a = **static_cast<const AttrTimeReduce *const *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  const uint32_t n = env.model->values[y].row_elems;
  const bool anew = env.first_chunk && (env.model->header->flags & kBlobCausal) == 0;
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    float *so_far = kept_row(env, a.state, row), *lost = so_far + n, *words = lost + n;
    if (anew) zero_bytes(so_far, (size_t{2} * n + kCountWords) * sizeof(float));
    uint64_t count = read_count(words);
    for (uint32_t step = 0, steps = live_steps(env, row); step < steps; ++step) {
      const float *from = row_of(env.values[x], size_t{step} * env.batch + row);
      if (count == 0)
        copy_bytes(so_far, from, size_t{n} * sizeof(float));
      else
        take(Reduce(a.op), from, n, so_far, lost);
      if (count != UINT64_MAX) ++count;
    }
    write_count(words, count);
    if (env.last_chunk) give(Reduce(a.op), so_far, count, n, row_of(env.values[y], row));
  }
}

}  // namespace

RNNPACK_OP(time_reduce,
           {OpKind::kTimeReduce, nullptr, check_time_reduce, nullptr, keep_attr<AttrTimeReduce>, nullptr, run_time_reduce});

}  // namespace rnnp
