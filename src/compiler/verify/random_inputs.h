// random_inputs.h -- inputs drawn at random for `verify` and `compile`, and the words that say what was drawn.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_RANDOM_INPUTS_H_
#define RNNPACK_COMPILER_VERIFY_RANDOM_INPUTS_H_

#include <map>
#include <random>
#include <string>

#include "compiler/files/npy.h"
#include "compiler/onnx/model_file.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// What the file has as each of its inputs, by name: OnnxType.
using ElementTypes = std::map<std::string, int>;
ElementTypes element_types(const OnnxModel &model);

// Floats from a normal distribution around 0; indices from 0 to limit - 1; lengths from 0 to `steps`, all alike. Of what the file
// has as bytes, integers or BOOL (elem_type, OnnxType) and the library takes as floats: integers of it.
// steps_in_front: the array gets the steps as an extra first axis.
Array draw_array(const rnnp_tensor_info &facts, int elem_type, int64_t steps, int64_t batch, bool steps_in_front, double deviation,
                 std::mt19937 *random);
std::string draw_text(const rnnp_tensor_info &facts, int elem_type, int64_t steps, double deviation);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_RANDOM_INPUTS_H_
