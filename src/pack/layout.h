// layout.h -- how weight matrices lie in memory so that kernels read each panel once, front to back.
// Shared by the packer (host) and the kernels (device); nothing but address arithmetic.
//
// An h-tile is NR hidden units with all their G gates. The panel of tile j of a matrix M[G*H][K] (ONNX gate order):
//
//     for k in 0..K-1:  for g in 0..G-1:  for n in 0..NR-1:   M[g*H + j*NR + n][k]      (0 where j*NR + n >= H)
//
//     k=0: |g0: n0 n1 .. |g1: n0 n1 .. |..|   k=1: |g0: ..        one row of G*NR floats per k, panels back to back
//
// so acc[g][n] += v[k] * panel[k][g][n] over k finishes the pre-activations of NR units, and the cell follows in registers.
// A dense matrix M[O][K] is the same with G = 1. Vectors per unit (bias) are [tiles][G][NR], zero-padded alike.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_LAYOUT_H_
#define RNNPACK_PACK_LAYOUT_H_

#include <stdint.h>

namespace rnnp {

constexpr uint32_t kMaxNr = 16;

constexpr uint32_t tile_count(uint32_t units, uint32_t nr) {
  return units / nr + (units % nr != 0);
}

// Floats from one batch row's state to the next: whole tiles of any layout, so that a state's rows do not depend on NR.
constexpr uint32_t state_row_elems(uint32_t units) {
  return tile_count(units, kMaxNr) * kMaxNr;
}

// Elements of one panel and of all panels; 64-bit so that no product of 32-bit sizes can overflow for K, G, NR in range.
constexpr uint64_t panel_elems(uint32_t k, uint32_t gates, uint32_t nr) {
  return uint64_t{k} * gates * nr;
}
constexpr uint64_t matrix_elems(uint32_t units, uint32_t k, uint32_t gates, uint32_t nr) {
  return panel_elems(k, gates, nr) * tile_count(units, nr);
}

}  // namespace rnnp
#endif  // RNNPACK_PACK_LAYOUT_H_
