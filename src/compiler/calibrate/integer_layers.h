// integer_layers.h -- which recurrent layers run in integers alone where that is asked for, and the ranges of their numbers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_INTEGER_LAYERS_H_
#define RNNPACK_COMPILER_CALIBRATE_INTEGER_LAYERS_H_

#include "compiler/calibrate/calibration.h"

namespace rnnp::compiler {

// Every recurrent layer that can: int8 panels whose scales of x, and c's range, are those of the data. What cannot, and why, is
// noted. `keep_float`: nodes that stay f32. Throws UsageError where no layer can.
void choose_integers(Graph *graph, const Reference &reference, const std::vector<std::string> &keep_float);

// The most fraction bits with which 16 bits hold a c of this size, and a quarter more.
uint32_t bits_for_c(double most);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_INTEGER_LAYERS_H_
