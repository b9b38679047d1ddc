// dtype.h -- the types that elements are stored in. Values are pinned: they are in blobs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_DTYPE_H_
#define RNNPACK_BASE_DTYPE_H_

#include <stdint.h>

namespace rnnp {

enum class DType : uint32_t { kF32 = 0, kI32 = 1, kF16 = 2, kBf16 = 3, kI8 = 4, kI4 = 5 };

constexpr uint32_t dtype_bits(DType type) {
  switch (type) {
    case DType::kF16:
    case DType::kBf16:
      return 16;
    case DType::kI8:
      return 8;
    case DType::kI4:
      return 4;
    case DType::kF32:
    case DType::kI32:
      break;
  }
  return 32;
}

}  // namespace rnnp
#endif  // RNNPACK_BASE_DTYPE_H_
