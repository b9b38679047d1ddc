// prune.h -- blocks of small weights, or single ones, are left out, where that is asked for. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_QUANTIZE_PRUNE_H_
#define RNNPACK_COMPILER_QUANTIZE_PRUNE_H_

#include <cstdint>
#include <string>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Blocks of `height` units of a gate by 4 inputs, none of whose weights is as large as `threshold`; of height 1 single weights.
struct Pruning {
  float threshold;
  uint32_t height;
};
// "0.05", "0.05:8": heights are 16 (when left out), 8, 4 and 1. Throws UsageError.
Pruning pruning_named(const std::string &text);

// Sets the weights of such blocks of recurrent and dense layers to zero, and notes of each matrix how many they are.
void prune(Graph *graph, const Pruning &pruning);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_QUANTIZE_PRUNE_H_
