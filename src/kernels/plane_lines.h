// plane_lines.h -- channels put into lines with zeros around them, one behind the other.
// Room: kernels; included by the rows of conv_nchw. Contract: kernels.h, PlaneLines. Put: zeros(to, count) and line(to, from,
// step, count), which may write up to kPlaneSlack floats more: what belongs there comes later. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PLANE_LINES_H_
#define RNNPACK_KERNELS_PLANE_LINES_H_

#include "kernels/kernels.h"

namespace rnnp {
namespace {

template <class Put>
void put_planes(const PlaneLines &p, float *to) {
  const float *channel = p.x;
  for (uint32_t i = 0; p.apart != 0 && i < p.channels; ++i, channel += p.x_channel, to += p.apart)
    Put::line(to + p.before, channel, p.x_column, p.columns);
  if (p.apart != 0) return;
  for (uint32_t i = 0; i < p.channels; ++i, channel += p.x_channel) {
    Put::zeros(to, p.before);
    to += p.before;
    const float *line = channel;
    for (uint32_t k = 0; k < p.lines; ++k, line += p.x_line) {
      if (k != 0) {
        Put::zeros(to, p.between);
        to += p.between;
      }
      Put::line(to, line, p.x_column, p.columns);
      to += p.columns;
    }
    Put::zeros(to, p.after);
    to += p.after;
  }
  Put::zeros(to, kPlaneSlack);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_PLANE_LINES_H_
