// one_copy.h -- one strided copy from the axes that it goes over. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_ONE_COPY_H_
#define RNNPACK_COMPILER_IR_ONE_COPY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

struct CopyDim {
  int64_t size, x_stride, y_stride;
};

// dims: with their strides on both sides, in any order. They are coalesced, and y is written front to back. Nothing past
// kBlobMaxRank.
std::optional<AttrCopy> one_copy(std::vector<CopyDim> dims, int64_t x_first, int64_t y_first);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_ONE_COPY_H_
