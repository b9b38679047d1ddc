// plan.cpp -- Contract: plan.h. What a step is predicted to take is arithmetic: the exchange of h, plus the longest of matrix
// units, shared memory and words, plus the cell. SPDX-License-Identifier: Apache-2.0
#include "cuda/plan.h"

#include <stdio.h>

#include "cuda/kernels/args.h"
#include "cuda/panels.h"
#include "format/blob.h"

namespace rnnp {
namespace cuda {
namespace {

constexpr uint64_t kMostPreactBytes = 16u << 20;
constexpr uint32_t kMostStepsPerLaunch = 4096;
constexpr uint32_t kProductUnits = 64;  // outputs of a block of a dense layer
constexpr uint32_t kF32Columns = 8;

// What the model of a step's time knows of an architecture; none of it was measured.
struct ArchRates {
  uint32_t arch;
  uint32_t exchange_ns, cell_ns;
  uint32_t mma_macs_per_clock, ffma_per_clock, shared_bytes_per_clock, l2_bytes_per_clock;
  uint32_t launch_ns;
};
constexpr ArchRates kRates[] = {
    {870, 1000, 250, 1024, 128, 128, 32, 2000},
    {900, 600, 250, 1270, 128, 128, 64, 1000},
    {1100, 800, 250, 1024, 128, 128, 32, 1500},
};

const ArchRates &rates_of(uint32_t arch) {
  const ArchRates *best = kRates;
  for (const ArchRates &r : kRates) {
    if (r.arch <= arch) best = &r;
  }
  return *best;
}

uint32_t even(uint32_t n) {
  return n + n % 2;
}
uint64_t longest(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

uint32_t allowed_blocks(const PlanLimits &l) {
  return l.sm_limit != 0 && l.sm_limit < l.device.sm_count ? l.sm_limit : l.device.sm_count;
}

// A candidate for a resident layer.
struct Choice {
  const Resident *resident;
  uint32_t units, blocks, columns;
  uint64_t shared_bytes, predicted_ns;
};

// Units of a block for a kernel's row tiles: as even a share of the layer as fills them all. 0: there is none.
uint32_t units_for(const Resident &r, uint32_t hidden) {
  const uint32_t gates = gates_of(r.cell);
  if (r.weights == Weights::kF32) return kWarps * units_per_warp(gates);
  const uint32_t word = r.weights == Weights::kI8 ? 4 : 2, most = r.half_tiles * 8 / gates / word * word;
  const uint32_t share = most == 0 ? 0 : ceil_div(ceil_div(hidden, ceil_div(hidden, most)), word) * word;
  if (half_row_tiles({gates, hidden, share}) == r.half_tiles) return share;
  return most != 0 && half_row_tiles({gates, hidden, most}) == r.half_tiles ? most : 0;
}

// The layer's time per step, but for the launch.
uint64_t predict(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const ArchRates &rates = rates_of(l.device.arch);
  const uint64_t gates = gates_of(s.cell), passes = s.cell == Cell::kGru ? 2 : 1, groups = ceil_div(l.max_batch, c.columns);
  const uint64_t mhz = l.device.clock_mhz != 0 ? l.device.clock_mhz : 1000;
  const Shape shape = in_halves(r.weights, {static_cast<uint32_t>(gates), s.hidden, c.units});
  const bool f16 = on_matrix_units(r.weights);
  const uint64_t total = f16 ? k_tiles_per_warp(shape) : column_groups(s.hidden), rest = total > r.held ? total - r.held : 0;
  const uint64_t macs = f16 ? uint64_t{ceil_div(half_row_tiles(shape), 2)} * total * kWarps * 2048
                            : uint64_t{kF32BlockRows} * column_groups(s.hidden) * 64 * l.max_batch;
  const uint64_t product_clocks = f16 ? macs * groups / rates.mma_macs_per_clock : macs / rates.ffma_per_clock;
  const uint64_t shared = rest * kWarps * (f16 ? uint64_t{step_bytes(shape)} * groups : uint64_t{4096} * l.max_batch);
  const uint64_t words = uint64_t{l.max_batch} *
                         (r.weights == Weights::kI8 ? ceil_div(s.hidden, 4)
                          : f16                     ? ceil_div(s.hidden, 2)
                                                    : s.hidden) *
                         8 * c.blocks;
  const uint64_t word_clocks = words / (uint64_t{rates.l2_bytes_per_clock} * l.device.sm_count);
  const uint64_t clocks = longest(longest(product_clocks, shared / rates.shared_bytes_per_clock), word_clocks);
  const uint64_t exchange_ns = f16 && c.blocks == 1 && c.columns == l.max_batch ? 0 : rates.exchange_ns;
  return passes * (exchange_ns + clocks * 1000 / mhz) + rates.cell_ns;
}

bool try_resident(const Resident &r, const LayerShape &s, const PlanLimits &l, Choice *c) {
  const uint32_t gates = gates_of(s.cell);
  *c = {&r, units_for(r, s.hidden), 0, 0, 0, 0};
  if (c->units == 0) return false;
  const Shape shape = in_halves(r.weights, {gates, s.hidden, c->units});
  c->blocks = ceil_div(s.hidden, c->units);
  c->columns = r.weights == Weights::kF32 ? l.max_batch : l.max_batch < kMmaColumns ? l.max_batch : kMmaColumns;
  const uint64_t own = uint64_t{l.max_batch} * c->units * 12;
  const uint64_t wide = uint64_t{l.max_batch} * column_groups(s.hidden) * 512;
  if (own > l.device.shared_per_block || wide > UINT32_MAX / 2) return false;  // the sums below have 32 bits
  c->shared_bytes = on_matrix_units(r.weights) ? resident_mma_shared(shape, l.max_batch, c->columns, r.held).bytes
                                               : resident_f32_shared(shape, l.max_batch, r.held).bytes;
  c->predicted_ns = predict(r, s, l, *c);
  return true;
}

// Why no resident kernel was chosen, in the order in which it is looked for.
enum class Lacks { kNothing, kNotAllowed, kCooperative, kRules, kSparse, kSteps, kBlocks, kShared };

Lacks choose_resident(const LayerShape &s, const PlanLimits &l, Choice *best) {
  if (l.kernels_allowed != 0 && !(l.kernels_allowed & RNNP_CUDA_RESIDENT)) return Lacks::kNotAllowed;
  if (!l.device.cooperative) return Lacks::kCooperative;
  if (!s.plain) return Lacks::kRules;
  if (are_blocks(s.r)) return Lacks::kSparse;
  if (are_bytes(s.r) && !s.one_step) return Lacks::kSteps;
  Lacks lacks = Lacks::kBlocks;
  *best = {};
  for (const Resident &r : kResidents) {
    Choice c;
    if (r.cell != s.cell || r.weights != s.r || !try_resident(r, s, l, &c) || c.blocks > allowed_blocks(l)) continue;
    if (c.shared_bytes > l.device.shared_per_block) {
      if (lacks == Lacks::kBlocks) lacks = Lacks::kShared;
      continue;
    }
    lacks = Lacks::kNothing;
    if (best->resident == nullptr || c.predicted_ns < best->predicted_ns) *best = c;
  }
  return lacks;
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
  if (s.r == Weights::kF32) {
    p->step_columns = l.max_batch < kF32Columns ? l.max_batch : kF32Columns;
    return true;
  }
  if (are_blocks(s.r)) {
    p->step_columns = kBlockColumns;
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

const char *words_for(Lacks lacks) {
  switch (lacks) {
    case Lacks::kNotAllowed:
      return "kernels_allowed forbids the resident one";
    case Lacks::kCooperative:
      return "the device has no cooperative launches";
    case Lacks::kRules:
      return "the resident kernels have the default activations only";
    case Lacks::kSparse:
      return "no resident kernel reads blocks of a sparse matrix";
    case Lacks::kSteps:
      return "h is not always made bytes by one number";
    case Lacks::kBlocks:
      return "more blocks than SMs may be used";
    case Lacks::kShared:
      return "the weights do not fit registers and shared memory";
    case Lacks::kNothing:
      break;
  }
  return "";
}

uint64_t bytes_of_weight(Weights w) {
  return are_bytes(w) ? 1 : w == Weights::kF16 || w == Weights::kBf16 ? 2 : 4;
}

// Weights and launches of a step that reads all of R from memory; of a sparse one, as if it held all.
uint64_t predict_step(const LayerShape &s, const PlanLimits &l) {
  const uint64_t bytes = uint64_t{gates_of(s.cell)} * s.hidden * s.hidden * bytes_of_weight(s.r);
  const uint64_t memory = l.device.memory_mb_per_s != 0 ? l.device.memory_mb_per_s : 100000;
  const uint64_t passes = s.cell == Cell::kGru ? 2 : 1;
  return passes * (rates_of(l.device.arch).launch_ns + bytes * 1000 / memory);
}

// Units of a block that shares a layer with as many others as there are SMs.
uint32_t units_of_step(Weights weights, uint32_t gates, uint32_t units, const PlanLimits &l) {
  if (weights == Weights::kF32) return kWarps * units_per_warp(gates);
  if (are_blocks(weights)) return units_of_blocks(gates);
  const uint32_t share = even(ceil_div(units, l.device.sm_count));
  return share < 4 ? 4 : share > 32 ? 32 : share;
}

void plan_by_steps(const LayerShape &s, const PlanLimits &l, Lacks lacks, LayerPlan *p) {
  p->resident = KernelId::count;
  p->units = units_of_step(s.r, gates_of(s.cell), s.hidden, l);
  p->blocks = ceil_div(s.hidden, p->units);
  p->predicted_ns = static_cast<uint32_t>(predict_step(s, l));
  snprintf(p->reason, sizeof p->reason, "a launch for each step, %u blocks x %u units: %s", p->blocks, p->units, words_for(lacks));
}

void plan_resident(const Choice &c, LayerPlan *p) {
  p->resident = c.resident->id;
  p->units = c.units;
  p->blocks = c.blocks;
  p->columns = c.columns;
  p->held = c.resident->held;
  p->shared_bytes = static_cast<uint32_t>(c.shared_bytes);
  p->predicted_ns = static_cast<uint32_t>(c.predicted_ns);
  const bool f16 = on_matrix_units(c.resident->weights);
  const uint32_t registers = f16 ? 2 * c.resident->half_tiles * c.resident->held : 32 * c.resident->held;
  snprintf(p->reason, sizeof p->reason, "resident: %u blocks x %u units, up to %u registers and %u KiB of shared memory", c.blocks,
           c.units, registers, ceil_div(p->shared_bytes, 1024));
}

bool is_plain(const AttrRecurrent &a, const BlobDirection &d) {
  const auto is = [](const BlobActivation &act, Act which) { return act.act == uint32_t(which); };
  if (a.clip != 0 || a.input_forget || d.peephole != kNone) return false;
  if (Cell(a.cell) == Cell::kRnn) return is(d.act[0], Act::kTanh) || is(d.act[0], Act::kRelu);
  if (!is(d.act[0], Act::kSigmoid) || !is(d.act[1], Act::kTanh)) return false;
  return Cell(a.cell) != Cell::kLstm || is(d.act[2], Act::kTanh);
}

// A product by blocks of so many units.
ProductPlan plan_product_of(Weights weights, uint32_t gates, uint32_t outputs, uint32_t k, uint32_t units, const PlanLimits &l) {
  ProductPlan p = {};
  p.weights = weights;
  p.units = units;
  p.blocks = ceil_div(outputs, units);
  if (weights == Weights::kF32) {
    p.columns = kF32Columns;
  } else if (are_blocks(weights)) {
    if (k <= kWidestColumn) p.columns = kBlockColumns, p.shared_bytes = blocks_shared(weights, k).bytes;
  } else {
    const Shape shape = in_halves(weights, {gates, k, units});
    p.columns = mma_columns(shape, shape.k, kMmaColumns, l);
    p.shared_bytes = mma_step_shared(shape, shape.k, p.columns).bytes;
  }
  p.fits = p.columns != 0 && p.shared_bytes <= l.device.shared_per_block;
  return p;
}

}  // namespace

ProductPlan plan_product(Weights weights, uint32_t gates, uint32_t outputs, uint32_t k, const PlanLimits &l) {
  const bool few = gates == 1 && on_matrix_units(weights);
  const uint32_t units =
      few ? (outputs < kProductUnits ? even(outputs) : kProductUnits) : units_of_step(weights, gates, outputs, l);
  return plan_product_of(weights, gates, outputs, k, units, l);
}

bool layer_shape(const Model &m, const AttrRecurrent &a, Weights floats, LayerShape *s) {
  *s = {Cell(a.cell), a.input_size, a.hidden_size, a.direction_count, true, floats, floats, true};
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const BlobDirection &b = a.direction[d];
    const Matrix r = m.matrix(b.r), candidate = m.matrix(b.r_output == kNone ? b.r : b.r_output);
    if (!kind_of_panels(m.matrix(b.w).format, floats, &s->w) || !kind_of_panels(r.format, floats, &s->r)) return false;
    s->plain = s->plain && is_plain(a, b);
    const bool same = s->cell == Cell::kGru ? candidate.diagonal == nullptr : candidate.factor_scale == r.factor_scale;
    s->one_step = s->one_step && r.factor_scale != 0 && candidate.factor_scale != 0 && same;
  }
  return true;
}

LayerPlan plan_layer(const LayerShape &s, const PlanLimits &l) {
  LayerPlan p = {};
  Choice best = {};
  const Lacks lacks = choose_resident(s, l, &best);
  if (lacks == Lacks::kNothing) {
    plan_resident(best, &p);
  } else {
    plan_by_steps(s, l, lacks, &p);
  }
  p.weights = s.r;
  p.plain = s.plain;
  p.fits = plan_step(s, l, &p);
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

rnnp_cuda_layer_facts facts_of(const LayerPlan &p) {
  rnnp_cuda_layer_facts f = RNNP_CUDA_LAYER_FACTS_INIT;
  const bool steps = p.resident == KernelId::count;
  f.kernel = steps ? RNNP_CUDA_STEPS : RNNP_CUDA_RESIDENT;
  f.blocks = p.blocks;
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
    {"orin64", {sizeof(rnnp_cuda_device), 870, 16, 163 * 1024, 4u << 20, 1300, 204800, 1, 1}},
    {"orin32", {sizeof(rnnp_cuda_device), 870, 14, 163 * 1024, 4u << 20, 930, 204800, 1, 1}},
    {"orin-nx", {sizeof(rnnp_cuda_device), 870, 8, 163 * 1024, 2u << 20, 920, 102400, 1, 1}},
    {"thor", {sizeof(rnnp_cuda_device), 1100, 20, 227 * 1024, 32u << 20, 1600, 273000, 1, 1}},
    {"h100", {sizeof(rnnp_cuda_device), 900, 132, 227 * 1024, 50u << 20, 1750, 3350000, 0, 1}},
};
const uint32_t kNamedDeviceCount = sizeof kNamedDevices / sizeof kNamedDevices[0];

}  // namespace cuda
}  // namespace rnnp
