// tensor_view.h -- a caller's tensor with its strides resolved, once, when a call is checked. Whoever reads or writes a caller's
// tensor does so through its view, so no two places can disagree on where a row lies. Room: runtime; touches nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_TENSOR_VIEW_H_
#define RNNPACK_RUNTIME_TENSOR_VIEW_H_

#include "base/checked.h"
#include "runtime/call_error.h"

namespace rnnp {

struct TensorView {
  uint8_t *data;      // nullptr: left out, or of no steps, so that it lies nowhere
  size_t step_bytes;  // 0: one row per batch row, whatever the step
  size_t row_bytes;
  size_t bytes;  // from data to the end of the last row
  bool packed;   // rows lie one behind the other, as operators want them

  uint8_t *row(size_t step, size_t row) const { return data + step * step_bytes + row * row_bytes; }
};

// What a call says of a tensor: rows of `elem_bytes`, `batch` of them, for each of `steps` steps when it has a time axis.
struct TensorShape {
  size_t elem_bytes;
  size_t steps;
  uint32_t batch;
  bool sequence;
};

// The view of a caller's buffer. A stride of 0 is the dense one: a row after a row, all rows of a step before the next step.
// kStride: rows would overlap themselves, or the tensor does not fit the address space.
inline CallError resolve(const rnnp_buffer &b, const TensorShape &shape, TensorView *view) {
  *view = {static_cast<uint8_t *>(b.data), 0, 0, 0, true};
  if (b.data == nullptr) return CallError::kNothing;
  if (!is_aligned(b.data, 4) || b.row_stride_bytes % 4 != 0 || b.step_stride_bytes % 4 != 0) return CallError::kAlign;
  view->row_bytes = b.row_stride_bytes != 0 ? b.row_stride_bytes : shape.elem_bytes;
  if (view->row_bytes < shape.elem_bytes) return CallError::kStride;
  const size_t last_row = mul_sat(view->row_bytes, shape.batch - 1u);
  size_t last_step = 0;
  if (shape.sequence) {
    view->step_bytes = b.step_stride_bytes != 0 ? b.step_stride_bytes : mul_sat(view->row_bytes, shape.batch);
    if (view->step_bytes < shape.elem_bytes) return CallError::kStride;
    if (shape.steps == 0) {
      view->data = nullptr;
      return CallError::kNothing;
    }
    last_step = mul_sat(view->step_bytes, shape.steps - 1);
  }
  view->bytes = add_sat(add_sat(last_step, last_row), shape.elem_bytes);
  if (view->bytes > SIZE_MAX / 2) return CallError::kStride;
  const bool rows_packed = shape.batch == 1 || view->row_bytes == shape.elem_bytes;
  view->packed = rows_packed && (!shape.sequence || shape.steps == 1 || view->step_bytes == shape.elem_bytes * shape.batch);
  return CallError::kNothing;
}

inline bool overlap(const TensorView &a, const TensorView &b) {
  return a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}

// Whether `out`, written step after step behind the reading of `in`, never reaches a row of `in` that is still to be read.
inline bool follows(const TensorView &out, size_t out_bytes, const TensorView &in, size_t in_bytes, uint32_t batch) {
  if (out.data != in.data) return false;
  if (out.step_bytes == in.step_bytes && out.row_bytes == in.row_bytes) return out_bytes <= in_bytes;
  return out.step_bytes <= in.step_bytes && out.row_bytes * (batch - 1u) + out_bytes <= in.step_bytes;
}

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_TENSOR_VIEW_H_
