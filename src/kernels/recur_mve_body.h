// recur_mve_body.h -- one step of the plain LSTM, GRU and tanh cells in Helium: sums and cell of a tile without leaving registers.
// Room: kernels; included by recur_mve.cpp. Touches only its arguments.
// Contract: kernels.h, RecurArgs; the bits of recur_body.h with cell_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_MVE_BODY_H_
#define RNNPACK_KERNELS_RECUR_MVE_BODY_H_

#include "kernels/exp_mve.h"
#include "kernels/kernels.h"
#include "kernels/rows_body.h"
#include "kernels/tile_mve.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The four units `offset` bytes from unit 0 of one row. Without an output, y is h_next: the same value once more.
struct Units {
  const float *h_prev;
  float *h_next, *c, *y;
  size_t offset, hidden_bytes;

  // Addresses are not made before x is known: they would be carried through the exponentials on the stack.
  RNNPACK_INLINE void stay_after(F x) { __asm__("" : "+r"(offset) : "w"(x)); }
  RNNPACK_INLINE F load_h_prev() const { return Vec::load_first_bytes(offset_bytes(h_prev, offset), hidden_bytes - offset); }
  RNNPACK_INLINE void store_h(F h) const {
    Vec::store(offset_bytes(h_next, offset), h);
    Vec::store_first_bytes(offset_bytes(y, offset), h, hidden_bytes - offset);
  }
};

struct TanhMve {
  static constexpr int kGates = 1;
  static RNNPACK_INLINE void step(TileSums *tile, Units *at) {
    F sum[1];
    tile_sums(tile, sum);
    const TanhParts t = quick_tanh_parts(sum[0], kExpTable + 10);
    const F h = Vec::div(t.numerator, t.denominator);
    at->stay_after(h);
    at->store_h(h);
  }
};

struct LstmMve {
  static constexpr int kGates = 4;
  static RNNPACK_INLINE void step(TileSums *tile, Units *at) {
    F sum[4];
    tile_sums4(tile, sum);
    F &i = sum[0], &o = sum[1], &f = sum[2];
    const float *table = gate_denominators(&i, &o, &f);
    const TanhParts g = quick_tanh_parts(sum[3], table);
    const F ig = Vec::mul(i, g.denominator);
    at->stay_after(ig);
    float *state = offset_bytes(at->c, at->offset);
    const F next = Vec::fma(Vec::load(state), ig, Vec::mul(g.numerator, f));
    const F c = Vec::div(next, Vec::mul(ig, f));
    Vec::store(state, c);
    const TanhParts t = quick_tanh_parts(c, table);
    const F h = Vec::div(t.numerator, Vec::mul(t.denominator, o));
    at->stay_after(h);
    at->store_h(h);
  }
};

struct GruLinearMve {
  static constexpr int kGates = 3;
  static RNNPACK_INLINE void step(TileSums *tile, Units *at) {
    F sum[4];
    tile_sums_split(tile, sum);
    F &z = sum[0], &r = sum[1], z_less_one;
    const float *table = gate_denominators_less_one(&z, &r, &z_less_one);
    const TanhParts n = quick_tanh_parts(Vec::add(sum[3], Vec::div(sum[2], r)), table);
    at->stay_after(n.denominator);
    const F keep = Vec::mul(at->load_h_prev(), n.denominator);
    const F next = Vec::fma(z_less_one, n.numerator, keep);
    at->store_h(Vec::div(next, Vec::mul(z, n.denominator)));
  }
};

// Tiles go upwards whatever args->descending says: tightly coupled memory and flash gain nothing from going back.
template <class Cell>
void recur_mve(const RecurArgs *args) {
  constexpr size_t kRow = 4 * Cell::kGates;
  const bool from_x = args->x != nullptr;
  const size_t inputs = from_x ? args->input_size : 0, terms = args->recurrent_k, tile = args->tile_begin;
  for (size_t row = 0; row < args->rows; ++row) {
    const size_t state = row * args->state_row_bytes;
    const float *h_prev = offset_bytes(args->h_prev, state);
    const float *starts = from_x ? args->bias : offset_bytes(args->preact, row * args->preact_row_bytes);
    TileSums sums = {starts + tile * kRow,
                     Cell::kGates == 3 ? offset_bytes(args->r_bias, row * args->r_bias_row_bytes) + tile * 4 : nullptr,
                     from_x ? offset_bytes(args->x, row * args->x_row_bytes) : nullptr,
                     from_x ? args->w + tile * inputs * kRow : nullptr,
                     inputs / 16,
                     inputs % 16,
                     h_prev,
                     args->r + tile * terms * kRow,
                     terms / 16,
                     terms % 16};
    float *h_next = offset_bytes(args->h_next, state);
    Units at = {h_prev,
                h_next,
                Cell::kGates == 4 ? offset_bytes(args->c, state) : nullptr,
                args->y ? offset_bytes(args->y, row * args->y_row_bytes) : h_next,
                tile * 16,
                args->hidden_size * sizeof(float)};
    __asm__("" : "+r"(at.h_prev), "+r"(at.h_next), "+r"(at.c));  // or each address is a sum of three
    const size_t end = size_t{args->tile_end} * 16;
    RNNPACK_NO_UNROLL
    for (; at.offset < end; at.offset += 16) Cell::step(&sums, &at);
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_RECUR_MVE_BODY_H_
