// pack_gathers.cpp -- Contract: pack_gathers.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/pack_gathers.h"

#include "cuda/panels.h"

namespace rnnp {
namespace cuda {
namespace {

// The word that slots without a block read: one of zeros, in a bank of which no lane of the slot reads another.
uint32_t idle_word(const RowGroup &g, const SlotTable &table, uint32_t slot) {
  uint32_t used = 0, bank = 0;
  for (uint32_t strip = 0; strip < g.strips(); ++strip) {
    const uint32_t entry = table.get(slot, strip);
    if (entry != kNoEntry) used |= 1u << g.quad(strip, entry) % kBanks;
  }
  while ((used >> bank & 1) != 0) ++bank;
  return zero_word(g.k, bank);
}

void put_lane(uint8_t *bundle, uint32_t lane, uint32_t slot, uint32_t weight, uint32_t word) {
  const uint16_t index = static_cast<uint16_t>(word);
  copy_bytes(bundle + weight_in_bundle(lane, slot), &weight, sizeof weight);
  copy_bytes(bundle + index_in_bundle(lane, slot), &index, sizeof index);
}

// From the table to what the lanes read. The table lies where part 0 of floats will, or where its only part: that is written last.
void write_slot(const Matrix &m, const RowGroup &g, const SlotTable &table, uint32_t slot) {
  const uint32_t idle = idle_word(g, table, slot), parts = are_bytes(table.weights) ? 1 : kParts;
  const SlotPlace place = place_of_slot(table.weights, slot);
  for (uint32_t strip = 0; strip < kLanes / g.height(); ++strip) {
    const uint32_t entry = strip < g.strips() ? table.get(slot, strip) : kNoEntry;
    for (uint32_t part = parts; part-- != 0;) {
      uint8_t *bundle = table.part[place.part + part] + size_t{place.bundle} * kBundleBytes;
      for (uint32_t lane = strip * g.height(); lane < (strip + 1) * g.height(); ++lane) {
        if (entry == kNoEntry)
          put_lane(bundle, lane, place.slot, 0, idle);
        else
          put_lane(bundle, lane, place.slot, word_in_block(m, entry, part, lane % kPanelUnits), g.quad(strip, entry));
      }
    }
  }
}

void mark_last(uint8_t *bundle) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint16_t index;
    copy_bytes(&index, bundle + index_in_bundle(lane, 0), sizeof index);
    index = static_cast<uint16_t>(index | kLastBundle);
    copy_bytes(bundle + index_in_bundle(lane, 0), &index, sizeof index);
  }
}

}  // namespace

RowGroup row_group_of(const Matrix &m, uint32_t gate, uint32_t unit) {
  const uint32_t *first = view_as<uint32_t>(static_cast<const void *>(m.index));
  const uint16_t *quads = view_as<uint16_t>(static_cast<const void *>(first + sparse_columns(m.format, m.shape) + 1));
  const uint32_t panel = unit / kPanelUnits, left = ceil_div(m.shape.units, kPanelUnits) - panel;
  return {first, quads, m.shape.gates, gate, panel, left < 2 ? left : 2, m.format.index_bytes / 2u, m.shape.k};
}

uint32_t bundles_of_gate(Weights weights, const Matrix &m, uint32_t gate) {
  uint32_t most = 1;
  for (uint32_t unit = 0; unit < m.shape.units; unit += kGroupUnits) {
    const uint32_t slots = assign_slots(weights, row_group_of(m, gate, unit), nullptr), bundles = bundles_for_slots(weights, slots);
    most = bundles > most ? bundles : most;
  }
  return most;
}

void pack_row_group(Weights weights, const GatherShape &s, uint32_t group, const Matrix &m, const RowGroup &blocks, uint8_t *to) {
  const uint32_t set = group % kRowSets, bundles = s.bundles[group % s.gates];
  const uint32_t slots = bundles * kBundleSlots * (are_bytes(weights) ? kParts : 1);
  SlotTable table = {weights, {}, blocks.height()};
  for (uint32_t part = 0; part < kParts; ++part)
    table.part[part] = to + place_of_warp(s, set, part) + size_t{bundles_before(s, set, group)} * kBundleBytes;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    for (uint32_t strip = 0; strip < blocks.strips(); ++strip) table.put(slot, strip, kNoEntry);
  }
  assign_slots(weights, blocks, &table);
  for (uint32_t slot = 0; slot < slots; ++slot) write_slot(m, blocks, table, slot);
  for (uint8_t *part : table.part) mark_last(part + size_t{bundles - 1} * kBundleBytes);
}

}  // namespace cuda
}  // namespace rnnp
