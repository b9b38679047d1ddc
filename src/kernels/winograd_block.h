// winograd_block.h -- the tiles of conv_winograd that are computed together, and where scratch holds what of them.
// Room: kernels; included by the rows of conv_winograd and the operator. Contract: kernels.h, ConvWinogradArgs.
// Why so: points lie a few floats more than a power of two apart, or all of an element's would share two sets of L1.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_WINOGRAD_BLOCK_H_
#define RNNPACK_KERNELS_WINOGRAD_BLOCK_H_

#include "kernels/kernels.h"
#include "pack/winograd.h"

namespace rnnp {

constexpr uint32_t kWinogradSlack = 16;  // floats: a vector may be stored, or read, that is longer than what is left
// Lines of even and of odd columns under the tiles, each with its slack.
constexpr uint32_t kWinogradFrame = (2 * kWinogradLines + 2) * 2 * (2 * kWinogradSlack);

static inline uint32_t in_vectors(uint32_t count) {
  return (count + kWinogradSlack - 1) / kWinogradSlack * kWinogradSlack;
}

struct WinogradBlock {
  uint32_t line, column;    // its first tile
  uint32_t lines, columns;  // tiles
  uint32_t tiles() const { return lines * columns; }
  // From a channel's (a unit's) tiles to the next one's.
  uint32_t step() const { return in_vectors(tiles()); }
  size_t point_step(uint32_t rows) const { return size_t{rows} * step() + kWinogradSlack; }
  // Of the frame: from even columns to odd ones.
  uint32_t half() const { return in_vectors(columns + 2) + kWinogradSlack; }
};

// Frame, V of all channels, M of one panel's units.
static inline size_t winograd_scratch(uint32_t channels, uint32_t nr) {
  return kWinogradFrame + kWinogradPoints * ((size_t{channels} + nr) * kWinogradTiles + 2 * size_t{kWinogradSlack});
}

// do_block(block) for all tiles of lines line_begin to line_end, blocks being about as large as each other.
template <class DoBlock>
void for_each_winograd_block(const ConvWinogradArgs &t, const DoBlock &do_block) {
  const uint32_t columns = (t.y_columns + 1) / 2, all = t.line_end - t.line_begin;
  const uint32_t fit = columns < kWinogradTiles ? kWinogradTiles / columns : 1;
  const uint32_t most = fit < kWinogradLines ? fit : kWinogradLines, cuts = (all + most - 1) / most;
  const auto part = [&](uint64_t i) { return t.line_begin + static_cast<uint32_t>(i * all / cuts); };
  for (uint32_t i = 0; i < cuts; ++i) {
    const uint32_t line = part(i), end = part(i + 1);
    for (uint32_t column = 0; column < columns; column += kWinogradTiles) {
      const uint32_t left = columns - column;
      do_block(WinogradBlock{line, column, end - line, left < kWinogradTiles ? left : kWinogradTiles});
    }
  }
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_WINOGRAD_BLOCK_H_
