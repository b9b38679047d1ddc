// recurrent_pieces.cpp -- Contract: recurrent_pieces.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/ops/recurrent_pieces.h"

#include "cuda/kernels/plain_args.h"
#include "cuda/pack_image.h"
#include "ops/recurrent_plan.h"

namespace rnnp {
namespace cuda {
namespace {

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
  to->candidate_factor = candidate.lhs_scale;
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

// A number per gate and unit, [hidden][gates].
const float *pack_by_unit(Context *c, const Matrix &w, uint32_t gates, uint32_t offset) {
  return pack_numbers(c, Weights::kF16, {gates, 0, w.shape.units}, w.shape.units,
                      [&](uint32_t gate, uint32_t unit) { return number_beside(w, c->model->weights(offset), gates, gate, unit); });
}

// With them, where R h begins, which the product adds as its bias.
void pack_norms(Context *c, const AttrNormRecurrent &a, uint32_t direction, const LayerPlan &plan, RecurrentNode::Direction *to) {
  const BlobDirection &d = a.layer.direction[direction];
  const BlobCellNorm &b = a.norm[direction];
  const Matrix w = c->model->matrix(d.w);
  const auto gates = [&](uint32_t offset) { return pack_by_unit(c, w, kMostGates, offset); };
  to->norms = {gates(b.x_scale),
               b.h_scale == kNone ? nullptr : gates(b.h_scale),
               gates(b.bias),
               pack_by_unit(c, w, 1, b.c_scale),
               pack_by_unit(c, w, 1, b.c_bias),
               b.x_epsilon,
               b.h_epsilon,
               b.c_epsilon,
               a.by_gate,
               a.keeps_c};
  const uint32_t hidden = a.layer.hidden_size;
  to->r_bias =
      pack_numbers(c, plan.state.weights, {kMostGates, hidden, plan.state.units}, hidden, [&](uint32_t gate, uint32_t unit) {
        return d.r_bias == kNone ? 0.0f : number_beside(w, c->model->weights(d.r_bias), kMostGates, gate, unit);
      });
}

bool is_normed(const AttrRecurrent &a) {
  return Cell(a.cell) == Cell::kLstmNorm;
}

// A norm's gates lie unit by unit; else where the kernels of R's weights look for them.
uint64_t preact_row(const RecurrentNode &n, const AttrRecurrent &a) {
  if (is_normed(a)) return uint64_t{kMostGates} * a.hidden_size;
  const Shape s = {cell_gates(Cell(a.cell)), a.hidden_size, n.plan.units};
  return uint64_t{n.plan.blocks} * block_rows(n.plan.weights, s);
}

// z, r h and the like: rows as states have them.
size_t state_floats(const RecurrentNode &n, const AttrRecurrent &a) {
  return mul_sat(n.max_batch, state_row_elems(a.hidden_size));
}

// Of a kLstmNorm, R h of one step.
size_t product_floats(const RecurrentNode &n, const AttrRecurrent &a) {
  return is_normed(a) ? mul_sat(n.max_batch, preact_row(n, a)) : 0;
}

struct Piece {
  const RecurrentNode &n;
  const AttrRecurrent &a;
  uint32_t first;  // of its directions

  Context *context() const { return n.context; }
  Cell cell() const { return Cell(a.cell); }
};

// All gates of g.count rows.
void launch_product(const Piece &l, const ProductPlan &p, ProductArgs g) {
  g.gates = cell_gates(l.cell());
  g.units = p.units;
  g.blocks = p.blocks;
  g.outputs = l.a.hidden_size;
  const ProductLaunch how = launch_of(p, g.count);
  g.columns = how.columns;
  launch(l.context(), how.kernel, how.blocks, how.shared_bytes, g);
}

void multiply_input(const Piece &l, const RecurrentArgs &a, float *preact) {
  ProductArgs g = {};
  g.image = a.w;
  g.bytes = a.w_bytes;
  g.blocks_of_matrix = a.w_blocks;
  g.bias = a.bias;
  g.x = a.x;
  g.out = preact;
  g.x_row = a.x_row;
  g.out_row = a.preact_row;
  g.count = a.steps * a.batch;
  g.k = a.input;
  g.f32_units = l.n.plan.weights == Weights::kF32 && !is_normed(l.a) ? l.n.plan.units : 0;
  launch_product(l, l.n.plan.input, g);
}

void launch_step(const Piece &l, RecurrentArgs a) {
  const LayerPlan &p = l.n.plan;
  const KernelId kernel = step_kernel(p.weights, l.cell(), !p.plain);
  a.columns = p.step_columns;
  const uint32_t blocks = p.step_blocks * ceil_div(a.batch, a.columns);
  const uint32_t ends = a.takes_back, last = l.cell() == Cell::kGru ? 1 : 0;
  for (a.half = 0; a.half <= last; ++a.half) {
    a.takes_back = a.half == last ? ends : 0;
    launch(l.context(), kernel, blocks, p.step_shared_bytes, a);
  }
}

// R h of all rows, and the cells, which overwrite h; it is brought together where the call names rows.
void run_norm_steps(const Piece &l, const RecurrentArgs &piece) {
  const uint32_t elems = l.a.hidden_size;
  const uint64_t row = piece.state_row, count = uint64_t{piece.batch} * elems;
  float *h = piece.rows != nullptr ? piece.h_next : piece.h;
  const StateRowsArgs together = {count, piece.h, h, piece.rows, nullptr, row, row, elems};
  if (piece.rows != nullptr) launch_plain(l.context(), KernelId::copy_state_rows, together);
  ProductArgs g = {};
  g.image = piece.r;
  g.bytes = piece.r_bytes;
  g.blocks_of_matrix = piece.blocks;
  g.bias = piece.r_bias;
  g.x = h;
  g.out = piece.rh;
  g.x_row = row;
  g.out_row = piece.preact_row;
  g.count = piece.batch;
  g.k = elems;
  for (uint32_t t = 0; t < piece.steps; ++t) {
    const uint32_t step = piece.reverse ? piece.steps - 1 - t : t;
    const size_t rows = size_t{step} * piece.batch;
    launch_product(l, l.n.plan.state, g);
    const NormCellArgs cells = {piece.batch,
                                piece.preact + rows * piece.preact_row,
                                piece.rh,
                                h,
                                piece.z,
                                piece.c,
                                piece.y != nullptr ? piece.y + rows * piece.y_row : nullptr,
                                piece.lengths,
                                piece.rows,
                                piece.mask != nullptr ? piece.mask + rows * piece.x_row : nullptr,
                                row,
                                piece.y_row,
                                piece.x_row,
                                elems,
                                piece.first_step + step,
                                l.n.direction[l.first].norms};
    launch_by_warps(l.context(), KernelId::finish_norm_cells, 1, kNormCellShared, cells);
  }
  const StateRowsArgs apart = {count, h, piece.h, nullptr, piece.rows, row, row, elems};
  if (piece.rows != nullptr) launch_plain(l.context(), KernelId::copy_state_rows, apart);
}

// Copied by one block of the last step's kernel: for more, a launch is faster.
constexpr uint64_t kMostTakenBack = 8192;

// A launch for each step; h goes to and fro between the state's two buffers and ends in the first.
void run_steps(const Piece &l, const RecurrentArgs &piece) {
  const uint32_t elems = l.a.hidden_size;
  const uint64_t count = uint64_t{piece.batch} * elems;
  const bool ends_elsewhere = piece.steps % 2 != 0, taken_back = ends_elsewhere && count <= kMostTakenBack;
  for (uint32_t t = 0; t < piece.steps; ++t) {
    const size_t step = piece.reverse ? piece.steps - 1 - t : t;
    RecurrentArgs a = piece;
    a.steps = 1;
    a.first_step += static_cast<uint32_t>(step);
    if (a.preact != nullptr) a.preact += step * a.batch * a.preact_row;
    if (a.y != nullptr) a.y += step * a.batch * a.y_row;
    if (a.mask != nullptr) a.mask += step * a.batch * a.x_row;
    if (t % 2 != 0) a.h = piece.h_next, a.h_next = piece.h;
    a.takes_back = taken_back && t + 1 == piece.steps;
    launch_step(l, a);
  }
  if (!ends_elsewhere || taken_back) return;
  const StateRowsArgs back = {count, piece.h_next, piece.h, piece.rows, piece.rows, piece.state_row, piece.state_row, elems};
  launch_plain(l.context(), KernelId::copy_state_rows, back);
}

size_t preact_floats(const RecurrentNode &n, const AttrRecurrent &a) {
  return mul_sat(mul_sat(n.plan.steps_per_launch, n.max_batch), preact_row(n, a));
}

// `steps` steps from `first` on. scratch: the layer's; preact: of this direction.
RecurrentArgs begin_piece(const Piece &l, RecurrentArgs a, uint32_t first, uint32_t steps, float *scratch, float *preact) {
  const LayerPlan &p = l.n.plan;
  const size_t rows = size_t{first} * a.batch;
  a.x += rows * a.x_row;
  if (a.mask != nullptr) a.mask += rows * a.x_row;
  if (a.y != nullptr) a.y += rows * a.y_row;
  a.first_step += first;
  a.steps = steps;
  a.z = scratch + p.directions * preact_floats(l.n, l.a);
  a.rh = a.z + state_floats(l.n, l.a);
  if (steps > 1 || !p.takes_input) {
    multiply_input(l, a, preact);
    a.preact = preact;
  }
  return a;
}

// args: of plan.directions directions, that have `done` of their steps behind them.
void run_piece(const Piece &l, const RecurrentArgs *args, uint32_t done, uint32_t steps, float *scratch) {
  const LayerPlan &p = l.n.plan;
  const bool resident = p.resident != KernelId::count && steps > 1;
  BothArgs both = {};
  for (uint32_t d = 0; d < p.directions; ++d) {
    const uint32_t first = args[d].reverse ? args[d].steps - done - steps : done;
    RecurrentArgs &a = both.direction[d];
    a = begin_piece(l, args[d], first, steps, scratch, scratch + d * preact_floats(l.n, l.a));
    a.columns = a.batch > p.columns ? p.columns : a.batch;
    if (!resident) is_normed(l.a) ? run_norm_steps(l, a) : run_steps(l, a);
  }
  if (!resident) return;
  const RecurrentArgs &one = both.direction[0];
  if (p.cluster) return launch(l.context(), p.resident, p.blocks * ceil_div(one.batch, p.columns), p.shared_bytes, one, p.blocks);
  if (p.directions == 1) return launch(l.context(), p.resident, p.blocks, p.shared_bytes, one);
  launch(l.context(), p.resident, p.directions * p.blocks, p.shared_bytes, both);
}

void load_layer_kernels(Context *c, const LayerPlan &p, Cell cell) {
  if (p.resident != KernelId::count) load_kernel(c, p.resident, p.directions * p.blocks, p.shared_bytes, p.cluster ? p.blocks : 0);
  load_product_kernels(c, p.input);
  if (cell == Cell::kLstmNorm) return load_product_kernels(c, p.state);
  load_kernel(c, step_kernel(p.weights, cell, !p.plain), p.step_blocks, p.step_shared_bytes);
}

}  // namespace

bool plan_recurrent_node(const Context &context, const AttrRecurrent &a, uint32_t max_batch, uint32_t chunk_steps, bool one_by_one,
                         LayerPlan *plan) {
  PlanLimits limits = context.limits;
  limits.one_by_one = one_by_one;
  limits.max_batch = max_batch;
  limits.chunk_steps = chunk_steps;
  LayerShape shape;
  if (!layer_shape(*context.model, a, limits.weights, &shape)) return false;
  *plan = plan_layer(shape, limits);
  return true;
}

rnnp_status build_layer(Context *c, const LayerAttributes &attr, uint32_t max_batch, uint32_t chunk_steps, bool one_by_one,
                        RecurrentNode *n) {
  const AttrRecurrent &a = attr.layer;
  *n = {};
  n->context = c;
  n->max_batch = max_batch;
  if (!plan_recurrent_node(*c, a, max_batch, chunk_steps, one_by_one, &n->plan)) return RNNP_E_LAYOUT;
  if (!n->plan.fits) return RNNP_E_SMALL_MEMORY;
  add_plan(c, n->plan);
  load_layer_kernels(c, n->plan, Cell(a.cell));
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    pack_direction(c, a, a.direction[d], n->plan, &n->direction[d]);
    if (attr.norms != nullptr) pack_norms(c, *attr.norms, d, n->plan, &n->direction[d]);
  }
  const size_t words = mul_sat(mul_sat(max_batch, size_t{4}), size_t{most_row_words(a.hidden_size)});  // two slots of h, two of r h
  if (words > c->words_needed) c->words_needed = words;
  if (n->plan.directions != 1) c->both_exchanges = true;
  return RNNP_OK;
}

size_t layer_scratch_floats(const RecurrentNode &n, const AttrRecurrent &a) {
  const size_t preact = mul_sat(preact_floats(n, a), n.plan.directions);
  return add_sat(add_sat(preact, mul_sat(state_floats(n, a), 2)), product_floats(n, a));
}

RecurrentArgs layer_args(const RecurrentNode &n, const AttrRecurrent &attr, uint32_t direction) {
  const RecurrentNode::Direction &dir = n.direction[direction];
  const BlobDirection &blob = attr.direction[direction];
  const Context &c = *n.context;
  RecurrentArgs a = {};
  a.r = dir.r.image;
  a.w = dir.w.image;
  a.r_bytes = dir.r.scales;
  a.w_bytes = dir.w.scales;
  a.candidate_factor = dir.candidate_factor;
  a.w_blocks = dir.w.blocks;
  a.blocks = dir.r.blocks;
  a.candidate = dir.candidate;
  a.bias = dir.bias;
  a.r_bias = dir.r_bias;
  a.peephole = dir.peephole;
  const uint32_t exchange = n.plan.directions == 1 ? 0 : direction;
  a.words = c.words + exchange * c.words_needed;
  a.control = c.control + exchange * kControlWords;
  a.findings = c.findings;
  a.word_count = static_cast<uint32_t>(c.words_needed);
  a.input = attr.input_size;
  a.hidden = attr.hidden_size;
  a.units = n.plan.units;
  a.places = n.plan.places;
  a.preact_row = preact_row(n, attr);
  a.spin_limit = c.spin_limit;
  a.reverse = blob.reverse;
  copy_bytes(a.bundles, n.plan.bundles, sizeof a.bundles);
  copy_bytes(a.rules.act, blob.act, sizeof a.rules.act);
  a.rules.clip = attr.clip;
  a.rules.input_forget = attr.flags & kInputForget;
  return a;
}

void run_layer(const RecurrentNode &n, const AttrRecurrent &attr, uint32_t first, const RecurrentArgs *args, float *scratch) {
  const Piece l = {n, attr, first};
  for (uint32_t done = 0; done < args->steps;) {
    const uint32_t left = args->steps - done, count = left < n.plan.steps_per_launch ? left : n.plan.steps_per_launch;
    run_piece(l, args, done, count, scratch);
    done += count;
  }
}

}  // namespace cuda
}  // namespace rnnp
