// index_set.h -- a set of small numbers that finds a member's neighbours: three levels of bits, each a summary of the one below.
// Touches the memory it was given. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_INDEX_SET_H_
#define RNNPACK_FORMAT_INDEX_SET_H_

#include "base/bytes.h"
#include "format/blob.h"

namespace rnnp {

class IndexSet {
 public:
  static constexpr uint32_t kLevels = 3;
  static constexpr uint32_t kMost = 1u << (5 * kLevels);

  static constexpr uint32_t words(uint32_t count) {
    uint32_t all = 0;
    for (uint32_t level = 0; level < kLevels; ++level) all += count = words_of(count);
    return all;
  }

  // Empty, of numbers below `count`, at most kMost, in words(count) words.
  IndexSet(uint32_t *memory, uint32_t count) {
    zero_bytes(memory, words(count) * sizeof(uint32_t));
    for (uint32_t level = 0; level < kLevels; ++level) {
      level_[level] = memory;
      count = words_of(count);
      memory += count;
    }
  }

  bool has(uint32_t i) const { return (level_[0][i / 32] >> i % 32 & 1u) != 0; }

  void add(uint32_t i) {
    for (uint32_t level = 0; level < kLevels; ++level, i /= 32) level_[level][i / 32] |= 1u << i % 32;
  }

  void remove(uint32_t i) {
    for (uint32_t level = 0; level < kLevels; ++level, i /= 32) {
      level_[level][i / 32] &= ~(1u << i % 32);
      if (level_[level][i / 32] != 0) return;
    }
  }

  // The nearest member above, below i; kNone when there is none.
  uint32_t next(uint32_t i) const {
    for (uint32_t level = 0; level < kLevels; ++level, i /= 32) {
      const uint32_t above = i % 32 == 31 ? 0 : level_[level][i / 32] & ~0u << (i % 32 + 1);
      if (above != 0) return descend(level, i / 32 * 32 + 31 - clz(above & (0u - above)), false);
    }
    return kNone;
  }
  uint32_t previous(uint32_t i) const {
    for (uint32_t level = 0; level < kLevels; ++level, i /= 32) {
      const uint32_t below = level_[level][i / 32] & ((1u << i % 32) - 1u);
      if (below != 0) return descend(level, i / 32 * 32 + 31 - clz(below), true);
    }
    return kNone;
  }

 private:
  static constexpr uint32_t words_of(uint32_t count) { return count / 32 + (count % 32 != 0 ? 1 : 0); }
  static uint32_t clz(uint32_t word) { return static_cast<uint32_t>(__builtin_clz(word)); }

  // The first or last member under bit i of a level.
  uint32_t descend(uint32_t level, uint32_t i, bool last) const {
    for (; level > 0; --level) {
      const uint32_t word = level_[level - 1][i];
      i = i * 32 + 31 - clz(last ? word : word & (0u - word));
    }
    return i;
  }

  uint32_t *level_[kLevels];
};

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_INDEX_SET_H_
