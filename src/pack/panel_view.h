// panel_view.h -- a matrix of panels as kernels see it: what they read of its format, and where its parts lie. Touches nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PANEL_VIEW_H_
#define RNNPACK_PACK_PANEL_VIEW_H_

#include "pack/panel_format.h"

namespace rnnp {

// What a format does not have is nullptr, 0 (BlobMatrix).
struct PanelView {
  uint8_t gates;            // 1 to 4
  uint8_t index_bytes;      // the format's, PanelFormat
  bool prefetch_next_tile;  // the panels lie beyond L2: the next tile's are asked for while these are used (same bits)
  uint8_t tiles_below;      // of the product that comes next in a sweep downwards, which ends where this one begins
  const void *panels;       // tile 0's panel
  const float *scales;
  const int32_t *unit_sums;
  const float *diagonal;
  // Of sparse panels: where the entries of each panel and gate begin, [tiles * gates + 1]; the k of each block of an entry in units
  // of indexed_k, [entries][index_bytes / 2].
  const uint32_t *first;
  const uint16_t *quads;
  uint32_t k;
  uint32_t group_k;
  float lhs_scale;
};

}  // namespace rnnp
#endif  // RNNPACK_PACK_PANEL_VIEW_H_
