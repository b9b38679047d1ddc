// row_bytes.h -- pointers into rows that lie some bytes apart. Room: kernels.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ROW_BYTES_H_
#define RNNPACK_KERNELS_ROW_BYTES_H_

#include <stddef.h>

#include "kernels/inlining.h"

namespace rnnp {
namespace {

RNNPACK_INLINE const float *offset_bytes(const float *p, size_t bytes) {
  return static_cast<const float *>(static_cast<const void *>(reinterpret_cast<const char *>(p) + bytes));
}
RNNPACK_INLINE float *offset_bytes(float *p, size_t bytes) {
  return static_cast<float *>(static_cast<void *>(reinterpret_cast<char *>(p) + bytes));
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_ROW_BYTES_H_
