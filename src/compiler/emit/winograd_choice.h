// winograd_choice.h -- convolutions of planes that are written for F(2x2, 3x3): 16 products in the place of 36 for four results.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_
#define RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_

#include <vector>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Sets Conv::winograd where that is the faster form. After everything that changes weights or what they are stored as.
void choose_winograd(Graph *graph);

// [out][16][in], for the blob.
std::vector<float> winograd_weights(const Conv &conv);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_
