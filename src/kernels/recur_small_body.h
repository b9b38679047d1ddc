// recur_small_body.h -- one step of one layer in little code: a row and an h-tile at a time, the products and then the cells.
// Room: kernels; included once by recur_<isa>.cpp after a panel_sum<floats of a panel row>. Touches only its arguments.
// Contract: kernels.h, RecurArgs; the bits of recur_body.h.
// Why so: small cores run one stream, and a few hundred bytes per cell matter more to them than blocks of rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_SMALL_BODY_H_
#define RNNPACK_KERNELS_RECUR_SMALL_BODY_H_

#include "kernels/cell_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <int kCount>
RNNPACK_INLINE void copy(float *to, const float *from) {
  RNNPACK_UNROLL
  for (int n = 0; n < kCount; n += kWidth) Vec::store(to + n, Vec::load(from + n));
}

// Pre-activations of one tile of one row: pre[gate][NR]. A split gate's input part stays apart; returns where it lies.
template <class Shape, int kNr>
RNNPACK_NOINLINE const float *tile_products(const RecurArgs *args, size_t row, size_t tile, float *pre, float *nx) {
  constexpr int kRow = kNr * Shape::kGates, kPlain = Shape::kSplit ? kRow - kNr : kRow;
  constexpr bool kHasW = Shape::kPreGates == Shape::kGates;
  const float *start = nullptr;
  if (kHasW && args->x != nullptr) {
    const float *x = offset_bytes(args->x, row * args->x_row_bytes);
    panel_sum<kRow>(pre, args->bias + tile * kRow, x, args->w + tile * args->input_size * kRow, args->input_size);
    start = pre;
  } else {
    start = offset_bytes(args->preact, row * args->preact_row_bytes) + (tile * Shape::kPreGates + Shape::kFirst) * kNr;
  }
  const float *input_part = nullptr;
  if (Shape::kSplit) {
    input_part = start + kPlain;
    if (start == pre) {
      copy<kNr>(nx, pre + kPlain);
      input_part = nx;
    } else {
      copy<kPlain>(pre, start);
    }
    copy<kNr>(pre + kPlain, offset_bytes(args->r_bias, row * args->r_bias_row_bytes) + tile * kNr);
    start = pre;
  }
  const float *h = offset_bytes(Shape::kFirst != 0 ? args->rh : args->h_prev, row * args->state_row_bytes);
  panel_sum<kRow>(pre, start, h, args->r + tile * args->recurrent_k * kRow, args->recurrent_k);
  return input_part;
}

template <class Cell, int kNr>
RNNPACK_INLINE void tile_cells(const RecurArgs *args, size_t row, size_t tile, const float *pre, const float *nx) {
  RNNPACK_NO_UNROLL
  for (int n = 0; n < kNr; n += kWidth) {
    F gates[Cell::Shape::kGates];
    RNNPACK_UNROLL
    for (int g = 0; g < Cell::Shape::kGates; ++g) gates[g] = Vec::load(pre + g * kNr + n);
    const size_t unit = tile * kNr + n;
    const ptrdiff_t left = static_cast<ptrdiff_t>(args->hidden_size) - static_cast<ptrdiff_t>(unit);
    const float *peephole = args->peephole ? args->peephole + tile * (3 * kNr) + n : nullptr;
    Cell::finish({args, row, unit, left, peephole, kNr}, gates, nx + n);
  }
}

template <class Cell, int kNr>
void recur_run(const RecurArgs *args) {
  float pre[kNr * Cell::Shape::kGates];
  float nx[kNr];
  const uint32_t count = args->tile_end - args->tile_begin;
  for (uint32_t done = 0; done < count; ++done) {
    const size_t tile = args->descending ? args->tile_end - 1 - done : args->tile_begin + done;
    for (uint32_t row = 0; row < args->rows; ++row) {
      const float *input_part = tile_products<typename Cell::Shape, kNr>(args, row, tile, pre, nx);
      tile_cells<Cell, kNr>(args, row, tile, pre, Cell::Shape::kSplit ? input_part : pre);
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_RECUR_SMALL_BODY_H_
