// ahead.h -- what blocks of rows and columns ask for while they multiply: the panel behind theirs, of a matrix beyond L2.
// Room: kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_AHEAD_H_
#define RNNPACK_KERNELS_AHEAD_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp {
namespace {

// Blocks of fewer rows have no time to ask for what comes next: memory is all they wait for.
constexpr int kAskingRows = 4;

// Bytes that will be wanted soon: blocks take turns in asking for them.
struct Ahead {
  const uint8_t *at;
  size_t bytes;
};

// The lines that k terms have time to ask for.
RNNPACK_INLINE const uint8_t *ask_ahead(Ahead *ahead, size_t k) {
  if (ahead->bytes == 0) return nullptr;
  const uint8_t *from = ahead->at;
  const size_t lines = k * 64, asked = ahead->bytes < lines ? ahead->bytes : lines;
  ahead->at = from + asked;
  ahead->bytes -= asked;
  return from;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_AHEAD_H_
