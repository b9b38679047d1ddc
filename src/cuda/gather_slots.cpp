// gather_slots.cpp -- Contract: gather_slots.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/gather_slots.h"

namespace rnnp {
namespace cuda {
namespace {

uint32_t bank_of(const RowGroup &g, uint32_t strip, uint32_t entry) {
  return g.quad(strip, entry) % kBanks;
}

// The most blocks of a strip, and the most that lie in a bank.
uint32_t largest_degree(const RowGroup &g) {
  uint32_t of_bank[kBanks] = {}, most = 0;
  for (uint32_t strip = 0; strip < g.strips(); ++strip) {
    uint32_t count = 0;
    for (uint32_t e = g.begin(strip); e < g.end(strip); ++e) {
      if (!g.is_block(strip, e)) continue;
      ++count;
      ++of_bank[bank_of(g, strip, e)];
    }
    most = count > most ? count : most;
  }
  for (const uint32_t count : of_bank) most = count > most ? count : most;
  return most;
}

// The graph while it is coloured: a slot is a colour, which no strip and no bank has twice.
struct Colouring {
  const RowGroup &group;
  SlotTable *table;

  // The strip that reads this bank in a slot; kMostStrips: none does.
  uint32_t strip_at(uint32_t slot, uint32_t bank) const {
    for (uint32_t strip = 0; strip < group.strips(); ++strip) {
      const uint32_t entry = table->get(slot, strip);
      if (entry != kNoEntry && bank_of(group, strip, entry) == bank) return strip;
    }
    return kMostStrips;
  }
  uint32_t free_of_strip(uint32_t strip) const {
    uint32_t slot = 0;
    while (table->get(slot, strip) != kNoEntry) ++slot;
    return slot;
  }
  uint32_t free_of_bank(uint32_t bank) const {
    uint32_t slot = 0;
    while (strip_at(slot, bank) != kMostStrips) ++slot;
    return slot;
  }
  // Makes slot a free of a bank that has b free: the path of a's and b's that begins there changes colours. It goes by other strips
  // than the one that has a free, and ends, because graphs of strips and banks have no odd circles.
  void free_slot(uint32_t bank, uint32_t a, uint32_t b) {
    uint32_t path[kMostStrips], count = 0;
    for (uint32_t strip = strip_at(a, bank); strip != kMostStrips; strip = strip_at(a, bank)) {
      path[count++] = strip;
      const uint32_t entry = table->get(b, strip);
      if (entry == kNoEntry) break;
      bank = bank_of(group, strip, entry);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at_a = table->get(a, path[i]);
      table->put(a, path[i], table->get(b, path[i]));
      table->put(b, path[i], at_a);
    }
  }
  void add(uint32_t strip, uint32_t entry) {
    const uint32_t bank = bank_of(group, strip, entry), a = free_of_strip(strip);
    if (strip_at(a, bank) != kMostStrips) free_slot(bank, a, free_of_bank(bank));
    table->put(a, strip, entry);
  }
};

// Strips while they are dealt in order.
struct Dealing {
  const RowGroup &group;
  uint32_t next[kMostStrips];

  void skip_fillers(uint32_t strip) {
    while (next[strip] < group.end(strip) && !group.is_block(strip, next[strip])) ++next[strip];
  }
  uint32_t left(uint32_t strip) const { return group.end(strip) - next[strip]; }
  // Strips by what they have left, the most first; of those that have as much, the lower one.
  void sort(uint32_t order[kMostStrips]) const {
    for (uint32_t i = 0; i < group.strips(); ++i) {
      uint32_t at = i;
      for (; at != 0 && left(order[at - 1]) < left(i); --at) order[at] = order[at - 1];
      order[at] = i;
    }
  }
};

}  // namespace

uint32_t colour_slots(const RowGroup &group, SlotTable *table) {
  if (table == nullptr) return largest_degree(group);
  Colouring colouring = {group, table};
  for (uint32_t strip = 0; strip < group.strips(); ++strip) {
    for (uint32_t e = group.begin(strip); e < group.end(strip); ++e) {
      if (group.is_block(strip, e)) colouring.add(strip, e);
    }
  }
  return largest_degree(group);
}

uint32_t deal_slots_in_order(const RowGroup &group, SlotTable *table) {
  Dealing dealing = {group, {}};
  for (uint32_t strip = 0; strip < group.strips(); ++strip) {
    dealing.next[strip] = group.begin(strip);
    dealing.skip_fillers(strip);
  }
  for (uint32_t slot = 0;; ++slot) {
    uint32_t order[kMostStrips] = {}, word[kBanks], used = 0;
    bool any = false;
    dealing.sort(order);
    for (uint32_t i = 0; i < group.strips(); ++i) {
      const uint32_t strip = order[i], entry = dealing.next[strip];
      if (entry == group.end(strip)) continue;
      any = true;
      const uint32_t quad = group.quad(strip, entry), bank = quad % kBanks;
      if ((used >> bank & 1) != 0 && word[bank] != quad) continue;
      used |= 1u << bank;
      word[bank] = quad;
      if (table != nullptr) table->put(slot, strip, entry);
      ++dealing.next[strip];
      dealing.skip_fillers(strip);
    }
    if (!any) return slot;
  }
}

}  // namespace cuda
}  // namespace rnnp
