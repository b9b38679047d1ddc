// panel_view.h -- a matrix of panels as kernels see it: its format and where its parts lie. Touches nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PANEL_VIEW_H_
#define RNNPACK_PACK_PANEL_VIEW_H_

#include "pack/panel_format.h"

namespace rnnp {

// What a format does not have is nullptr, 0 (BlobMatrix).
struct PanelView {
  const void *panels;  // tile 0's panel
  const float *scales;
  const int32_t *unit_sums;
  const float *diagonal;
  // Of sparse panels: where the entries of each panel and gate begin, [tiles * gates + 1]; the k of each block of an entry in units
  // of indexed_k, [entries][strips_of].
  const uint32_t *first;
  const uint16_t *quads;
  uint32_t k;
  uint32_t group_k;
  float lhs_scale;
  PanelFormat format;
  uint8_t gates;  // 1 to 4
};

}  // namespace rnnp
#endif  // RNNPACK_PACK_PANEL_VIEW_H_
