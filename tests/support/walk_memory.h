// walk_memory.h -- where the sessions and tensors of a random walk over the API lie. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_WALK_MEMORY_H_
#define RNNPACK_TESTS_SUPPORT_WALK_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace rnnp_test {

class WalkMemory {
 public:
  virtual ~WalkMemory() = default;
  // `bytes`, the last (at_end) or first one at the edge of what may be touched. nullptr: there is no room.
  virtual uint8_t *take(size_t bytes, size_t align, bool at_end) = 0;
  // What is taken between mark() and release(mark) is given back together.
  struct Mark {
    size_t small, large;
  };
  virtual Mark mark() const = 0;
  virtual void release(Mark mark) = 0;
};

// Blocks of the heap, none longer than asked for: under ASan both ends are watched.
class HeapMemory : public WalkMemory {
 public:
  HeapMemory() = default;
  HeapMemory(const HeapMemory &) = delete;
  HeapMemory &operator=(const HeapMemory &) = delete;
  ~HeapMemory() override { release({0, 0}); }

  uint8_t *take(size_t bytes, size_t align, bool) override {
    blocks_.push_back({operator new(bytes, std::align_val_t(align)), align});
    return static_cast<uint8_t *>(blocks_.back().first);
  }
  Mark mark() const override { return {blocks_.size(), 0}; }
  void release(Mark mark) override {
    for (; blocks_.size() > mark.small; blocks_.pop_back())
      operator delete(blocks_.back().first, std::align_val_t(blocks_.back().second));
  }

 private:
  std::vector<std::pair<void *, size_t>> blocks_;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_WALK_MEMORY_H_
