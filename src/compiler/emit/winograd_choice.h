// winograd_choice.h -- convolutions of planes that are written for F(2x2, 3x3), 16 products in the place of 36 for four results,
// and of channels side by side for F(2, 3) along their columns, 4 in the place of 6 for two.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_
#define RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_

#include <vector>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Sets Conv::winograd where that is the faster form. After everything that changes weights or what they are stored as.
void choose_winograd(Graph *graph);

// For the blob: [out][16][in], of no planes [4][out][taps][in].
std::vector<float> winograd_weights(const Conv &conv);

// [4][out] of the second: of the point that is in both results; empty without a bias.
std::vector<float> line_bias(const Conv &conv);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_WINOGRAD_CHOICE_H_
