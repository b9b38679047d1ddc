// emulated_memory.h -- what a GPU's memory does and a host's does not. Words of one block become visible to others later, in no
// order but that of one address. Others may still read what was there before, unless they acquired what tells of it. Plain stores
// to memory that was named stay with their block until a fence, chance, or the end of the kernel brings them out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_EMULATOR_EMULATED_MEMORY_H_
#define RNNPACK_CUDA_EMULATOR_EMULATED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cuda/emulator/emulator.h"

namespace simt {

// A counter of bytes: rounds that have ended; of the next, bytes that came less those that are expected, and whether these are
// known.
struct Counter {
  uint32_t rounds : 31, expects : 1;
  int32_t bytes;
};
static_assert(sizeof(Counter) == sizeof(uint64_t));
void end_round(Counter *counter);

// A store that a counter is told of.
struct Counted {
  void *to, *counter;
  uint32_t v[4], words, block;  // block: whose
};

class EmulatedMemory {
 public:
  explicit EmulatedMemory(const Launch &launch);

  // Of the block that runs.
  void store(uint32_t block, void *p, uint64_t v, uint32_t bytes);
  uint64_t load(uint32_t block, const void *p, uint32_t bytes, uint64_t random);
  // All that the block stored is visible; whoever acquires `flag` from now on sees it.
  void release(uint32_t block, const void *flag);
  void acquire(uint32_t block, const void *flag);

  // Words on their way to another block, and its counter. Until they have come, has_stores_to() says so of where they go.
  void send(const Counted &store);
  bool has_stores_to(const void *from, size_t bytes) const;

  // Between two threads: some store becomes visible, now and then.
  void pass_time(uint64_t random);
  // Plain memory becomes what this block sees.
  void show_to(uint32_t block);
  void drain_all();

 private:
  struct Word {
    void *p;
    uint64_t v;
    uint32_t bytes, block;
  };
  // What was at an address before: each value until when, by the count of stores that became visible.
  struct Past {
    struct Value {
      uint64_t v, until;
    };
    std::vector<Value> values;
    std::vector<uint64_t> seen;  // of each block: the oldest it may still read was there after this
  };
  struct Plain {
    uint8_t *p;
    std::vector<uint8_t> visible, shown;  // to all; to the block that runs, when it began
  };
  struct Place {
    uint32_t range;
    size_t word;
    bool operator<(const Place &o) const { return range != o.range ? range < o.range : word < o.word; }
  };

  void drain_word(size_t pick);
  void drain_sent(size_t pick);
  void drain_plain(uint32_t block, bool all, uint64_t random);
  void keep_plain();
  void show_plain();

  uint32_t running_;
  bool old_values_;
  uint64_t time_ = 0;
  std::deque<Word> words_;
  std::vector<Counted> sent_;
  std::map<const void *, Past> past_;
  std::map<const void *, uint64_t> released_;
  std::vector<uint64_t> acquired_;
  std::vector<Plain> plain_;
  std::vector<std::map<Place, uint32_t>> held_;  // of each block
};

}  // namespace simt
#endif  // RNNPACK_CUDA_EMULATOR_EMULATED_MEMORY_H_
