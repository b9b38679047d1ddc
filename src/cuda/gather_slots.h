// gather_slots.h -- which slot each block of a row group goes to (gather_layout.h), so that no two lanes of a slot read two words
// of one bank. Pure functions of the blob's index; no memory but the caller's. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_GATHER_SLOTS_H_
#define RNNPACK_CUDA_GATHER_SLOTS_H_

#include "base/bytes.h"
#include "cuda/gather_layout.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kMostStrips = 8;  // of a row group: 32 units by 4
constexpr uint32_t kNoEntry = UINT32_MAX;

// The blocks of a gate of 32 units, as the blob has them. A strip is the units that share their blocks' k.
struct RowGroup {
  const uint32_t *first;  // of the matrix
  const uint16_t *quads;
  uint32_t gates, gate;    // of it
  uint32_t panel, panels;  // the first, and how many there are: one or two
  uint32_t strips_of_panel, k;

  uint32_t strips() const { return panels * strips_of_panel; }
  uint32_t height() const { return kPanelUnits / strips_of_panel; }
  uint32_t begin(uint32_t strip) const { return first[column(strip)]; }
  uint32_t end(uint32_t strip) const { return first[column(strip) + 1]; }
  uint32_t quad(uint32_t strip, uint32_t entry) const { return quads[uint64_t{entry} * strips_of_panel + strip % strips_of_panel]; }
  // False: it fills up an entry and holds nothing.
  bool is_block(uint32_t strip, uint32_t entry) const { return quad(strip, entry) < (k + 3) / 4; }

 private:
  uint32_t column(uint32_t strip) const { return (panel + strip / strips_of_panel) * gates + gate; }
};

// Where dealt slots are kept: an entry of the matrix for each slot and strip, or kNoEntry, which all are to begin with. They lie in
// the image itself, where the weights of a strip's first lane will be.
struct SlotTable {
  Weights weights;
  uint8_t *part[kParts];  // where the row group's bundles begin, of each part
  uint32_t height;        // lanes of a strip

  uint8_t *at(uint32_t slot, uint32_t strip) const {
    const SlotPlace p = place_of_slot(weights, slot);
    return part[p.part] + size_t{p.bundle} * kBundleBytes + weight_in_bundle(strip * height, p.slot);
  }
  uint32_t get(uint32_t slot, uint32_t strip) const {
    uint32_t entry;
    copy_bytes(&entry, at(slot, strip), sizeof entry);
    return entry;
  }
  void put(uint32_t slot, uint32_t strip, uint32_t entry) { copy_bytes(at(slot, strip), &entry, sizeof entry); }
};

// Blocks in any order, by colouring the edges of the graph of strips and banks: as many slots as its largest degree, the least
// there can be of strips that share no word. table: nullptr counts them only.
uint32_t colour_slots(const RowGroup &group, SlotTable *table);

// Those of a strip in their order: slot after slot, the strip with the most left first.
uint32_t deal_slots_in_order(const RowGroup &group, SlotTable *table);

inline uint32_t assign_slots(Weights weights, const RowGroup &group, SlotTable *table) {
  return are_bytes(weights) ? colour_slots(group, table) : deal_slots_in_order(group, table);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_GATHER_SLOTS_H_
