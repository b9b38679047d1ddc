// window_of.h -- the windows of convolutions and pools that tests draw up as shapes: h, w, kernel, stride, dilation, pad,
// channels_first. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_WINDOW_OF_H_
#define RNNPACK_TESTS_SUPPORT_WINDOW_OF_H_

#include <cstdint>

#include "format/blob_attrs.h"

namespace rnnp_test {

// Of axis 0, h, or 1, w.
template <class Shape>
uint32_t out_size(const Shape &s, int i) {
  const uint32_t in = i == 0 ? s.h : s.w;
  return (in + 2 * uint32_t(s.pad[i]) - (s.kernel[i] - 1) * s.dilation[i] - 1) / s.stride[i] + 1;
}

// So many channels of x and of y.
template <class Shape>
rnnp::BlobWindow window_of(const Shape &s, uint32_t in, uint32_t out) {
  const int32_t c = s.channels_first ? int32_t(s.h * s.w) : 1, w = s.channels_first ? 1 : int32_t(in);
  return {{s.h, s.w},
          {out_size(s, 0), out_size(s, 1)},
          {s.kernel[0], s.kernel[1]},
          {s.stride[0], s.stride[1]},
          {s.dilation[0], s.dilation[1]},
          {s.pad[0], s.pad[1]},
          0,
          {w * int32_t(s.w), w, c},
          0,
          {out_size(s, 1) * out, out}};
}

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_WINDOW_OF_H_
