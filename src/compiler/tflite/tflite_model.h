// tflite_model.h -- TensorFlow Lite files as the graph that an ONNX file of the same network would be. Inputs and outputs are
// floats, in the units that a quantized file's scales stand for; resource variables are states of the library.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_TFLITE_TFLITE_MODEL_H_
#define RNNPACK_COMPILER_TFLITE_TFLITE_MODEL_H_

#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

const FrontEnd &tflite_models();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_TFLITE_TFLITE_MODEL_H_
