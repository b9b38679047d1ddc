// cuda_feature_recurrent.cpp -- a recurrent layer over a feature axis on a GPU: rows side by side are the batch of a layer
// along time (recurrent_pieces.h). They are brought together in scratch, step by step, and their results back to where they belong.
// Touches its scratch, words and outputs. SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/plain_args.h"
#include "cuda/ops/recurrent_pieces.h"
#include "ops/feature_rows.h"
#include "ops/recurrent_plan.h"

namespace rnnp {
namespace cuda {
namespace {

constexpr size_t kMostRows = 32, kMostTogether = 16u << 20;  // rows side by side; bytes of their x and y

struct FeatureNode {
  RecurrentNode layer;
  uint32_t most;              // rows side by side
  size_t x, y, h, h_next, c;  // floats into the scratch
  uint32_t state_row, y_row;
};

rnnp_status check(const Model &m, const BlobNode &node) {
  const rnnp_status status = rnnp_op_feature_recurrent.check(m, node);
  if (status != RNNP_OK) return status;
  const BlobDirection &d = m.attr<AttrRecurrent>(node)->direction[0];
  return is_fused(m.matrix(d.w).format) && is_fused(m.matrix(d.r).format) ? RNNP_OK : RNNP_E_LAYOUT;
}

uint32_t rows_together(const AttrFeatureRecurrent &a, size_t rows, size_t step_floats) {
  const size_t bytes = mul_sat(mul_sat(step_floats, a.steps), sizeof(float)), room = kMostTogether / bytes;
  const size_t most = rows < kMostRows ? rows : kMostRows;
  return static_cast<uint32_t>(room == 0 ? 1 : room < most ? room : most);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrFeatureRecurrent &a = *env->model->attr<AttrFeatureRecurrent>(node);
  const AttrRecurrent &layer = a.layer;
  FeatureNode n = {};
  n.y_row = layer.direction_count * layer.hidden_size;
  n.state_row = state_row_elems(layer.hidden_size);
  const size_t rows = a.rows > 1 ? a.rows : mul_sat(env->chunk_steps, env->max_batch);
  n.most = rows_together(a, rows, size_t{x_elems(layer)} + n.y_row);
  const rnnp_status status = build_layer(context_of(env->memory), {layer, nullptr}, n.most, a.steps, true, &n.layer);
  if (status != RNNP_OK) return status;
  const size_t together = mul_sat(n.most, a.steps), state = mul_sat(n.most, n.state_row);
  n.x = layer_scratch_floats(n.layer, layer);
  n.y = add_sat(n.x, mul_sat(together, x_elems(layer)));
  n.h = add_sat(n.y, mul_sat(together, n.y_row));
  n.h_next = add_sat(n.h, state);
  n.c = add_sat(n.h_next, state);
  const size_t scratch = mul_sat(add_sat(n.c, state), sizeof(float));
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  FeatureNode *kept = env->arena->take<FeatureNode>(1);
  *object = kept;
  if (kept != nullptr) *kept = n;
  return RNNP_OK;
}

// Rows side by side: `count` from `first` of the row of the value that `row` is, or of as many of its neighbours.
struct Rows {
  const RunEnv &env;
  const BlobNode &node;
  const FeatureNode &n;
  const AttrFeatureRecurrent &a;
  size_t row;
  uint32_t first, count;

  float *scratch(size_t at) const { return view_as<float>(static_cast<void *>(env.scratch)) + at; }
  uint32_t input(uint32_t i) const { return env.model->node_input(node, i); }
  uint32_t output(uint32_t i) const { return env.model->node_output(node, i); }
};

RowsPlace words_at(float *data, size_t step_floats, size_t row_floats) {
  return {view_as<uint32_t>(static_cast<void *>(data)), step_floats, row_floats};
}

// `elems` floats of each row and of `steps` steps, between a value and the scratch, whose rows are `apart`.
struct Between {
  uint32_t value;
  size_t steps, elems, first_elem, at, apart;
};
void copy(const Rows &r, const Between &b, bool to_scratch) {
  float *data = feature_row(r.env, b.value, r.row, b.first_elem);
  if (data == nullptr) return;
  const size_t row = inner_stride(r.env, b.value, r.a.rows, b.elems) / sizeof(float);
  const RowsPlace there = words_at(data, r.a.rows * b.elems, row);
  const RowsPlace here = words_at(r.scratch(b.at), r.count * b.apart, b.apart);
  const RowsCopyArgs args = {uint64_t{b.steps} * r.count * b.elems, to_scratch ? here : there, to_scratch ? there : here, r.count,
                             static_cast<uint32_t>(b.elems)};
  launch_plain(r.n.layer.context, KernelId::copy_tensor_rows, args);
}

// A state of direction d: input 1 or 2 to the scratch, or the scratch to output 1 or 2.
void copy_state(const Rows &r, uint32_t d, uint32_t which, bool to_scratch) {
  const size_t hidden = r.a.layer.hidden_size, first = (size_t{d} * r.a.rows + r.first) * hidden, at = which == 1 ? r.n.h : r.n.c;
  copy(r, {to_scratch ? r.input(which) : r.output(which), 1, hidden, first, at, r.n.state_row}, to_scratch);
}

void begin_state(const Rows &r, uint32_t d, uint32_t which) {
  Context *c = r.n.layer.context;
  if (feature_row(r.env, r.input(which), r.row, 0) != nullptr) return copy_state(r, d, which, true);
  c->zero(c, r.scratch(which == 1 ? r.n.h : r.n.c), size_t{r.count} * r.n.state_row * sizeof(float));
}

void run_direction(const Rows &r, uint32_t d) {
  const bool lstm = Cell(r.a.layer.cell) == Cell::kLstm;
  begin_state(r, d, 1);
  if (lstm) begin_state(r, d, 2);
  RecurrentArgs a = layer_args(r.n.layer, r.a.layer, d);
  a.x = r.scratch(r.n.x);
  a.x_row = x_elems(r.a.layer);
  a.mask = has_mask(r.a.layer) ? a.x + r.a.layer.input_size : nullptr;
  a.y = r.scratch(r.n.y) + size_t{d} * r.a.layer.hidden_size;
  a.y_row = r.n.y_row;
  a.h = r.scratch(r.n.h);
  a.h_next = r.scratch(r.n.h_next);
  a.c = lstm ? r.scratch(r.n.c) : nullptr;
  a.state_row = r.n.state_row;
  a.batch = r.count;
  a.steps = r.a.steps;
  run_layer(r.n.layer, r.a.layer, d, &a, r.scratch(0));
  copy_state(r, d, 1, false);
  if (lstm) copy_state(r, d, 2, false);
}

void run_rows(const Rows &r) {
  const size_t in = x_elems(r.a.layer), out = r.n.y_row;
  copy(r, {r.input(0), r.a.steps, in, r.first * in, r.n.x, in}, true);
  for (uint32_t d = 0; d < r.a.layer.direction_count; ++d) run_direction(r, d);
  copy(r, {r.output(0), r.a.steps, out, r.first * out, r.n.y, out}, false);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const FeatureNode &n = *static_cast<const FeatureNode *>(object);
  const AttrFeatureRecurrent &a = *env.model->attr<AttrFeatureRecurrent>(node);
  uint32_t y = kNone;
  for (uint32_t i = 3; i-- > 0;) y = env.model->node_output(node, i) != kNone ? env.model->node_output(node, i) : y;
  if (!runs_in_chunk(env, y)) return;
  const size_t end = chunk_rows(env, y);
  for (size_t row = 0; row < end;) {
    const uint32_t count = a.rows > 1 ? 1 : inner_neighbours(env, node, row, end, n.most);
    for (uint32_t first = 0; first < a.rows; first += n.most) {
      const uint32_t left = a.rows - first, together = left < n.most ? left : n.most;
      run_rows({env, node, n, a, row, first, a.rows > 1 ? together : count});
    }
    row += count;
  }
}

}  // namespace

const Op op_feature_recurrent = {OpKind::kFeatureRecurrent, nullptr, check, nullptr, build, nullptr, run};

}  // namespace cuda
}  // namespace rnnp
