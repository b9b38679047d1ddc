// plan.cpp -- Contract: plan.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/plan.h"

#include <stdio.h>

#include "cuda/kernels/args.h"
#include "cuda/pack_gathers.h"
#include "cuda/panels.h"
#include "cuda/plan_resident.h"
#include "format/blob.h"

namespace rnnp {
namespace cuda {
namespace {

constexpr uint64_t kMostPreactBytes = 16u << 20;
constexpr uint32_t kMostStepsPerLaunch = 4096;
constexpr uint32_t kProductUnits = 64;  // outputs of a block of a dense layer

uint32_t even(uint32_t n) {
  return n + n % 2;
}
constexpr uint32_t kWidestColumn = 1u << 18;

// The most columns of up to `most` whose sums and halves fit a block; 0: not even one.
uint32_t mma_columns(const Shape &s, uint32_t widest_k, uint32_t most, const PlanLimits &l) {
  if (widest_k > kWidestColumn) return 0;
  uint32_t columns = most;
  while (columns != 0 && mma_step_shared(s, widest_k, columns).bytes > l.device.shared_per_block) columns /= 2;
  return columns;
}

// The kernel of one step: how many columns fit its blocks.
bool plan_step(const LayerShape &s, const PlanLimits &l, LayerPlan *p) {
  const uint32_t gates = gates_of(s.cell);
  p->takes_input = s.w == s.r && !are_blocks(s.r);
  p->step_blocks = p->blocks;
  if (s.r == Weights::kF32) {
    p->step_columns = l.max_batch < kF32Columns ? l.max_batch : kF32Columns;
    return true;
  }
  if (are_blocks(s.r)) {
    p->step_columns = kBlockColumns;
    p->step_blocks = ceil_div(s.hidden, units_of_blocks(gates));
    if (s.hidden > kWidestColumn) return false;
    p->step_shared_bytes = blocks_shared(s.r, s.hidden).bytes;
    return p->step_shared_bytes <= l.device.shared_per_block;
  }
  const Shape r = in_halves(s.r, {gates, s.hidden, p->units}), w = in_halves(s.r, {gates, s.input, p->units});
  const uint32_t widest = p->takes_input && w.k > r.k ? w.k : r.k;
  p->step_columns = mma_columns(r, widest, l.max_batch < kMmaColumns ? l.max_batch : kMmaColumns, l);
  p->step_shared_bytes = mma_step_shared(r, widest, p->step_columns).bytes;
  return p->step_columns != 0;
}

uint32_t steps_per_launch(const LayerShape &s, const PlanLimits &l, const LayerPlan &p) {
  const Shape shape = {gates_of(s.cell), s.hidden, p.units};
  const uint64_t row_bytes = uint64_t{l.max_batch} * p.blocks * block_rows(s.r, shape) * sizeof(float);
  uint64_t steps = kMostPreactBytes / row_bytes;
  if (steps > kMostStepsPerLaunch) steps = kMostStepsPerLaunch;
  if (l.max_steps_per_launch != 0 && steps > l.max_steps_per_launch) steps = l.max_steps_per_launch;
  if (steps > l.chunk_steps) steps = l.chunk_steps;
  return steps != 0 ? static_cast<uint32_t>(steps) : 1;
}

// What a step reads of R; of a sparse one, where every row group has as many blocks as the longest of its gate.
uint64_t bytes_of_step(const LayerShape &s) {
  if (!are_blocks(s.r)) return matrix_bytes(s.r, uint64_t{gates_of(s.cell)} * s.hidden, s.hidden);
  uint64_t bundles = 0;
  for (const uint32_t of_gate : s.bundles) bundles += of_gate;
  return bundles * ceil_div(s.hidden, kGroupUnits) * kParts * kBundleWords;
}

// Weights and launches of a step that reads all of R from memory.
uint64_t predict_step(const LayerShape &s, const PlanLimits &l) {
  const uint64_t bytes = bytes_of_step(s);
  const uint64_t memory = l.device.memory_mb_per_s != 0 ? l.device.memory_mb_per_s : 100000;
  const uint64_t passes = s.cell == Cell::kGru ? 2 : 1, others = s.cell == Cell::kLstmNorm ? 1 : 0;
  return (passes + others) * rates_of(l.device.arch).launch_ns + passes * (bytes * 1000 / memory);
}

// Units of a block that shares a layer with as many others as there are SMs.
uint32_t units_of_step(Weights weights, uint32_t gates, uint32_t units, const PlanLimits &l) {
  if (weights == Weights::kF32) {
    const uint32_t most = most_f32_units(gates), even_share = ceil_div(units, l.device.sm_count);
    return even_share < most_f32_units(gates, 4) ? most_f32_units(gates, 4) : even_share < most ? even_share : most;
  }
  if (are_blocks(weights)) return units_of_blocks(gates);
  const uint32_t share = even(ceil_div(units, l.device.sm_count));
  return share < 4 ? 4 : share > 32 ? 32 : share;
}

void plan_by_steps(const LayerShape &s, const PlanLimits &l, Lacks lacks, LayerPlan *p) {
  p->resident = KernelId::count;
  p->directions = 1;
  p->units = units_of_step(s.r, gates_of(s.cell), s.hidden, l);
  p->blocks = ceil_div(s.hidden, p->units);
  p->predicted_ns = static_cast<uint32_t>(predict_step(s, l));
  snprintf(p->reason, sizeof p->reason, "%s for each step, %u blocks x %u units: %s",
           lacks == Lacks::kNorms ? "two launches" : "a launch", p->blocks, p->units, words_for(lacks));
}

const char *words_for_kernel(const Resident &r) {
  if (r.cluster) return " in clusters";
  if (r.directions != 1) return ", both directions side by side, each";
  return are_blocks(r.weights) ? ", sparse" : r.generic ? ", any activation" : "";
}

void plan_resident(const Choice &c, LayerPlan *p) {
  p->resident = c.resident->id;
  p->directions = c.resident->directions;
  p->cluster = c.resident->cluster;
  p->units = c.units;
  p->blocks = c.blocks;
  p->columns = c.columns;
  p->places = c.places;
  p->held = c.resident->held;
  p->shared_bytes = static_cast<uint32_t>(c.shared_bytes);
  p->predicted_ns = static_cast<uint32_t>(c.predicted_ns);
  const Weights weights = c.resident->weights;
  const uint32_t of_held = are_blocks(weights)        ? kBundleBytes / kLanes / 4
                           : weights == Weights::kI4  ? c.resident->half_tiles / kWarps
                           : on_matrix_units(weights) ? 2 * c.resident->half_tiles
                                                      : 4 * pairs_of_warp(gates_of(c.resident->cell), c.resident->half_tiles);
  snprintf(p->reason, sizeof p->reason, "resident%s: %u blocks x %u units, up to %u registers and %u KiB of shared memory",
           words_for_kernel(*c.resident), c.blocks, c.units, of_held * c.resident->held, ceil_div(p->shared_bytes, 1024));
}

bool is_plain(const AttrRecurrent &a, const BlobDirection &d) {
  const auto is = [](const BlobActivation &act, Act which) { return act.act == uint32_t(which); };
  if (a.clip != 0 || (a.flags & kInputForget) != 0 || d.peephole != kNone) return false;
  if (Cell(a.cell) == Cell::kRnn) return is(d.act[0], Act::kTanh) || is(d.act[0], Act::kRelu);
  if (!is(d.act[0], Act::kSigmoid) || !is(d.act[1], Act::kTanh)) return false;
  return !has_c(Cell(a.cell)) || is(d.act[2], Act::kTanh);
}

uint32_t wide_columns(uint32_t k, uint32_t shared_bytes) {
  uint32_t columns = kMostWideColumns;
  while (columns >= kLeastWideColumns && wide_shared_bytes(k, columns) > shared_bytes) columns /= 2;
  return columns >= kLeastWideColumns ? columns : 0;
}

// A product by blocks of so many units.
ProductPlan plan_product_of(Weights weights, uint32_t gates, uint32_t outputs, uint32_t k, uint32_t units, const PlanLimits &l) {
  ProductPlan p = {};
  p.weights = weights;
  p.units = units;
  p.blocks = ceil_div(outputs, units);
  if (weights == Weights::kF32) {
    p.columns = kF32Columns;
    p.k = k;
    p.wide_blocks = p.blocks * wide_f32_across(wide_f32_pairs(gates, units));
    p.wide_columns = kWideF32Columns;
  } else if (are_blocks(weights)) {
    if (k <= kWidestColumn) p.columns = kBlockColumns, p.shared_bytes = blocks_shared(weights, k).bytes;
  } else {
    const Shape shape = in_halves(weights, {gates, k, units});
    p.columns = mma_columns(shape, shape.k, kMmaColumns, l);
    p.shared_bytes = mma_step_shared(shape, shape.k, p.columns).bytes;
    p.k = shape.k;
    p.wide_blocks = ceil_div(p.blocks * row_tiles(shape), kWarps);
    p.wide_columns = shape.k <= kWidestColumn ? wide_columns(shape.k, l.device.shared_per_block) : 0;
  }
  p.sm_count = l.device.sm_count;
  p.fits = p.columns != 0 && p.shared_bytes <= l.device.shared_per_block;
  return p;
}

// The kernel of one step is the product's, and its cells have all units.
bool plan_norm_step(const LayerShape &s, const PlanLimits &l, LayerPlan *p) {
  p->state = plan_product_of(s.r, gates_of(s.cell), s.hidden, s.hidden, p->units, l);
  p->step_blocks = p->state.blocks;
  p->step_columns = p->state.columns;
  p->step_shared_bytes = p->state.shared_bytes;
  return p->state.fits;
}

// At least those of another direction.
void count_bundles(Weights weights, const Matrix &r, const Matrix &candidate, uint32_t gates, uint32_t bundles[kMostGates]) {
  for (uint32_t gate = 0; gate < gates; ++gate) {
    const bool apart = gate >= r.shape.gates;
    const uint32_t count = bundles_of_gate(weights, apart ? candidate : r, apart ? gate - r.shape.gates : gate);
    if (count > bundles[gate]) bundles[gate] = count;
  }
}

}  // namespace

ProductPlan plan_product(Weights weights, uint32_t gates, uint32_t outputs, uint32_t k, const PlanLimits &l) {
  const bool few = gates == 1 && on_matrix_units(weights);
  const uint32_t units =
      few ? (outputs < kProductUnits ? even(outputs) : kProductUnits) : units_of_step(weights, gates, outputs, l);
  return plan_product_of(weights, gates, outputs, k, units, l);
}

uint32_t wide_product_bytes(const ProductPlan &p, uint32_t columns) {
  return p.weights == Weights::kF32 ? wide_f32_shared_bytes(p.k, columns) : wide_shared_bytes(p.k, columns);
}

// As many columns share a fragment as leave every SM a block.
ProductLaunch launch_of(const ProductPlan &p, uint32_t count) {
  if (count <= p.columns || p.wide_columns == 0)
    return {product_kernel(p.weights), p.columns, p.blocks * ceil_div(count, p.columns), p.shared_bytes};
  const bool shared_rows = p.weights == Weights::kF32 && p.wide_blocks != p.blocks;  // fewer columns would leave warps idle
  uint32_t columns = p.wide_columns;
  while (!shared_rows && columns > kLeastWideColumns && p.wide_blocks * ceil_div(count, columns) < p.sm_count) columns /= 2;
  return {wide_product_kernel(p.weights), columns, p.wide_blocks * ceil_div(count, columns), wide_product_bytes(p, columns)};
}

bool layer_shape(const Model &m, const AttrRecurrent &a, Weights floats, LayerShape *s) {
  *s = {Cell(a.cell), a.input_size, a.hidden_size, a.direction_count, true, floats, floats, true, {}, has_mask(a)};
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const BlobDirection &b = a.direction[d];
    const Matrix r = m.matrix(b.r), candidate = m.matrix(b.r_output == kNone ? b.r : b.r_output);
    if (!kind_of_panels(m.matrix(b.w).format, floats, &s->w) || !kind_of_panels(r.format, floats, &s->r)) return false;
    if (r.group_k != candidate.group_k) return false;
    s->plain = s->plain && is_plain(a, b);
    const bool same = s->cell == Cell::kGru ? candidate.diagonal == nullptr : candidate.lhs_scale == r.lhs_scale;
    s->one_step = s->one_step && r.lhs_scale != 0 && candidate.lhs_scale != 0 && same;
    if (are_blocks(s->r)) count_bundles(s->r, r, candidate, gates_of(s->cell), s->bundles);
  }
  return true;
}

LayerPlan plan_layer(const LayerShape &s, const PlanLimits &l) {
  LayerPlan p = {};
  Choice best = {};
  const Lacks lacks = choose_resident(s, l, &best);
  if (lacks == Lacks::kNothing) {
    plan_resident(best, &p);
    for (uint32_t i = 0; i < kMostGates; ++i) p.bundles[i] = s.bundles[i];
  } else {
    plan_by_steps(s, l, lacks, &p);
  }
  p.predicted_ns += static_cast<uint32_t>(predict_input(s, l));
  p.weights = s.r;
  p.plain = s.plain;
  p.fits = s.cell == Cell::kLstmNorm ? plan_norm_step(s, l, &p) : plan_step(s, l, &p);
  if (p.resident == KernelId::count) {
    p.columns = p.step_columns;
    p.shared_bytes = p.step_shared_bytes;
  }
  p.input = plan_product(s.w, gates_of(s.cell), s.hidden, s.input, l);
  if (s.w == s.r && !are_blocks(s.w)) p.input = plan_product_of(s.w, gates_of(s.cell), s.hidden, s.input, p.units, l);
  p.fits = p.fits && p.input.fits;
  p.steps_per_launch = steps_per_launch(s, l, p);
  return p;
}

static_assert(sizeof(rnnp_cuda_layer_info) == 200, "RNNP_CUDA_REASON_BYTES");

rnnp_cuda_layer_info facts_of(const LayerPlan &p) {
  rnnp_cuda_layer_info f = RNNP_CUDA_LAYER_INFO_INIT;
  const bool steps = p.resident == KernelId::count;
  f.kernel = steps ? RNNP_CUDA_STEPS : p.cluster ? RNNP_CUDA_CLUSTER : RNNP_CUDA_RESIDENT;
  f.blocks = p.directions * p.blocks;
  f.units = p.units;
  f.columns = p.columns;
  f.held = p.held;
  f.shared_bytes = p.shared_bytes;
  f.steps_per_launch = steps ? 1 : p.steps_per_launch;
  f.predicted_ns = p.predicted_ns;
  for (size_t i = 0; i < sizeof f.reason; ++i) f.reason[i] = p.reason[i];
  return f;
}

// From the makers' data sheets; clocks are the highest.
const NamedDevice kNamedDevices[] = {
    {"orin64", {sizeof(rnnp_cuda_device), 870, 16, 163 * 1024, 4u << 20, 1300, 204800, 1, 1, 0}},
    {"orin32", {sizeof(rnnp_cuda_device), 870, 14, 163 * 1024, 4u << 20, 930, 204800, 1, 1, 0}},
    {"orin-nx", {sizeof(rnnp_cuda_device), 870, 8, 163 * 1024, 2u << 20, 920, 102400, 1, 1, 0}},
    {"thor", {sizeof(rnnp_cuda_device), 1100, 20, 227 * 1024, 32u << 20, 1600, 273000, 1, 1, 8}},
    {"h100", {sizeof(rnnp_cuda_device), 900, 132, 227 * 1024, 50u << 20, 1750, 3350000, 0, 1, 16}},
};
const uint32_t kNamedDeviceCount = sizeof kNamedDevices / sizeof kNamedDevices[0];

}  // namespace cuda
}  // namespace rnnp
