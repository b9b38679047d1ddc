// integer_layer.h -- the numbers of a recurrent integer-only layer: what its matrices are packed with, and its biases as
// integers. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_INTEGER_LAYER_H_
#define RNNPACK_COMPILER_EMIT_INTEGER_LAYER_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {

struct IntegerLayer {
  float x_factor, h_factor;              // what x and h are multiplied by to be bytes
  std::vector<double> x_worth, h_worth;  // [gates], MatrixSource::sum_worth
  std::vector<uint32_t> bias, r_bias;    // [tiles][gates][NR], [tiles][NR]; what shifts drop in the mean is given back here
};

// What a float that multiplies has where only its leading 16 bits count.
float leading_bits(float factor);

IntegerLayer integer_layer(const Recurrent &layer, const Direction &direction, const PanelFormat &format);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_INTEGER_LAYER_H_
