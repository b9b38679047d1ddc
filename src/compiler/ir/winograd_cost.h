// winograd_cost.h -- where F(2x2, 3x3) or F(2, 3) is faster than the windows themselves (docs/KERNELS.md).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_WINOGRAD_COST_H_
#define RNNPACK_COMPILER_IR_WINOGRAD_COST_H_

#include <cstdint>

namespace rnnp::compiler {

// Of so many channels and results of a window of 3 x 3: of planes, and where x has to be brought into planes first.
bool winograd_pays(uint64_t in, uint64_t out, const uint32_t results[2]);
bool winograd_pays_copies(uint64_t in, uint64_t out, const uint32_t results[2]);

// Of three columns of so many steps, channels side by side, for so many results of a line.
bool winograd_lines_pay(uint64_t in, uint64_t out, uint64_t taps, uint32_t results);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_WINOGRAD_COST_H_
