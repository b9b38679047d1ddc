// value_range.h -- bounds of what a value of the graph can hold, as far as its makers prove them: activations, pools, copies, and h
// of cells that end in sigmoid and tanh. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_VALUE_RANGE_H_
#define RNNPACK_COMPILER_IR_VALUE_RANGE_H_

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Infinite where nothing is proven.
struct ValueRange {
  double least, most;
  bool lies_in(double low, double high) const { return least >= low && most <= high; }
};

ValueRange range_of_value(const Graph &graph, uint32_t value);

// Whether every h of the direction lies in [-1, 1]: the cell keeps it there, and it starts there.
bool h_is_bounded(const Recurrent &layer, const Direction &direction, bool start_is_given);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_VALUE_RANGE_H_
