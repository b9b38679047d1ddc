// recur_mve_body.h -- one step of the plain LSTM, GRU and tanh cells in Helium: a tile's sums and then its cells, or
// the cells of all tiles whose sums are there.
// Room: kernels; included by recur_mve.cpp. Touches only its arguments.
// Contract: kernels.h, RecurArgs; the bits of recur_body.h with cell_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_MVE_BODY_H_
#define RNNPACK_KERNELS_RECUR_MVE_BODY_H_

#include "kernels/cells_mve.h"
#include "kernels/kernels.h"
#include "kernels/rows_body.h"
#include "kernels/tile_mve.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct TanhMve {
  static constexpr int kGates = 1;
  static RNNPACK_INLINE void sums(TileSums *tile) { tile_sums(tile); }
  static RNNPACK_INLINE void cells(CellRows *at) { tanh_cells(at); }
};

struct LstmMve {
  static constexpr int kGates = 4;
  static RNNPACK_INLINE void sums(TileSums *tile) { tile_sums4(tile); }
  static RNNPACK_INLINE void cells(CellRows *at) { lstm_cells(at); }
};

struct GruLinearMve {
  static constexpr int kGates = 3;
  static RNNPACK_INLINE void sums(TileSums *tile) { tile_sums_split(tile); }
  static RNNPACK_INLINE void cells(CellRows *at) { gru_cells(at); }
};

// Tiles go upwards whatever args->descending says: tightly coupled memory and flash gain nothing from going back.
template <class Cell>
void recur_mve(const RecurArgs *args) {
  constexpr size_t kRow = 4 * Cell::kGates;
  const bool from_x = args->x != nullptr, ready = !from_x && args->recurrent_k == 0;
  const size_t begin = args->tile_begin, unit = begin * 4, units = args->hidden_size - unit;
  const size_t some = args->tile_end * size_t{4} - unit, rows = some == 0 ? 0 : args->rows;
  for (size_t row = 0; row < rows; ++row) {
    const size_t state = row * args->state_row_bytes + unit * sizeof(float);
    float *h_next = offset_bytes(args->h_next, state);
    CellRows at;
    at.h_next = h_next;
    // Without an output, y is h_next: the same value once more.
    at.y = args->y != nullptr ? offset_bytes(args->y, row * args->y_row_bytes) + unit : h_next;
    if (Cell::kGates == 4) at.c = offset_bytes(args->c, state);
    if (Cell::kGates == 3) at.h_prev = offset_bytes(args->h_prev, state);
    at.sums = (from_x ? args->bias : offset_bytes(args->preact, row * args->preact_row_bytes)) + begin * kRow;
    at.constants = kCellConstants;
    at.units = units < some ? units : some;
    at.r_sums = Cell::kGates == 3 ? offset_bytes(args->r_bias, row * args->r_bias_row_bytes) + unit : nullptr;
    TileSums sums;
    ptrdiff_t turns = 0;  // of whole tiles; 0: all tiles at once, for their sums are ready
    size_t rest = 0;      // units of a last tile that is not whole
    if (!ready) {
      const size_t inputs = from_x ? args->input_size : 0, terms = args->recurrent_k;
      sums.start = at.sums;
      sums.r_bias = at.r_sums;
      sums.x = from_x ? offset_bytes(args->x, row * args->x_row_bytes) : nullptr;
      sums.w = from_x ? args->w + begin * inputs * kRow : nullptr;
      sums.x_turns = inputs / 16;
      sums.x_left = inputs % 16;
      sums.h = offset_bytes(args->h_prev, state) - unit;
      sums.r = args->r + begin * terms * kRow;
      sums.h_turns = terms / 16;
      sums.h_left = terms % 16;
      at.sums = sums.sums;
      at.r_sums = sums.sums + kRow;
      turns = static_cast<ptrdiff_t>(at.units / 4);
      rest = at.units % 4;
      at.units = 4;
    }
    for (;;) {
      if (turns == 0 && rest != 0) at.units = rest, rest = 0, turns = 1;
      do {
        if (__builtin_expect(turns != 0, 1)) Cell::sums(&sums);
        Cell::cells(&at);
      } while (--turns > 0);
      if (rest == 0) break;
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_RECUR_MVE_BODY_H_
