// guarded_memory.h -- buffers between pages that may not be touched, mapped once: a byte beyond an end faults, in any build.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_GUARDED_MEMORY_H_
#define RNNPACK_TESTS_FUZZ_GUARDED_MEMORY_H_

#include "support/walk_memory.h"

namespace rnnp_fuzz {

class GuardedMemory : public rnnp_test::WalkMemory {
 public:
  static constexpr size_t kSmall = 64 << 10, kLarge = 1 << 20;

  GuardedMemory();
  ~GuardedMemory() override;
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  Mark mark() const override { return {small_, large_}; }
  void release(Mark m) override {
    small_ = m.small;
    large_ = m.large;
  }

  // `bytes` whose last (at_end) or first one lies against a guard; aligned, so up to align - 1 bytes of slack lie behind the last.
  uint8_t *take(size_t bytes, size_t align, bool at_end) override;

 private:
  size_t small_ = 0, large_ = 0;
  uint8_t *smalls_, *larges_;
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_GUARDED_MEMORY_H_
