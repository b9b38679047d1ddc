// ahead.h -- what blocks of rows and columns ask for while they multiply: the panel behind theirs, of a matrix beyond L2.
// Room: kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_AHEAD_H_
#define RNNPACK_KERNELS_AHEAD_H_

#include <stddef.h>
#include <stdint.h>

#include "base/compiled_isa.h"
#include "kernels/inlining.h"

namespace rnnp {
namespace {

// Blocks of fewer rows have no time to ask for what comes next: memory is all they wait for.
constexpr int kAskingRows = 4;

// Blocks of 16 registers pass over a tile several times, and have time to ask for more than is wanted. Asking at every k fills the
// queue of the next cache; a large panel is asked for evenly over all passes.
#ifdef RNNPACK_HAVE_AVX2
constexpr bool kAsksEvenly = true;
#else
constexpr bool kAsksEvenly = false;
#endif
constexpr size_t kLineBytes = 64;

// How much blocks ask for in all, and how far from one k to the next.
struct AskShare {
  size_t bytes, step;
};
constexpr AskShare kAskAll = {SIZE_MAX, kLineBytes};

// Bytes that will be wanted soon: blocks take turns in asking for them.
struct Ahead {
  const uint8_t *at;
  size_t bytes;
};

RNNPACK_INLINE Ahead ahead_of(const AskShare &share, const uint8_t *at, size_t bytes) {
  return {at, bytes < share.bytes ? bytes : share.bytes};
}

// What k terms have time to ask for.
RNNPACK_INLINE const uint8_t *ask_ahead(Ahead *ahead, size_t k, size_t step = kLineBytes) {
  if (ahead->bytes == 0) return nullptr;
  const uint8_t *from = ahead->at;
  const size_t most = k * step, asked = ahead->bytes < most ? ahead->bytes : most;
  ahead->at = from + asked;
  ahead->bytes -= asked;
  return from;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_AHEAD_H_
