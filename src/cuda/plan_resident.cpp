// plan_resident.cpp -- Contract: plan_resident.h. What a step is predicted to take is arithmetic: the exchange of h, by blocks and
// words; the longest of products, shared memory and words; the cells that a warp finishes one after the other, of each group of
// columns; and its share of the weights that a launch loads. SPDX-License-Identifier: Apache-2.0
#include "cuda/plan_resident.h"

#include "cuda/kernels/args.h"

namespace rnnp {
namespace cuda {
namespace {

// sm_90 is fitted to an H100, its clusters to an H200 (bench/results/gpu.md), the others are data sheets and what others measured;
// their slices_ns are sm_90's clocks.
constexpr ArchRates kRates[] = {
    {870, 900, 6000, 0, 0, 350, 250, 130, 0, 1024, 128, 128, 32, 2000},
    {900, 600, 900, 370, 2200, 300, 200, 110, 440, 640, 42, 128, 28, 3900},
    {1100, 700, 5000, 370, 2200, 330, 250, 120, 0, 1024, 128, 128, 32, 1500},
};

uint64_t longest(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

uint32_t allowed_blocks(const PlanLimits &l) {
  return l.sm_limit != 0 && l.sm_limit < l.device.sm_count ? l.sm_limit : l.device.sm_count;
}

// Units of a block for a kernel: of blocks, an even share of whole row groups; else as even a share of the layer as fills the
// kernel's row tiles. 0: there is none.
uint32_t units_for(const Resident &r, uint32_t hidden, const PlanLimits &l) {
  const uint32_t gates = gates_of(r.cell);
  if (r.cluster) return r.weights == Weights::kF32 ? kWarps * cluster_f32_units(r.half_tiles) : r.half_tiles * 8 / gates;
  if (r.weights == Weights::kF32) {
    const uint32_t most = most_f32_units(gates, r.half_tiles), even_share = ceil_div(hidden, ceil_div(hidden, most));
    const uint32_t least = r.half_tiles == 4 ? 1 : most_f32_units(gates, r.half_tiles / 2) + 1;  // fewer have fewer rows
    return even_share < least ? least : even_share;
  }
  if (are_blocks(r.weights)) return ceil_div(ceil_div(hidden, kGroupUnits), allowed_blocks(l)) * kGroupUnits;
  const uint32_t word = are_bytes(r.weights) ? 4 : 2, most = r.half_tiles * 8 / gates / word * word;
  const uint32_t share = most == 0 ? 0 : ceil_div(ceil_div(hidden, ceil_div(hidden, most)), word) * word;
  if (r.weights == Weights::kI4 || half_row_tiles({gates, hidden, share}) == r.half_tiles) return share;
  return most != 0 && half_row_tiles({gates, hidden, most}) == r.half_tiles ? most : 0;
}

GatherShape gather_shape(const LayerShape &s, uint32_t units) {
  return {gates_of(s.cell), s.hidden, units, {s.bundles[0], s.bundles[1], s.bundles[2], s.bundles[3]}};
}

// What a step keeps a block busy with: products, and bytes of shared memory.
struct Work {
  uint64_t product_clocks, shared_bytes;
};
Work mma_work(const Resident &r, const LayerShape &s, const Choice &c, uint64_t groups, const ArchRates &rates) {
  const Shape shape = in_halves(r.weights, {gates_of(s.cell), s.hidden, c.units});
  const uint64_t total = k_tiles_per_warp(shape), rest = total > r.held ? total - r.held : 0;
  const uint64_t macs = uint64_t{ceil_div(half_row_tiles(shape), 2)} * total * kWarps * 2048;
  return {macs * groups / rates.mma_macs_per_clock, rest * kWarps * step_bytes(shape) * groups};
}
// A warp has whole row tiles, and four warps share the SM's matrix units.
Work nibble_work(const Resident &r, const LayerShape &s, const Choice &c, uint64_t groups, const ArchRates &rates) {
  constexpr uint64_t kUnits = 4;
  const Shape shape = in_halves(r.weights, {gates_of(s.cell), s.hidden, c.units});
  const uint64_t tiles = r.half_tiles / 2 / kWarps, rows = row_tiles(shape) < kUnits ? kUnits : row_tiles(shape);
  const uint64_t total = k_tiles(shape), rest = total > r.held ? total - r.held : 0;
  return {rows * total * 2048 * groups / rates.mma_macs_per_clock,
          kWarps * tiles * (rest * kNibbleWords + total * kNibbleScales) * groups};
}
Work f32_work(const Resident &r, const LayerShape &s, uint64_t batch, const ArchRates &rates) {
  const uint64_t total = column_groups(s.hidden), rest = total > r.held ? total - r.held : 0;
  const uint32_t gates = gates_of(s.cell);
  const uint64_t pairs = r.cluster ? cluster_f32_pairs(gates, r.half_tiles) : pairs_of_warp(gates, r.half_tiles);
  const uint64_t of_group = kWarps * pairs * 2 * 64;
  if (r.cluster) return {of_group * r.held / (2 * rates.ffma_per_clock), 0};  // one row, all groups, no branch between them
  return {of_group * total * batch / rates.ffma_per_clock, rest * kWarps * pairs * 512 * batch};
}
// A slot of a warp reads a word for each lane, from 32 banks. Instructions of a bundle, of which four warps issue one at a time.
constexpr uint64_t kBundleInstructions = 14, kInstructionsOfColumn = 8;
Work gather_work(const Resident &r, const LayerShape &s, const Choice &c, uint64_t batch, uint64_t groups) {
  const GatherShape shape = gather_shape(s, c.units);
  const uint64_t most = most_bundles(shape), rest = most > r.held ? most - r.held : 0;
  const uint64_t bundles = uint64_t{bundles_of_warp(shape, 0) + bundles_of_warp(shape, 1)} * kParts;
  return {bundles * (kBundleInstructions * groups + kInstructionsOfColumn * batch) / 4,
          bundles * kBundleSlots * kLanes * 4 * batch + rest * kWarps * kBundleBytes * groups};
}

uint64_t units_of_exchanged_word(Weights w) {
  return are_bytes(w) ? 4 : on_matrix_units(w) ? 2 : 1;
}

uint64_t clocks_per_us(const PlanLimits &l) {
  return l.device.clock_mhz != 0 ? l.device.clock_mhz : 1000;
}
uint64_t memory_rate(const PlanLimits &l) {
  return l.device.memory_mb_per_s != 0 ? l.device.memory_mb_per_s : 100000;
}
// Of a launch, at most.
uint64_t steps_of_launch(const PlanLimits &l) {
  const uint64_t steps =
      l.max_steps_per_launch != 0 && l.max_steps_per_launch < l.chunk_steps ? l.max_steps_per_launch : l.chunk_steps;
  return steps != 0 ? steps : 1;
}

// Of one group of columns after the other, a round of cells after the other. Of f32 a warp has whole units, and all columns.
uint64_t cells_ns(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c, const ArchRates &rates) {
  if (r.weights == Weights::kF32) return rates.cell_ns + (l.max_batch - 1) * uint64_t{rates.next_cell_ns};
  const uint64_t first = rates.cell_ns + (is_sliced(r.weights) ? rates.slices_ns : 0);
  const uint32_t of_warp = kLanes / gates_of(s.cell), last = (l.max_batch - 1) % c.columns + 1;
  const auto rounds = [&](uint64_t columns) { return (columns * ceil_div(c.units, of_warp) + kWarps - 1) / kWarps; };
  const uint64_t whole = (l.max_batch - 1) / c.columns;
  return whole * (first + (rounds(c.columns) - 1) * rates.next_cell_ns) + first + (rounds(last) - 1) * rates.next_cell_ns;
}

// Words of all blocks of a direction that each block reads; a thread asks for kPairsOfPoll pairs at once.
constexpr uint64_t kPairsOfPoll = 4;
uint64_t exchange_ns(const Resident &r, const PlanLimits &l, const Choice &c, uint64_t words, const ArchRates &rates) {
  if (r.weights != Weights::kF32 && c.blocks == 1 && c.columns == l.max_batch) return 0;  // nobody to tell
  const uint64_t of_round = 2 * kThreads * kPairsOfPoll, group = r.weights == Weights::kF32 ? l.max_batch : c.columns;
  const uint64_t rounds = (words * group + of_round - 1) / of_round, groups = (l.max_batch + group - 1) / group;
  return rates.exchange_ns + uint64_t{rates.exchange_block_ps} * c.blocks * r.directions / 1000 +
         (rounds - 1 + groups - 1) * rates.trip_ns;
}

// Of a step in a cluster, all but the products. Of f32 each warp sends.
uint64_t cluster_ns(const Resident &r, const Choice &c, const ArchRates &rates) {
  const uint64_t senders = r.weights == Weights::kF32 ? kWarps : c.units / kClusterUnits * c.columns;
  return rates.cluster_ns + c.blocks * senders * rates.message_ps / 1000 + (c.columns - 1) * uint64_t{rates.next_cell_ns};
}

// The layer's time per step and direction, but for the launch and the input's product.
uint64_t predict(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const ArchRates &rates = rates_of(l.device.arch);
  const uint64_t passes = s.cell == Cell::kGru ? 2 : 1, groups = r.cluster ? 1 : ceil_div(l.max_batch, c.columns),
                 mhz = clocks_per_us(l);
  const Work work = are_blocks(r.weights)        ? gather_work(r, s, c, l.max_batch, groups)
                    : r.weights == Weights::kI4  ? nibble_work(r, s, c, groups, rates)
                    : on_matrix_units(r.weights) ? mma_work(r, s, c, groups, rates)
                                                 : f32_work(r, s, l.max_batch, rates);
  const uint64_t of_word = units_of_exchanged_word(r.weights), words = (s.hidden + of_word - 1) / of_word;
  const uint64_t word_bytes = l.max_batch * words * 8 * c.blocks * r.directions;
  const uint64_t word_clocks = r.cluster ? 0 : word_bytes / (uint64_t{rates.l2_bytes_per_clock} * l.device.sm_count);
  const uint64_t clocks = longest(longest(work.product_clocks, work.shared_bytes / rates.shared_bytes_per_clock), word_clocks);
  const uint64_t load = are_blocks(s.r) ? 0 : matrix_bytes(s.r, uint64_t{gates_of(s.cell)} * s.hidden, s.hidden) * r.directions;
  const uint64_t around = r.cluster ? cluster_ns(r, c, rates) : exchange_ns(r, l, c, words, rates) + cells_ns(r, s, l, c, rates);
  const uint64_t step = passes * (around + clocks * 1000 / mhz) + load * 1000 / memory_rate(l) / steps_of_launch(l);
  return (step + r.directions - 1) / r.directions;
}

uint64_t shared_bytes_of(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const Shape shape = in_halves(r.weights, {gates_of(s.cell), s.hidden, c.units});
  if (r.weights == Weights::kI4)
    return resident_nibbles_shared(shape, l.max_batch, c.columns, r.half_tiles / 2 / kWarps, r.held).bytes;
  if (r.cluster && r.weights == Weights::kF32) return resident_cluster_f32_shared(r.held).bytes;
  if (r.cluster) return resident_cluster_shared(r.half_tiles, c.columns, r.held).bytes;
  if (on_matrix_units(r.weights)) return resident_mma_shared(shape, l.max_batch, c.columns, r.held, c.places).bytes;
  if (!are_blocks(r.weights)) return resident_f32_shared(shape, l.max_batch, r.held).bytes;
  return gather_shared(r.weights, gather_shape(s, c.units), l.max_batch, c.columns, r.held).bytes;
}

// Batch rows at a time. Clusters share them: as many clusters as run side by side, each within a group of SMs that share a network
// (16 to 18 on an H100, of which a cluster has 16 at most).
constexpr uint32_t kGroupSms = 18, kClusterSms = 16;
uint32_t columns_of(const Resident &r, const PlanLimits &l, uint32_t blocks) {
  if (r.weights == Weights::kF32 && !r.cluster) return l.max_batch;
  if (r.cluster) {
    const uint32_t sms = allowed_blocks(l), of_group = blocks < kClusterSms ? kClusterSms / blocks : 1;
    const uint32_t at_once = sms < kGroupSms ? sms / blocks : sms / kGroupSms * of_group;
    return ceil_div(l.max_batch, at_once != 0 ? at_once : 1);
  }
  const uint32_t most = r.columns != 0 ? r.columns : kMmaColumns;
  return l.max_batch < most ? l.max_batch : most;
}

// Whether the arithmetic of shared memory has room in 32 bits; what it forbids is far larger than any.
bool is_countable(const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const uint64_t own = uint64_t{l.max_batch} * c.units * 12, wide = uint64_t{l.max_batch} * column_groups(s.hidden) * 512;
  if (own > l.device.shared_per_block || wide > UINT32_MAX / 2) return false;
  uint64_t bundles = 0;
  for (const uint32_t of_gate : s.bundles) bundles += of_gate;
  return ceil_div(s.hidden, 4) <= kWidestGather && bundles * c.units <= 1u << 20;
}

bool try_resident(const Resident &r, const LayerShape &s, const PlanLimits &l, Choice *c) {
  *c = {&r, units_for(r, s.hidden, l), 0, 0, 2, 0, 0};
  if (c->units == 0) return false;
  c->blocks = ceil_div(s.hidden, c->units);
  c->columns = columns_of(r, l, c->blocks);
  if (!is_countable(s, l, *c)) return false;
  c->shared_bytes = shared_bytes_of(r, s, l, *c);
  if (c->shared_bytes > l.device.shared_per_block && is_sliced(r.weights))
    c->places = 1, c->shared_bytes = shared_bytes_of(r, s, l, *c);
  const uint32_t spread = ceil_div(s.hidden, allowed_blocks(l) / r.directions);
  if (c->shared_bytes > l.device.shared_per_block && r.weights == Weights::kF32 && spread < c->units &&
      rows_of_warp(gates_of(s.cell), spread) == r.half_tiles) {
    c->units = spread;  // as few units in a block as its warps allow: their rows take less room
    c->blocks = ceil_div(s.hidden, spread);
    c->shared_bytes = shared_bytes_of(r, s, l, *c);
  }
  c->predicted_ns = predict(r, s, l, *c);
  return true;
}

// Of those that are as fast, the one that meets least often.
bool is_better(const Choice &c, const Choice &than) {
  return c.predicted_ns < than.predicted_ns || (c.predicted_ns == than.predicted_ns && c.columns > than.columns);
}

}  // namespace

const ArchRates &rates_of(uint32_t arch) {
  const ArchRates *best = kRates;
  for (const ArchRates &r : kRates) {
    if (r.arch <= arch) best = &r;
  }
  return *best;
}

// Of int4 with a scale for each 32.
uint64_t matrix_bytes(Weights w, uint64_t rows, uint64_t k) {
  return rows * k * (w == Weights::kI4 ? 5 : are_bytes(w) ? 8 : on_matrix_units(w) ? 16 : 32) / 8;
}

// A launch multiplies all its rows: weights come from memory once, and from L2 for every so many rows.
uint64_t predict_input(const LayerShape &s, const PlanLimits &l) {
  const ArchRates &rates = rates_of(l.device.arch);
  const uint64_t gates = gates_of(s.cell), steps = steps_of_launch(l), all = steps * l.max_batch, sms = l.device.sm_count;
  if (are_blocks(s.w)) return rates.launch_ns / steps;
  const uint64_t together = s.w == Weights::kF32 ? kWideF32Columns : kMostWideColumns,
                 bytes = matrix_bytes(s.w, gates * s.hidden, s.input);
  const uint64_t macs = gates * s.hidden * s.input * l.max_batch;
  const uint64_t rate = s.w == Weights::kF32 ? rates.ffma_per_clock : rates.mma_macs_per_clock;
  const uint64_t reads = bytes * ((all + together - 1) / together) / steps;
  const uint64_t clocks = longest(macs / (rate * sms), reads / (rates.l2_bytes_per_clock * sms));
  return longest(clocks * 1000 / clocks_per_us(l), bytes * 1000 / memory_rate(l) / steps) + rates.launch_ns / steps;
}

const char *words_for(Lacks lacks) {
  switch (lacks) {
    case Lacks::kNorms:
      return "layer norms need all units at once";
    case Lacks::kMask:
      return "no resident kernel takes a mask";
    case Lacks::kNotAllowed:
      return "kernels_allowed forbids the resident one";
    case Lacks::kCooperative:
      return "the device has no cooperative launches";
    case Lacks::kRules:
      return "the resident kernels of these weights have the default activations only";
    case Lacks::kSteps:
      return "h is not always quantized to int8 by one number, or a candidate of r h has a diagonal";
    case Lacks::kBlocks:
      return "more blocks than SMs may be used";
    case Lacks::kShared:
      return "the weights do not fit registers and shared memory";
    case Lacks::kNothing:
      break;
  }
  return "";
}

namespace {

// Of a cluster, a warp has the cells of one batch row for 8 units, of f32 the cluster has one row; and weights are in registers.
bool fits_cluster(const Resident &r, const LayerShape &s, const PlanLimits &l, const Choice &c) {
  const bool f32 = r.weights == Weights::kF32;
  return l.device.arch >= kClusterArch && c.blocks > 1 && c.blocks <= l.device.cluster_blocks &&
         ceil_div(l.max_batch, c.columns) * c.blocks <= allowed_blocks(l) &&
         (f32 ? c.columns == 1 : c.columns * (c.units / kClusterUnits) <= kWarps) &&
         (f32 ? column_groups(s.hidden) : k_tiles_per_warp({1, s.hidden, 1})) <= r.held;
}

}  // namespace

Lacks choose_resident(const LayerShape &s, const PlanLimits &l, Choice *best) {
  if (s.cell == Cell::kLstmNorm) return Lacks::kNorms;
  if (s.masked) return Lacks::kMask;
  const auto is_allowed = [&](uint32_t kernel) { return l.kernels_allowed == 0 || (l.kernels_allowed & kernel) != 0; };
  if (!is_allowed(RNNP_CUDA_RESIDENT | RNNP_CUDA_CLUSTER)) return Lacks::kNotAllowed;
  if (!l.device.cooperative) return Lacks::kCooperative;
  if (are_bytes(s.r) && !s.one_step) return Lacks::kSteps;
  Lacks lacks = Lacks::kRules;
  *best = {};
  for (const Resident &r : kResidents) {
    Choice c;
    if (r.cell != s.cell || r.weights != s.r || r.generic == s.plain) continue;
    if (!is_allowed(r.cluster ? RNNP_CUDA_CLUSTER : RNNP_CUDA_RESIDENT)) continue;
    if (r.directions != 1 && (r.directions != s.directions || l.one_by_one)) continue;
    if (lacks == Lacks::kRules) lacks = Lacks::kBlocks;
    if (!try_resident(r, s, l, &c) || c.blocks * r.directions > allowed_blocks(l)) continue;
    if (r.cluster && !fits_cluster(r, s, l, c)) continue;
    if (c.shared_bytes > l.device.shared_per_block) {
      if (lacks == Lacks::kBlocks) lacks = Lacks::kShared;
      continue;
    }
    lacks = Lacks::kNothing;
    if (best->resident == nullptr || is_better(c, *best)) *best = c;
  }
  return lacks;
}

}  // namespace cuda
}  // namespace rnnp
