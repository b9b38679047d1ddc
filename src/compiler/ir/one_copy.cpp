// one_copy.cpp -- Contract: one_copy.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/one_copy.h"

#include <algorithm>

#include "compiler/ir/view.h"

namespace rnnp::compiler {

std::optional<AttrCopy> one_copy(std::vector<CopyDim> dims, int64_t x_first, int64_t y_first) {
  std::stable_sort(dims.begin(), dims.end(), [](const CopyDim &a, const CopyDim &b) { return a.y_stride > b.y_stride; });
  std::vector<CopyDim> kept;
  for (const CopyDim &dim : dims) {
    if (dim.size == 1) continue;
    CopyDim *last = kept.empty() ? nullptr : &kept.back();
    if (last && last->x_stride == times(dim.x_stride, dim.size) && last->y_stride == times(dim.y_stride, dim.size)) {
      *last = {times(last->size, dim.size), dim.x_stride, dim.y_stride};
    } else {
      kept.push_back(dim);
    }
  }
  if (kept.empty()) kept.push_back({1, 1, 1});
  if (kept.size() > kBlobMaxRank) return std::nullopt;
  AttrCopy attr{};
  attr.rank = static_cast<uint32_t>(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    attr.dims[i] = static_cast<uint32_t>(kept[i].size);
    attr.x_stride[i] = static_cast<int32_t>(kept[i].x_stride);
    attr.y_stride[i] = static_cast<int32_t>(kept[i].y_stride);
  }
  attr.x_first = static_cast<uint32_t>(x_first);
  attr.y_first = static_cast<uint32_t>(y_first);
  return attr;
}

}  // namespace rnnp::compiler
