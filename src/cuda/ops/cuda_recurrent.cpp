// cuda_recurrent.cpp -- the recurrent layer along time on a GPU. Touches its scratch, its states (h and c stay in the first buffer
// between runs, so that a captured run may be replayed), words and outputs. SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/plain_args.h"
#include "cuda/ops/recurrent_pieces.h"
#include "ops/recurrent_check.h"

namespace rnnp {
namespace cuda {
namespace {

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrRecurrent &a = *env->model->attr<AttrRecurrent>(node);
  RecurrentNode n;
  const AttrNormRecurrent *norms = has_norms(*env->model, node) ? env->model->attr<AttrNormRecurrent>(node) : nullptr;
  const rnnp_status status = build_layer(context_of(env->memory), {a, norms}, env->max_batch, env->chunk_steps, false, &n);
  if (status != RNNP_OK) return status;
  const size_t scratch = mul_sat(layer_scratch_floats(n, a), sizeof(float));
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  RecurrentNode *kept = env->arena->take<RecurrentNode>(1);
  *object = kept;
  if (kept != nullptr) *kept = n;
  return RNNP_OK;
}

rnnp_status check(const Model &m, const BlobNode &node) {
  return has_norms(m, node) ? rnnp_op_recurrent_norm.check(m, node) : check_recurrent(m, node);
}

struct Layer {
  const RunEnv &env;
  const BlobNode &node;
  const RecurrentNode &n;
  const AttrRecurrent &a;
  uint32_t d;

  Context *context() const { return n.context; }
  const BlobDirection &blob() const { return a.direction[d]; }
  bool has_c() const { return rnnp::has_c(Cell(a.cell)); }
  const StateSlot &state(bool c) const { return env.states[c ? blob().state_c : blob().state_h]; }
};

void load_initial(const Layer &l, uint32_t input, bool c) {
  const uint32_t value = l.env.model->node_input(l.node, input);
  if (value == kNone || l.env.values[value].data == nullptr) return;
  const StateSlot &s = l.state(c);
  const BlobStrided &at = c ? l.blob().init_c : l.blob().init_h;
  const InitialStateArgs args = {uint64_t{l.env.batch} * s.elems,
                                 row_of(l.env.values[value], 0),
                                 s.buffer[0],
                                 l.context()->rows,
                                 l.env.values[value].row_bytes / sizeof(float),
                                 s.row_elems,
                                 at.first,
                                 at.stride,
                                 s.elems};
  launch_plain(l.context(), KernelId::load_initial_state, args);
}

void store_final(const Layer &l, uint32_t output, bool c) {
  const uint32_t value = l.env.model->node_output(l.node, output);
  if (value == kNone || l.env.values[value].data == nullptr) return;
  const StateSlot &s = l.state(c);
  float *to = row_of(l.env.values[value], 0) + size_t{l.d} * s.elems;
  const StateRowsArgs args = {uint64_t{l.env.batch} * s.elems,
                              s.buffer[0],
                              to,
                              l.context()->rows,
                              nullptr,
                              s.row_elems,
                              l.env.values[value].row_bytes / sizeof(float),
                              s.elems};
  launch_plain(l.context(), KernelId::copy_state_rows, args);
}

// All steps of a chunk.
RecurrentArgs args_of(const Layer &l) {
  const Context &c = *l.context();
  const RunEnv &env = l.env;
  const uint32_t y = env.model->node_output(l.node, 0);
  const ValueSlot &x = env.values[env.model->node_input(l.node, 0)];
  RecurrentArgs a = layer_args(l.n, l.a, l.d);
  a.x = row_of(x, 0);
  a.x_row = x.row_bytes / sizeof(float);
  a.mask = has_mask(l.a) ? a.x + l.a.input_size : nullptr;
  a.h = l.state(false).buffer[0];
  a.h_next = l.state(false).buffer[1];
  a.c = l.has_c() ? l.state(true).buffer[0] : nullptr;
  a.state_row = l.state(false).row_elems;
  if (y != kNone && env.values[y].data != nullptr) {
    a.y = row_of(env.values[y], 0) + size_t{l.d} * l.a.hidden_size;
    a.y_row = env.values[y].row_bytes / sizeof(float);
  }
  a.lengths = device_lengths(c, env, env.model->node_input(l.node, 3));
  a.rows = c.rows;
  a.batch = env.batch;
  a.first_step = static_cast<uint32_t>(env.first_step);
  a.steps = static_cast<uint32_t>(env.steps);
  return a;
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const RecurrentNode &n = *static_cast<const RecurrentNode *>(object);
  const AttrRecurrent &a = *env.model->attr<AttrRecurrent>(node);
  float *scratch = view_as<float>(static_cast<void *>(env.scratch));
  RecurrentArgs args[2];
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const Layer l = {env, node, n, a, d};
    args[d] = args_of(l);
    if (!env.first_chunk) continue;
    load_initial(l, 1, false);
    if (l.has_c()) load_initial(l, 2, true);
  }
  for (uint32_t d = 0; d < a.direction_count; d += n.plan.directions) run_layer(n, a, d, args + d, scratch);
  for (uint32_t d = 0; env.last_chunk && d < a.direction_count; ++d) {
    const Layer l = {env, node, n, a, d};
    store_final(l, 1, false);
    if (l.has_c()) store_final(l, 2, true);
  }
}

}  // namespace

const Op op_recurrent = {OpKind::kRecurrent, nullptr, check, nullptr, build, nullptr, run};

}  // namespace cuda
}  // namespace rnnp
