// cuda_recurrent.cpp -- the recurrent layer on a GPU: piece by piece, the input's product for all steps of it, then one resident
// launch, or a launch for each step. Touches its scratch, its states (h and c stay in the first buffer between runs, so that a
// captured run may be replayed), words and outputs. SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/args.h"
#include "cuda/kernels/plain_args.h"
#include "cuda/ops/cuda_ops.h"
#include "cuda/pack_image.h"
#include "ops/recurrent_check.h"
#include "ops/recurrent_plan.h"

namespace rnnp {
namespace cuda {
namespace {

// --- Build -------------------------------------------------------------------------------------------------------------------

// A direction's weights into the image.
void pack_direction(Context *c, const AttrRecurrent &a, const BlobDirection &d, const LayerPlan &plan,
                    RecurrentNode::Direction *to) {
  const Model &m = *c->model;
  const uint32_t gates = cell_gates(Cell(a.cell)), hidden = a.hidden_size;
  const Matrix w = m.matrix(d.w), r = m.matrix(d.r), candidate = m.matrix(d.r_output == kNone ? d.r : d.r_output);
  const Shape w_shape = {gates, a.input_size, plan.input.units}, r_shape = {gates, hidden, plan.units};
  to->w = pack_matrix(c, plan.input.weights, w_shape, {w, w, 0});
  to->r = pack_matrix(c, plan.weights, r_shape, {r, candidate, 0});
  if (are_blocks(plan.weights) && plan.resident != KernelId::count)
    to->r.image = pack_resident_blocks(c, plan, gates, {r, candidate, 0});
  to->candidate = are_blocks(plan.weights) && d.r_output != kNone ? put_blocks(c, candidate) : to->r.blocks;
  to->candidate_factor = candidate.factor_scale;
  to->bias = pack_numbers(c, plan.input.weights, w_shape, hidden,
                          [&](uint32_t gate, uint32_t unit) { return number_beside(w, m.weights(d.bias), gates, gate, unit); });
  to->r_bias = to->peephole = nullptr;
  if (Cell(a.cell) == Cell::kGruLinear) to->r_bias = c->image.put(m.weights(d.r_bias), hidden * sizeof(float));
  if (d.peephole == kNone) return;
  const Image::Part part = c->image.reserve(size_t{3} * hidden * sizeof(float));
  to->peephole = view_as<float>(part.device);
  for (uint32_t i = 0; part.host != nullptr && i < 3 * hidden; ++i) {
    const float v = number_beside(w, m.weights(d.peephole), 3, i / hidden, i % hidden);
    copy_bytes(part.host + i * sizeof v, &v, sizeof v);
  }
}

uint64_t preact_row(const RecurrentNode &n, const AttrRecurrent &a) {
  const Shape s = {cell_gates(Cell(a.cell)), a.hidden_size, n.plan.units};
  return uint64_t{n.plan.blocks} * block_rows(n.plan.weights, s);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  Context *c = context_of(env->memory);
  const Model &m = *env->model;
  const AttrRecurrent *a = m.attr<AttrRecurrent>(node);
  RecurrentNode n = {};
  n.context = c;
  if (!plan_recurrent_node(*c, *a, env->chunk_steps, &n.plan)) return RNNP_E_LAYOUT;
  if (!n.plan.fits) return RNNP_E_SMALL_MEMORY;
  for (uint32_t d = 0; d < a->direction_count; ++d) pack_direction(c, *a, a->direction[d], n.plan, &n.direction[d]);

  const size_t state = mul_sat(env->max_batch, state_row_elems(a->hidden_size));
  const size_t preact = mul_sat(mul_sat(n.plan.steps_per_launch, env->max_batch), preact_row(n, *a));
  const size_t scratch = mul_sat(add_sat(preact, mul_sat(state, 2)), sizeof(float));  // preact, z, r h
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  const size_t words = mul_sat(mul_sat(env->max_batch, size_t{4}), size_t{a->hidden_size} + 2);  // two slots of h, two of r h
  if (words > c->words_needed) c->words_needed = words;
  RecurrentNode *kept = env->arena->take<RecurrentNode>(1);
  *object = kept;
  if (kept != nullptr) *kept = n;
  return RNNP_OK;
}

// --- Run ---------------------------------------------------------------------------------------------------------------------

struct Layer {
  const RunEnv &env;
  const BlobNode &node;
  const RecurrentNode &n;
  const AttrRecurrent &a;
  uint32_t d;

  Context *context() const { return n.context; }
  const BlobDirection &blob() const { return a.direction[d]; }
  bool has_c() const { return Cell(a.cell) == Cell::kLstm; }
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

// What all launches of a direction have in common. first: the piece's first step within the chunk.
RecurrentArgs args_of(const Layer &l, size_t first, uint32_t steps) {
  const RecurrentNode::Direction &dir = l.n.direction[l.d];
  const Context &c = *l.context();
  const RunEnv &env = l.env;
  const uint32_t y = env.model->node_output(l.node, 0);
  const size_t batch_row = first * env.batch;
  const ValueSlot &x = env.values[env.model->node_input(l.node, 0)];
  RecurrentArgs a = {};
  a.r = dir.r.image;
  a.w = dir.w.image;
  a.r_bytes = dir.r.scales;
  a.w_bytes = dir.w.scales;
  a.candidate_factor = dir.candidate_factor;
  a.blocks = dir.r.blocks;
  a.candidate = dir.candidate;
  a.bias = dir.bias;
  a.r_bias = dir.r_bias;
  a.peephole = dir.peephole;
  a.x = row_of(x, batch_row);
  a.x_row = x.row_bytes / sizeof(float);
  a.h = l.state(false).buffer[0];
  a.h_next = l.state(false).buffer[1];
  a.c = l.has_c() ? l.state(true).buffer[0] : nullptr;
  a.state_row = l.state(false).row_elems;
  if (y != kNone && env.values[y].data != nullptr) {
    a.y = row_of(env.values[y], batch_row) + size_t{l.d} * l.a.hidden_size;
    a.y_row = env.values[y].row_bytes / sizeof(float);
  }
  a.lengths = device_lengths(c, env, env.model->node_input(l.node, 3));
  a.rows = c.rows;
  a.words = c.words;
  a.control = c.control;
  a.word_count = static_cast<uint32_t>(c.words_needed);
  a.input = l.a.input_size;
  a.hidden = l.a.hidden_size;
  a.units = l.n.plan.units;
  a.preact_row = preact_row(l.n, l.a);
  copy_bytes(a.bundles, l.n.plan.bundles, sizeof a.bundles);
  a.batch = env.batch;
  a.first_step = static_cast<uint32_t>(env.first_step + first);
  a.steps = steps;
  a.spin_limit = c.spin_limit;
  a.reverse = l.blob().reverse;
  copy_bytes(a.rules.act, l.blob().act, sizeof a.rules.act);
  a.rules.clip = l.a.clip;
  a.rules.input_forget = l.a.input_forget;
  return a;
}

void multiply_input(const Layer &l, const RecurrentArgs &a, float *preact) {
  const ProductPlan &p = l.n.plan.input;
  const uint32_t gates = cell_gates(Cell(l.a.cell));
  ProductArgs g = {};
  g.image = a.w;
  g.bytes = a.w_bytes;
  g.blocks_of_matrix = l.n.direction[l.d].w.blocks;
  g.bias = a.bias;
  g.x = a.x;
  g.out = preact;
  g.x_row = a.x_row;
  g.out_row = a.preact_row;
  g.count = a.steps * a.batch;
  g.k = a.input;
  g.gates = gates;
  g.units = p.units;
  g.blocks = p.blocks;
  g.outputs = a.hidden;
  g.per_warp = l.n.plan.weights == Weights::kF32 ? units_per_warp(gates) : 0;
  g.columns = p.columns;
  launch(l.context(), product_kernel(p.weights), p.blocks * ceil_div(g.count, g.columns), p.shared_bytes, g);
}

void launch_step(const Layer &l, RecurrentArgs a) {
  const LayerPlan &p = l.n.plan;
  const Cell cell = Cell(l.a.cell);
  const KernelId kernel = step_kernel(p.weights, cell, !p.plain);
  a.columns = p.step_columns;
  const uint32_t blocks = p.step_blocks * ceil_div(a.batch, a.columns);
  for (a.half = 0; a.half < (cell == Cell::kGru ? 2u : 1u); ++a.half) launch(l.context(), kernel, blocks, p.step_shared_bytes, a);
}

// A launch for each step; h goes to and fro between the state's two buffers and ends in the first.
void run_steps(const Layer &l, const RecurrentArgs &piece) {
  for (uint32_t t = 0; t < piece.steps; ++t) {
    const size_t step = piece.reverse ? piece.steps - 1 - t : t;
    RecurrentArgs a = piece;
    a.steps = 1;
    a.first_step += static_cast<uint32_t>(step);
    if (a.preact != nullptr) a.preact += step * a.batch * a.preact_row;
    if (a.y != nullptr) a.y += step * a.batch * a.y_row;
    if (t % 2 != 0) a.h = piece.h_next, a.h_next = piece.h;
    launch_step(l, a);
  }
  if (piece.steps % 2 == 0) return;
  const uint32_t elems = l.a.hidden_size;
  const StateRowsArgs back = {
      uint64_t{piece.batch} * elems, piece.h_next, piece.h, piece.rows, piece.rows, piece.state_row, piece.state_row, elems};
  launch_plain(l.context(), KernelId::copy_state_rows, back);
}

void run_piece(const Layer &l, size_t first, uint32_t steps, float *scratch) {
  const LayerPlan &p = l.n.plan;
  RecurrentArgs a = args_of(l, first, steps);
  const size_t state = size_t{l.env.max_batch} * a.state_row;
  a.z = scratch + size_t{p.steps_per_launch} * l.env.max_batch * preact_row(l.n, l.a);
  a.rh = a.z + state;
  if (steps > 1 || !p.takes_input) {
    multiply_input(l, a, scratch);
    a.preact = scratch;
  }
  if (p.resident == KernelId::count || steps == 1) return run_steps(l, a);
  a.columns = a.batch > p.columns ? p.columns : a.batch;
  launch(l.context(), p.resident, p.blocks, p.shared_bytes, a);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const RecurrentNode &n = *static_cast<const RecurrentNode *>(object);
  const AttrRecurrent &a = *env.model->attr<AttrRecurrent>(node);
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const Layer l = {env, node, n, a, d};
    if (env.first_chunk) {
      load_initial(l, 1, false);
      if (l.has_c()) load_initial(l, 2, true);
    }
    for (size_t done = 0; done < env.steps;) {
      const size_t left = env.steps - done;
      const uint32_t count = left < n.plan.steps_per_launch ? static_cast<uint32_t>(left) : n.plan.steps_per_launch;
      run_piece(l, a.direction[d].reverse ? left - count : done, count, view_as<float>(static_cast<void *>(env.scratch)));
      done += count;
    }
    if (!env.last_chunk) continue;
    store_final(l, 1, false);
    if (l.has_c()) store_final(l, 2, true);
  }
}

}  // namespace

bool plan_recurrent_node(const Context &context, const AttrRecurrent &a, uint32_t chunk_steps, LayerPlan *plan) {
  PlanLimits limits = context.limits;
  limits.chunk_steps = chunk_steps;
  LayerShape shape;
  if (!layer_shape(*context.model, a, limits.weights, &shape)) return false;
  *plan = plan_layer(shape, limits);
  return true;
}

const Op op_recurrent = {OpKind::kRecurrent, nullptr, check_recurrent, nullptr, build, nullptr, run};

}  // namespace cuda
}  // namespace rnnp
