// gather_layout.h -- where the blocks of a resident sparse matrix lie on the device, and what is where in shared memory: one
// arithmetic for who packs, plans and computes. Host and device, constexpr.
//
// A row group is a gate of 32 units, a lane each; four warps have it, so two row groups are multiplied at a time. What is
// multiplied lies in shared memory as words, one for each quad of k: of bytes four k, of floats one, in a plane of its own. A slot
// is what a lane multiplies at once: which word, and a weight for it (four bytes, or one float). The 32 lanes of a slot read words
// of 32 different banks, or the same word. Part p of a row group is
//   floats  the k = 4 quad + p: all parts have the same slots, those of a lane in the order of its blocks
//   bytes   every fourth bundle: the sums are whole, in any order
// A bundle is four slots: 32 lanes x four weights, then 32 lanes x which four words. All row groups of a gate have as many bundles
// as the longest. Words behind those of k are 0, one in each bank: what a slot without a block reads.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_GATHER_LAYOUT_H_
#define RNNPACK_CUDA_GATHER_LAYOUT_H_

#include "cuda/device_layout.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kGroupUnits = kLanes, kParts = 4, kRowSets = kWarps / kParts;
constexpr uint32_t kBundleSlots = 4, kBundleWords = kLanes * kBundleSlots * 4,
                   kBundleBytes = kBundleWords + kLanes * kBundleSlots * 2;
constexpr uint32_t kBanks = 32;
constexpr uint32_t kMostGates = 4;
constexpr uint32_t kLastBundle = 0x8000;                  // the mark
constexpr uint32_t kWidestGather = kLastBundle - kBanks;  // quads: a slot names its word by 15 bits

struct GatherShape {
  uint32_t gates, k, units;      // units of a block: whole row groups
  uint32_t bundles[kMostGates];  // of a row group of each gate, of each part
};

constexpr uint32_t row_groups(const GatherShape &s) {
  return s.units / kGroupUnits * s.gates;
}
// Row groups go by units, then by gates; every second one is of the same four warps.
constexpr uint32_t bundles_before(const GatherShape &s, uint32_t set, uint32_t group) {
  uint32_t sum = 0;
  for (uint32_t i = set; i < group; i += kRowSets) sum += s.bundles[i % s.gates];
  return sum;
}
constexpr uint32_t bundles_of_warp(const GatherShape &s, uint32_t set) {
  return bundles_before(s, set, row_groups(s));
}
constexpr uint32_t most_bundles(const GatherShape &s) {
  return bundles_of_warp(s, 0) > bundles_of_warp(s, 1) ? bundles_of_warp(s, 0) : bundles_of_warp(s, 1);
}
constexpr size_t gather_block_bytes(const GatherShape &s) {
  return (size_t{bundles_of_warp(s, 0)} + bundles_of_warp(s, 1)) * kParts * kBundleBytes;
}
// A warp's bundles within the block's.
constexpr size_t place_of_warp(const GatherShape &s, uint32_t set, uint32_t part) {
  return (size_t{set} * kParts * bundles_of_warp(s, 0) + size_t{part} * bundles_of_warp(s, set)) * kBundleBytes;
}

// Which bundle of which part has a slot of a row group, and which of its four it is there. Floats: of part 0, and of all others
// alike.
struct SlotPlace {
  uint32_t part, bundle, slot;
};
constexpr SlotPlace place_of_slot(Weights weights, uint32_t slot) {
  const uint32_t bundle = slot / kBundleSlots;
  if (!are_bytes(weights)) return {0, bundle, slot % kBundleSlots};
  return {bundle % kParts, bundle / kParts, slot % kBundleSlots};
}
constexpr uint32_t bundles_for_slots(Weights weights, uint32_t slots) {
  return ceil_div(slots, are_bytes(weights) ? kBundleSlots * kParts : kBundleSlots);
}
constexpr uint32_t weight_in_bundle(uint32_t lane, uint32_t slot) {
  return lane * 16 + slot * 4;
}
constexpr uint32_t index_in_bundle(uint32_t lane, uint32_t slot) {
  return kBundleWords + lane * 8 + slot * 2;
}

// Words of a plane of what is multiplied, an even number since bytes come two words at a time; and planes.
constexpr uint32_t plane_words(uint32_t k) {
  return (ceil_div(k, 4) + kBanks + 1) & ~1u;
}
constexpr uint32_t planes(Weights weights) {
  return are_bytes(weights) ? 1 : 4;
}
// The word of a plane that holds 0 in this bank.
constexpr uint32_t zero_word(uint32_t k, uint32_t bank) {
  const uint32_t quads = ceil_div(k, 4);
  return quads + (bank + kBanks - quads % kBanks) % kBanks;
}

// Sums: [part][column][gate][unit], gates apart by eight banks.
constexpr uint32_t gate_stride(const GatherShape &s) {
  return s.units + 8;
}
struct GatherShared {
  uint32_t input, sums, c, h, z, bundles, bytes;
};
constexpr GatherShared gather_shared(Weights weights, const GatherShape &s, uint32_t batch, uint32_t columns, uint32_t held) {
  GatherShared m = {};
  const uint32_t most = most_bundles(s), rest = most > held ? most - held : 0, own = batch * s.units * 4;
  m.sums = columns * planes(weights) * plane_words(s.k) * 4;
  m.c = m.sums + kParts * columns * s.gates * gate_stride(s) * 4;
  m.h = m.c + own;
  m.z = m.h + own;
  m.bundles = align_shared(m.z + own);
  m.bytes = m.bundles + kWarps * rest * kBundleBytes;
  return m;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_GATHER_LAYOUT_H_
