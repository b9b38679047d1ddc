// next_step.h -- the arguments of a layer's next step, where one row does many in one call. Room: kernels.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_NEXT_STEP_H_
#define RNNPACK_KERNELS_NEXT_STEP_H_

#include "kernels/kernels.h"
#include "kernels/row_bytes.h"

namespace rnnp {
namespace {

// One step fewer, of the same row.
RNNPACK_INLINE void next_step(RecurArgs *args) {
  float *const free = const_cast<float *>(args->h_prev);
  args->h_prev = args->h_next;
  args->h_next = free;
  args->steps -= 1;
  if (args->x != nullptr) {
    args->x = offset_bytes(args->x, args->x_row_bytes);
  } else {
    args->preact = offset_bytes(args->preact, args->preact_row_bytes);
  }
  if (args->y != nullptr) args->y = offset_bytes(args->y, args->y_row_bytes);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_NEXT_STEP_H_
