// plan.cpp -- Contract: plan.h. What a step is predicted to take is arithmetic: the exchange of h, plus the longest of matrix
// units, shared memory and words, plus the cell. SPDX-License-Identifier: Apache-2.0
#include "cuda/plan.h"

#include <stdio.h>

#include "cuda/kernels/args.h"
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
  const uint32_t most = r.half_tiles * 8 / gates & ~1u;
  const uint32_t share = even(ceil_div(hidden, ceil_div(hidden, most)));
  if (half_row_tiles({gates, hidden, share}) == r.half_tiles) return share;
  return half_row_tiles({gates, hidden, most}) == r.half_tiles ? most : 0;
}

// The layer's time per step, but for the launch.
uint64_t predict(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const ArchRates &rates = rates_of(l.device.arch);
  const uint64_t gates = gates_of(s.cell), passes = s.cell == Cell::kGru ? 2 : 1, groups = ceil_div(l.max_batch, c.columns);
  const uint64_t mhz = l.device.clock_mhz != 0 ? l.device.clock_mhz : 1000;
  const Shape shape = {static_cast<uint32_t>(gates), s.hidden, c.units};
  const bool f16 = r.weights == Weights::kF16;
  const uint64_t total = f16 ? k_tiles_per_warp(shape) : column_groups(s.hidden), rest = total > r.held ? total - r.held : 0;
  const uint64_t macs = f16 ? uint64_t{ceil_div(half_row_tiles(shape), 2)} * total * kWarps * 2048
                            : uint64_t{kF32BlockRows} * column_groups(s.hidden) * 64 * l.max_batch;
  const uint64_t product_clocks = f16 ? macs * groups / rates.mma_macs_per_clock : macs / rates.ffma_per_clock;
  const uint64_t shared = rest * kWarps * (f16 ? uint64_t{step_bytes(shape)} * groups : uint64_t{4096} * l.max_batch);
  const uint64_t words = uint64_t{l.max_batch} * (f16 ? ceil_div(s.hidden, 2) : s.hidden) * 8 * c.blocks;
  const uint64_t word_clocks = words / (uint64_t{rates.l2_bytes_per_clock} * l.device.sm_count);
  const uint64_t clocks = longest(longest(product_clocks, shared / rates.shared_bytes_per_clock), word_clocks);
  return passes * (rates.exchange_ns + clocks * 1000 / mhz) + rates.cell_ns;
}

bool try_resident(const Resident &r, const LayerShape &s, const PlanLimits &l, Choice *c) {
  const uint32_t gates = gates_of(s.cell);
  *c = {&r, units_for(r, s.hidden), 0, 0, 0, 0};
  if (c->units == 0) return false;
  const Shape shape = {gates, s.hidden, c->units};
  c->blocks = ceil_div(s.hidden, c->units);
  c->columns = r.weights == Weights::kF32 ? l.max_batch : l.max_batch < kMmaColumns ? l.max_batch : kMmaColumns;
  const uint64_t own = uint64_t{l.max_batch} * c->units * 12;
  const uint64_t wide = uint64_t{l.max_batch} * column_groups(s.hidden) * 512;
  if (own > l.device.shared_per_block || wide > UINT32_MAX / 2) return false;  // the sums below have 32 bits
  c->shared_bytes = r.weights == Weights::kF16 ? resident_f16_shared(shape, l.max_batch, c->columns, r.held).bytes
                                               : resident_f32_shared(shape, l.max_batch, r.held).bytes;
  c->predicted_ns = predict(r, s, l, *c);
  return true;
}

// Why no resident kernel was chosen, in the order in which it is looked for.
enum class Lacks { kNothing, kNotAllowed, kCooperative, kRules, kBlocks, kShared };

Lacks choose_resident(const LayerShape &s, const PlanLimits &l, Choice *best) {
  if (l.kernels_allowed != 0 && !(l.kernels_allowed & RNNP_CUDA_RESIDENT)) return Lacks::kNotAllowed;
  if (!l.device.cooperative) return Lacks::kCooperative;
  if (!s.plain) return Lacks::kRules;
  Lacks lacks = Lacks::kBlocks;
  *best = {};
  for (const Resident &r : kResidents) {
    Choice c;
    if (r.cell != s.cell || r.weights != l.weights || !try_resident(r, s, l, &c) || c.blocks > allowed_blocks(l)) continue;
    if (c.shared_bytes > l.device.shared_per_block) {
      if (lacks == Lacks::kBlocks) lacks = Lacks::kShared;
      continue;
    }
    lacks = Lacks::kNothing;
    if (best->resident == nullptr || c.predicted_ns < best->predicted_ns) *best = c;
  }
  return lacks;
}

// The kernel of one step: its blocks, and how many columns fit.
bool plan_step(const LayerShape &s, const PlanLimits &l, LayerPlan *p) {
  const uint32_t gates = gates_of(s.cell), widest = s.input > s.hidden ? s.input : s.hidden;
  if (l.weights == Weights::kF32) {
    p->step_columns = l.max_batch < kF32Columns ? l.max_batch : kF32Columns;
    p->product_columns = kF32Columns;
    return true;
  }
  const Shape shape = {gates, s.hidden, p->units};
  uint32_t columns = kMmaColumns;
  while (columns > 1 && f16_step_shared(shape, widest, columns).bytes > l.device.shared_per_block) columns /= 2;
  p->product_columns = columns;
  p->step_columns = l.max_batch < columns ? l.max_batch : columns;
  p->product_shared_bytes = f16_step_shared(shape, s.input, columns).bytes;
  p->step_shared_bytes = f16_step_shared(shape, widest, p->step_columns).bytes;
  return widest <= (1u << 18) && p->step_shared_bytes <= l.device.shared_per_block &&
         p->product_shared_bytes <= l.device.shared_per_block;
}

uint32_t steps_per_launch(const LayerShape &s, const PlanLimits &l, const LayerPlan &p) {
  const Shape shape = {gates_of(s.cell), s.hidden, p.units};
  const uint64_t row_bytes = uint64_t{l.max_batch} * p.blocks * block_rows(l.weights, shape) * sizeof(float);
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
    case Lacks::kBlocks:
      return "more blocks than SMs may be used";
    case Lacks::kShared:
      return "the weights do not fit registers and shared memory";
    case Lacks::kNothing:
      break;
  }
  return "";
}

// Weights and launches of a step that reads all of R from memory.
uint64_t predict_step(const LayerShape &s, const PlanLimits &l) {
  const uint64_t bytes = uint64_t{gates_of(s.cell)} * s.hidden * s.hidden * (l.weights == Weights::kF16 ? 2 : 4);
  const uint64_t memory = l.device.memory_mb_per_s != 0 ? l.device.memory_mb_per_s : 100000;
  const uint64_t passes = s.cell == Cell::kGru ? 2 : 1;
  return passes * (rates_of(l.device.arch).launch_ns + bytes * 1000 / memory);
}

void plan_by_steps(const LayerShape &s, const PlanLimits &l, Lacks lacks, LayerPlan *p) {
  p->resident = KernelId::count;
  p->units = kWarps * units_per_warp(gates_of(s.cell));
  if (l.weights == Weights::kF16) {
    const uint32_t share = even(ceil_div(s.hidden, l.device.sm_count));
    p->units = share < 4 ? 4 : share > 32 ? 32 : share;
  }
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
  const bool f16 = c.resident->weights == Weights::kF16;
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

}  // namespace

LayerShape layer_shape(const AttrRecurrent &a) {
  bool plain = true;
  for (uint32_t d = 0; d < a.direction_count; ++d) plain = plain && is_plain(a, a.direction[d]);
  return {Cell(a.cell), a.input_size, a.hidden_size, a.direction_count, plain};
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
  p.fits = plan_step(s, l, &p);
  if (p.resident == KernelId::count) {
    p.columns = p.step_columns;
    p.shared_bytes = p.step_shared_bytes;
  }
  p.steps_per_launch = steps_per_launch(s, l, p);
  return p;
}

ProductPlan plan_product(uint32_t outputs, uint32_t k, const PlanLimits &l) {
  ProductPlan p = {};
  if (l.weights == Weights::kF32) {
    p.units = kF32BlockRows;
    p.columns = kF32Columns;
    p.fits = true;
  } else {
    p.units = outputs < kProductUnits ? even(outputs) : kProductUnits;
    p.columns = kMmaColumns;
    const Shape shape = {1, k, p.units};
    while (p.columns > 1 && f16_step_shared(shape, k, p.columns).bytes > l.device.shared_per_block) p.columns /= 2;
    p.shared_bytes = f16_step_shared(shape, k, p.columns).bytes;
    p.fits = k <= (1u << 18) && p.shared_bytes <= l.device.shared_per_block;
  }
  p.blocks = ceil_div(outputs, p.units);
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
