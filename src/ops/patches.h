// patches.h -- the elements under a convolution's windows, gathered into rows of a product. Touches nothing but what it fills.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_PATCHES_H_
#define RNNPACK_OPS_PATCHES_H_

#include "ops/conv_history.h"

namespace rnnp {

struct Patches {
  const AttrConv *attr;
  bool whole_lines;  // a window's taps along w and their channels lie side by side
  bool short_lines;  // a window's line is a few elements of few channels: gathered tap by tap
};

Patches patches_of(const AttrConv &a);

// The elements under each window of one step lie side by side, none of them outside of x. Of attributes that may be anything.
bool taps_lie_in_x(const AttrConv &a);

// Earlier or later steps, of one window each that lies in x as it is, by products that may read rows part by part: conv_taps.cpp
// runs it.
bool has_taps_in_place(const Model &m, const BlobNode &node);

// Elements of x that a window of one step has.
inline uint32_t tap_elems(const AttrConv &a) {
  return a.window.kernel[0] * a.window.kernel[1] * a.in_channels;
}

// [count][time taps][kernel h][kernel w][channels]: the windows of so many positions from p on.
void gather_patches(const RunEnv &env, const Patches &g, const ValueSlot &x, Position p, uint32_t count, uint32_t group, float *to);

// [lines][taps][channels]: one window of so many lines and taps, from p's on. x: the row, or nullptr for zeros.
void gather_window(const Patches &g, const float *x, const Position &p, uint32_t lines, uint32_t taps, uint32_t group, float *to);

}  // namespace rnnp
#endif  // RNNPACK_OPS_PATCHES_H_
