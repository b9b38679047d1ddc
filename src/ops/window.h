// window.h -- windows that slide over the feature axes of a row: what convolutions and pools share.
// Contract: BlobWindow of format/blob.h. All numbers of a window that passed window_fits stay within 32 bits in every sum below.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_WINDOW_H_
#define RNNPACK_OPS_WINDOW_H_

#include "ops/op.h"

namespace rnnp {

constexpr uint32_t kWindowMost = 1u << 28;  // sizes, taps and offsets

// True when every element that the window reads or writes lies in rows of x_elems and y_elems, and no two results share a place.
bool window_fits(const BlobWindow &w, uint32_t in_channels, uint32_t out_channels, uint32_t x_elems, uint32_t y_elems);

inline uint32_t window_positions(const BlobWindow &w) {
  return w.out_size[0] * w.out_size[1];
}

// One output position of one row of a chunk. Rows go [step][batch row].
struct Position {
  size_t row;
  uint32_t step, batch_row;
  uint32_t h, w;
};

Position position_at(const BlobWindow &w, uint32_t batch, size_t index);

inline void next_position(const BlobWindow &w, uint32_t batch, Position *p) {
  if (++p->w < w.out_size[1]) return;
  p->w = 0;
  if (++p->h < w.out_size[0]) return;
  p->h = 0;
  ++p->row;
  if (++p->batch_row < batch) return;
  p->batch_row = 0;
  ++p->step;
}

// So many at once.
void skip_positions(const BlobWindow &w, uint32_t batch, size_t count, Position *p);

inline float *window_output(const BlobWindow &w, const ValueSlot &y, const Position &p) {
  return row_of(y, p.row) + w.y_first + size_t{p.h} * w.y_stride[0] + size_t{p.w} * w.y_stride[1];
}

// Where tap 0 of an output lies on an axis.
inline int32_t window_start(const BlobWindow &w, int axis, uint32_t out) {
  return static_cast<int32_t>(out * w.stride[axis]) - w.pad[axis];
}

// Taps [begin, end) of the window that starts at `start` lie inside x; of the window's own, or of `count`.
struct Taps {
  uint32_t begin, end;
};
Taps taps_inside(const BlobWindow &w, int axis, int32_t start, uint32_t count);
inline Taps taps_inside(const BlobWindow &w, int axis, int32_t start) {
  return taps_inside(w, axis, start, w.kernel[axis]);
}

// Positions whose elements lie one stride apart: those of one line (w), of one row (w and h) or of all rows.
enum class Reach : uint32_t { kLine = 0, kRow = 1, kAll = 2 };

// Element strides of a position's w and h, and of rows.
struct PositionStrides {
  int64_t w, h, row;
};
Reach even_reach(const BlobWindow &window, const PositionStrides &s);
int64_t even_stride(const BlobWindow &window, const PositionStrides &s);
// Positions from p on, at most `most`, within the reach.
uint32_t positions_within(const BlobWindow &window, Reach reach, const Position &p, uint32_t most);

}  // namespace rnnp
#endif  // RNNPACK_OPS_WINDOW_H_
