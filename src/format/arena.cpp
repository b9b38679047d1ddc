// arena.cpp -- Contract: base/arena.h. Out of line, because every operator takes memory; here, because base has no sources.
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

namespace rnnp {

size_t arena_align_up(size_t n, OtherMachine machine) {
  return align_up(n, has_many_threads(machine) ? kArenaAlign : 8);
}

void *Arena::take_bytes(size_t bytes) {
  const size_t at = arena_align_up(used_, other_);
  used_ = add_sat(at, bytes);
  return measuring() || overflowed() ? nullptr : base_ + at;
}

void *Arena::take_elems(size_t count, uint32_t packed_bytes) {
  uint32_t bytes = kMeasuresOthers ? packed_bytes & 4095 : packed_bytes;
  if (kMeasuresOthers && other_.narrow) bytes = (packed_bytes >> 12 & 4095) - (other_.one_thread ? packed_bytes >> 24 : 0);
  return take_bytes(mul_sat(count, bytes));
}

}  // namespace rnnp
