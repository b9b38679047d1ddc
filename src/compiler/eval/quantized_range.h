// quantized_range.h -- the integers that an ONNX type of integers has. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_QUANTIZED_RANGE_H_
#define RNNPACK_COMPILER_EVAL_QUANTIZED_RANGE_H_

namespace rnnp::compiler {

struct QuantizedRange {
  int type;  // OnnxType
  double least, most;
};

// Of a data type; 0 is what QuantizeLinear takes where nothing says a type. Throws Refusal for types that it cannot give.
QuantizedRange quantized_range(int type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_QUANTIZED_RANGE_H_
