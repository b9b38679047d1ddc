// strides.h -- walking over up to kBlobMaxRank axes of a row, and the checks that make a walk from a blob safe.
// Touches nothing. dims_fit and strides_fit are asked in build, before the first Walk over the same numbers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_STRIDES_H_
#define RNNPACK_OPS_STRIDES_H_

#include <stddef.h>

#include "format/blob.h"

namespace rnnp {

// Every dimension from 1 to INT32_MAX; *count is their product, below 2^32. Rank 0 is one element.
inline bool dims_fit(uint32_t rank, const uint32_t *dims, uint64_t *count) {
  if (rank > kBlobMaxRank) return false;
  *count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0 || dims[i] > INT32_MAX) return false;
    *count *= dims[i];
    if (*count > UINT32_MAX) return false;
  }
  return true;
}

// Lowest and highest element that sum(index * stride) adds to *low and *high; false when one step of the sum passes 2^31.
inline bool widen_reach(uint32_t rank, const uint32_t *dims, const int32_t *stride, int64_t *low, int64_t *high) {
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t far = int64_t{stride[i]} * (int64_t{dims[i]} - 1);
    if (far > INT32_MAX || far < -int64_t{INT32_MAX}) return false;
    (far < 0 ? *low : *high) += far;
  }
  return true;
}

// first + sum(index * stride) stays in [0, elems). The dimensions fit already.
inline bool strides_fit(uint32_t rank, const uint32_t *dims, const int32_t *stride, uint32_t first, uint32_t elems) {
  int64_t low = first, high = first;
  return widen_reach(rank, dims, stride, &low, &high) && low >= 0 && high < int64_t{elems};
}

// Counts through dims in row-major order and keeps the offset of one operand: at = sum(index * stride).
struct Walk {
  uint32_t rank;
  const uint32_t *dims;
  const int32_t *stride;
  ptrdiff_t at;
  uint32_t index[kBlobMaxRank];

  Walk(uint32_t r, const uint32_t *d, const int32_t *s, ptrdiff_t first) : rank(r), dims(d), stride(s), at(first), index{} {}

  // False after the last index; the walk is then at its beginning again.
  bool next() {
    for (uint32_t axis = rank; axis > 0; --axis) {
      const uint32_t i = axis - 1;
      if (index[i] + 1 < dims[i]) {
        ++index[i];
        at += stride[i];
        return true;
      }
      at -= static_cast<ptrdiff_t>(stride[i]) * static_cast<ptrdiff_t>(index[i]);
      index[i] = 0;
    }
    return false;
  }
};

}  // namespace rnnp
#endif  // RNNPACK_OPS_STRIDES_H_
