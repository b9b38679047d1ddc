// guarded_memory.cpp -- see guarded_memory.h.
// SPDX-License-Identifier: Apache-2.0
#include "guarded_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace rnnp_fuzz {
namespace {

constexpr size_t kGuard = 64 << 10;  // at least a page, of any page size
constexpr size_t kSmalls = 96, kLarges = 6;

uint8_t *map_slots(size_t count, size_t bytes) {
  const size_t all = count * (bytes + kGuard) + kGuard;
  void *base = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) std::abort();
  uint8_t *first = static_cast<uint8_t *>(base) + kGuard;
  for (size_t i = 0; i < count; ++i) {
    if (mprotect(first + i * (bytes + kGuard), bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  return first;
}

void unmap_slots(uint8_t *first, size_t count, size_t bytes) {
  munmap(first - kGuard, count * (bytes + kGuard) + kGuard);
}

}  // namespace

GuardedMemory::GuardedMemory() : smalls_(map_slots(kSmalls, kSmall)), larges_(map_slots(kLarges, kLarge)) {}
GuardedMemory::~GuardedMemory() {
  unmap_slots(smalls_, kSmalls, kSmall);
  unmap_slots(larges_, kLarges, kLarge);
}

uint8_t *GuardedMemory::take(size_t bytes, size_t align, bool at_end) {
  const bool is_small = bytes <= kSmall;
  if (bytes > kLarge || (is_small ? small_ == kSmalls : large_ == kLarges)) return nullptr;
  const size_t slot_bytes = is_small ? kSmall : kLarge;
  uint8_t *slot = is_small ? smalls_ + small_++ * (kSmall + kGuard) : larges_ + large_++ * (kLarge + kGuard);
  return at_end ? slot + (slot_bytes - bytes) / align * align : slot;
}

}  // namespace rnnp_fuzz
