// buffers.h -- output buffers as inputs, for tests that treat both alike: the two structs have one layout.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_BUFFERS_H_
#define RNNPACK_TESTS_SUPPORT_BUFFERS_H_

#include <cstddef>

#include "rnnpack/rnnpack.h"

namespace rnnp_test {

static_assert(sizeof(rnnp_const_buffer) == sizeof(rnnp_buffer) &&
              offsetof(rnnp_const_buffer, step_stride_bytes) == offsetof(rnnp_buffer, step_stride_bytes) &&
              offsetof(rnnp_const_buffer, row_stride_bytes) == offsetof(rnnp_buffer, row_stride_bytes));

inline const rnnp_const_buffer *as_inputs(const rnnp_buffer *buffers) {
  return reinterpret_cast<const rnnp_const_buffer *>(buffers);
}

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_BUFFERS_H_
