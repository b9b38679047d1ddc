// kernel_cases.h -- every recurrent and product kernel, and the cells behind some products, on memory of its own, by the tables of
// kernels/device_kernels.inc: for tests of orders and races, which care for who reads and writes what, not for the model.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_KERNEL_CASES_H_
#define RNNPACK_TESTS_CUDA_KERNEL_CASES_H_

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "cuda/emulator/emulator.h"
#include "cuda/gather_layout.h"
#include "cuda/kernel_table.h"
#include "cuda/kernels/args.h"

namespace rnnp::cuda {

constexpr uint32_t kCaseSteps = 3, kCaseBatch = 2, kCaseBundles = 2;

// One place for partial sums, or two.
constexpr uint32_t places_of(Cell cell) {
  return cell == Cell::kRnn || cell == Cell::kGru ? 1 : 2;
}

class KernelCase {
 public:
  explicit KernelCase(const Resident &r) : id_(r.id) {
    const uint32_t gates = gates_of(r.cell), units = units_of(r), hidden = 2 * units - (r.weights == Weights::kF32 ? 1 : 3);
    const Shape s = {gates, hidden, units};
    const size_t image = are_blocks(r.weights) ? gather_block_bytes(gathers(r, hidden, units)) : image_bytes(r.weights, s);
    for (uint32_t d = 0; d < r.directions; ++d) {
      RecurrentArgs &a = both_.direction[d];
      a = recurrent(r.weights, hidden, units, image, block_rows(r.weights, s), kCaseSteps, d);
      a.places = places_of(r.cell);
      if (are_blocks(r.weights)) fill_bundles(&a, hidden, 2 * image);
      if (r.columns != 0 && r.columns < kCaseBatch) a.columns = r.columns;
    }
    blocks_ = 2 * r.directions;
    const Shape halves = in_halves(r.weights, s);
    shared_ = are_blocks(r.weights)
                  ? gather_shared(r.weights, gathers(r, hidden, units), kCaseBatch, both_.direction[0].columns, r.held).bytes
              : r.weights == Weights::kI4 ? resident_nibbles_shared(halves, kCaseBatch, kCaseBatch, r.half_tiles / 16, r.held).bytes
              : r.weights == Weights::kF32 ? resident_f32_shared(s, kCaseBatch, r.held).bytes
                                           : resident_mma_shared(halves, kCaseBatch, kCaseBatch, r.held, places_of(r.cell)).bytes;
    if (!r.cluster) return;
    both_.direction[0].columns = 1;  // a cluster for each row
    cluster_ = blocks_, blocks_ *= kCaseBatch;
    shared_ = r.weights == Weights::kF32 ? resident_cluster_f32_shared(r.held).bytes
                                         : resident_cluster_shared(r.half_tiles, 1, r.held).bytes;
  }
  // One step of a layer that takes its own input where that can be.
  KernelCase(Weights w, Cell cell, bool generic) : id_(step_kernel(w, cell, generic)) {
    const uint32_t gates = gates_of(cell);
    const uint32_t units = w == Weights::kF32 ? most_f32_units(gates) : are_blocks(w) ? units_of_blocks(gates) : 12;
    const uint32_t hidden = 2 * units - 1;
    const Shape s = {gates, hidden, units}, halves = in_halves(w, s);
    RecurrentArgs &a = both_.direction[0];
    a = recurrent(w, hidden, units, are_blocks(w) ? 0 : image_bytes(w, s), block_rows(w, s), 1, 0);
    if (!are_blocks(w)) a.preact = nullptr;
    if (are_blocks(w)) a.blocks = matrix(w, hidden, gates), a.candidate = matrix(w, hidden, 1);
    halves_ = cell == Cell::kGru ? 2 : 1;
    blocks_ = 2;
    shared_ = are_blocks(w)        ? blocks_shared(w, hidden).bytes
              : w == Weights::kF32 ? 0
                                   : mma_step_shared(halves, halves.k, kCaseBatch).bytes;
  }
  // Many rows times a matrix.
  explicit KernelCase(Weights w, bool wide = false) : id_(wide ? wide_product_kernel(w) : product_kernel(w)), is_product_(true) {
    const uint32_t gates = 4, k = 45, units = w == Weights::kF32 ? 32 : are_blocks(w) ? 16 : 12;
    const Shape s = {gates, k, units}, halves = in_halves(w, s);
    ProductArgs &a = product_;
    a.blocks = 2, a.k = k, a.gates = gates, a.units = units, a.outputs = 2 * units - 1, a.count = wide ? 70 : 11;
    a.columns = are_blocks(w) ? kBlockColumns : !wide ? kMmaColumns : w == Weights::kF32 ? kWideF32Columns : kMostWideColumns;
    a.image = are_blocks(w) ? nullptr : weights(w, 2 * image_bytes(w, s));
    a.bias = numbers(2 * block_rows(w, s)), a.x = numbers(size_t{a.count} * k), a.x_row = k;
    a.out_row = size_t{2} * block_rows(w, s), a.out = result(a.count * a.out_row);
    a.f32_units = w == Weights::kF32 ? units : 0;
    a.bytes = scales(w, 2 * block_rows(w, s));
    if (are_blocks(w)) a.blocks_of_matrix = matrix(w, k, gates);
    const bool mma_wide = wide && w != Weights::kF32;
    const uint32_t across = wide && w == Weights::kF32 ? wide_f32_across(wide_f32_pairs(gates, units)) : 1;
    blocks_ = (mma_wide ? ceil_div(2 * row_tiles(halves), kWarps) : 2 * across) * ceil_div(a.count, a.columns);
    shared_ = mma_wide             ? wide_shared_bytes(halves.k, a.columns)
              : wide               ? wide_f32_shared_bytes(k, a.columns)
              : are_blocks(w)      ? blocks_shared(w, k).bytes
              : w == Weights::kF32 ? 0
                                   : mma_step_shared(halves, halves.k, a.columns).bytes;
  }

  // Cells with norms, of one row more than its blocks and one that has ended.
  explicit KernelCase(const CellNorms &form) : id_(KernelId::finish_norm_cells) {
    const uint32_t hidden = kThreads + 35, rows = 4;
    const size_t state = hidden + 1;
    NormCellArgs &a = norm_cells_;
    a = {rows,
         numbers(size_t{rows} * 4 * hidden),
         numbers(size_t{rows} * 4 * hidden),
         result(rows * state),
         result(rows * state),
         result(rows * state),
         result(size_t{rows} * hidden),
         nullptr,
         nullptr,
         nullptr,
         state,
         hidden,
         0,
         hidden,
         2,
         form};
    const auto gates = [&] { return numbers(size_t{4} * hidden, 1.0f); };
    a.norms.x_scale = gates(), a.norms.bias = gates(), a.norms.h_scale = form.by_gate != 0 ? nullptr : gates();
    a.norms.c_scale = numbers(hidden, 1.0f), a.norms.c_bias = numbers(hidden, 1.0f);
    int32_t *lengths = take<int32_t>(rows);
    uint32_t *places = take<uint32_t>(rows);
    for (uint32_t i = 0; i < rows; ++i) lengths[i] = i == 1 ? 2 : 3, places[i] = rows - 1 - i;
    a.lengths = lengths, a.rows = places;
    blocks_ = rows - 1, shared_ = kNormCellShared;
  }

  const char *name() const { return kKernels[static_cast<uint32_t>(id_)].name; }

  // All that the kernel stores as plain memory, after a run in the order of `seed`. ended: false where it timed out or never ended.
  std::vector<uint8_t> run(uint64_t seed, bool *ended) {
    std::vector<simt::PlainMemory> plain;
    for (Result &r : results_) {
      std::memcpy(r.data, r.before.data(), r.before.size() * sizeof(float));
      plain.push_back({r.data, r.before.size() * sizeof(float)});
    }
    for (RecurrentArgs &a : both_.direction) {
      if (a.control == nullptr) continue;
      a.control[kEpoch] = 1;  // as before the run before, whose words would look fresh
      std::fill_n(a.words, a.word_count, 0);
    }
    const KernelFacts &k = kKernels[static_cast<uint32_t>(id_)];
    simt::Launch launch = {blocks_, kThreads, shared_, seed, k.sync, 0};
    launch.old_values = true;
    launch.cluster = cluster_;
    launch.plain = plain.data();
    launch.plain_count = static_cast<uint32_t>(plain.size());
    *ended = true;
    for (uint32_t half = 0; half < halves_; ++half) {
      both_.direction[0].half = half;
      both_.direction[0].takes_back = half + 1 == halves_;  // of step kernels
      const void *args = is_product_ ? static_cast<const void *>(&product_) : &both_;
      if (norm_cells_.count != 0) args = &norm_cells_;
      *ended = simt::run_grid(launch, k.call, args) && *ended;
    }
    for (const RecurrentArgs &a : both_.direction)
      *ended = *ended && (a.control == nullptr || (a.control[kTimedOut] == 0 && a.control[kStepped] == 0));
    std::vector<uint8_t> all;
    for (const Result &r : results_) {
      const uint8_t *bytes = static_cast<const uint8_t *>(static_cast<const void *>(r.data));
      all.insert(all.end(), bytes, bytes + r.before.size() * sizeof(float));
    }
    return all;
  }

 private:
  struct Result {
    float *data;
    std::vector<float> before;
  };

  template <class T>
  T *take(size_t count) {
    constexpr size_t kLine = 256;  // bytes
    memory_.emplace_back((count * sizeof(T) + kLine) / 8 + 32);
    const auto at = reinterpret_cast<uintptr_t>(memory_.back().data());
    return static_cast<T *>(static_cast<void *>(reinterpret_cast<uint8_t *>(memory_.back().data()) + (kLine - at % kLine)));
  }
  uint32_t random() {
    random_ = random_ * 1664525u + 1013904223u;
    return random_ >> 8;
  }
  float *numbers(size_t count, float size = 0.25f) {
    float *to = take<float>(count);
    for (size_t i = 0; i < count; ++i) to[i] = size * (static_cast<float>(random() % 2048) / 1024.0f - 1.0f);
    return to;
  }
  float *result(size_t count) {
    float *to = numbers(count);
    results_.push_back({to, std::vector<float>(to, to + count)});
    return to;
  }
  // An image of numbers near 0, whatever they are read as; the scales between int4 included.
  uint8_t *weights(Weights w, size_t bytes) {
    uint8_t *to = take<uint8_t>(bytes);
    const bool floats = w == Weights::kF32 || are_blocks(w);
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      uint32_t v = w == Weights::kI8 || w == Weights::kByteBlocks ? random() * 3 : 0x3c313c31u;
      if (w == Weights::kF16) v = (0x24002400u | (random() & 0x01ff01ff)) ^ (random() & 1 ? 0x80000000u : 0);
      if (floats && w != Weights::kByteBlocks) {
        const float f = 0.1f * (static_cast<float>(random() % 2048) / 1024.0f - 1.0f);
        std::memcpy(&v, &f, sizeof v);
      }
      std::memcpy(to + i, &v, sizeof v);
    }
    return to;
  }
  ByteScales scales(Weights w, size_t rows) {
    ByteScales s = {};
    if (!are_bytes(w)) return s;
    s.scale = numbers(rows, 0.02f);
    s.factor = 1.0f / 127, s.group_k = 32;
    return s;
  }
  RecurrentArgs recurrent(Weights w, uint32_t hidden, uint32_t units, size_t image, size_t rows, uint32_t steps, bool reverse) {
    const uint32_t blocks = ceil_div(hidden, units), B = kCaseBatch;
    const size_t state = hidden + 3;
    RecurrentArgs a = {};
    a.r = image != 0 ? weights(w, blocks * image) : nullptr;
    a.w = image != 0 ? weights(w, blocks * image) : nullptr;
    a.bias = numbers(blocks * rows), a.r_bias = numbers(hidden);
    a.preact = numbers(steps * B * blocks * rows, 1.0f), a.preact_row = blocks * rows;
    a.x = numbers(B * size_t{hidden}), a.x_row = hidden, a.input = hidden;
    a.h = result(B * state), a.h_next = result(B * state), a.c = result(B * state);
    a.z = result(B * state), a.rh = result(B * state), a.state_row = state;
    a.y = result(steps * B * size_t{hidden}), a.y_row = hidden;
    a.word_count = 4 * B * most_row_words(hidden);
    a.words = take<uint64_t>(a.word_count);
    a.control = take<uint32_t>(kControlWords), a.findings = take<uint32_t>(kFindings);
    a.hidden = hidden, a.units = units, a.batch = a.columns = B, a.steps = steps, a.spin_limit = 200000, a.reverse = reverse;
    a.r_bytes = scales(w, blocks * rows), a.w_bytes = scales(w, blocks * rows);
    a.candidate_factor = 1.0f / 127;
    for (uint32_t &bundles : a.bundles) bundles = kCaseBundles;
    return a;
  }
  static uint32_t units_of(const Resident &r) {
    const uint32_t gates = gates_of(r.cell), word = are_bytes(r.weights) ? 4 : 2;
    if (r.weights == Weights::kF32 && r.cluster) return kWarps * cluster_f32_units(r.half_tiles);
    if (r.weights == Weights::kF32) return most_f32_units(gates, r.half_tiles);
    return are_blocks(r.weights) ? kGroupUnits : r.half_tiles * 8 / gates / word * word;
  }
  static GatherShape gathers(const Resident &r, uint32_t hidden, uint32_t units) {
    return {gates_of(r.cell), hidden, units, {kCaseBundles, kCaseBundles, kCaseBundles, kCaseBundles}};
  }
  // Of every slot which word it reads, and of every second bundle that a row group ends there.
  void fill_bundles(RecurrentArgs *a, uint32_t hidden, size_t bytes) {
    uint8_t *image = const_cast<uint8_t *>(a->r);
    for (size_t bundle = 0; bundle < bytes / kBundleBytes; ++bundle) {
      for (uint32_t i = 0; i < kLanes * kBundleSlots; ++i) {
        const uint32_t last = bundle % kCaseBundles == kCaseBundles - 1 && i % kBundleSlots == 0 ? kLastBundle : 0;
        const uint16_t word = static_cast<uint16_t>(random() % (hidden / 4) | last);
        std::memcpy(image + bundle * kBundleBytes + index_in_bundle(i / kBundleSlots, i % kBundleSlots), &word, sizeof word);
      }
    }
  }
  // Two blocks of each gate of a panel.
  BlockMatrix matrix(Weights w, uint32_t units, uint32_t gates) {
    const uint32_t entries = 2, of = ceil_div(units, kPanelUnits) * gates;
    uint32_t *first = take<uint32_t>(of + 1);
    uint16_t *quads = take<uint16_t>(of * entries);
    for (uint32_t i = 0; i <= of; ++i) first[i] = i * entries;
    for (uint32_t i = 0; i < of * entries; ++i) quads[i] = static_cast<uint16_t>(random() % (units / 4));
    return {weights(w, size_t{of} * entries * kPanelUnits * 4 * (are_bytes(w) ? 1 : 4)), first, quads, gates, 1};
  }

  KernelId id_;
  bool is_product_ = false;
  uint32_t random_ = 7, halves_ = 1, blocks_ = 0, shared_ = 0, cluster_ = 0;
  std::deque<std::vector<uint64_t>> memory_;
  std::vector<Result> results_;
  BothArgs both_ = {};
  ProductArgs product_ = {};
  NormCellArgs norm_cells_ = {};
};

// Takes make(case) through all of them.
template <class Take>
void for_each_kernel(Take take) {
  for (const Resident &r : kResidents) take(KernelCase(r));
  CellNorms norms = {};
  norms.x_epsilon = norms.h_epsilon = norms.c_epsilon = 1e-5f;
  take(KernelCase(norms));
  norms.by_gate = norms.keeps_c = 1;  // and one norm of both products
  take(KernelCase(norms));
  for (uint32_t w = 0; w <= uint32_t(Weights::kI4); ++w) {
    for (const Cell cell : {Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear}) {
      for (const bool generic : {false, true}) take(KernelCase(Weights(w), cell, generic));
    }
    take(KernelCase(Weights(w)));
    if (wide_product_kernel(Weights(w)) != KernelId::count) take(KernelCase(Weights(w), true));
  }
}

}  // namespace rnnp::cuda
#endif  // RNNPACK_TESTS_CUDA_KERNEL_CASES_H_
