// onnx_type.h -- ONNX's codes of element types (OnnxTensor.DataType). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_ONNX_TYPE_H_
#define RNNPACK_COMPILER_ONNX_ONNX_TYPE_H_

#include <string>

namespace rnnp::compiler {

// X(name, onnx, code): a constant kOnnx<name> of each, and what ONNX calls it.
#define RNNPACK_ONNX_TYPES(X)           \
  X(Undefined, UNDEFINED, 0)            \
  X(Float, FLOAT, 1)                    \
  X(Uint8, UINT8, 2)                    \
  X(Int8, INT8, 3)                      \
  X(Uint16, UINT16, 4)                  \
  X(Int16, INT16, 5)                    \
  X(Int32, INT32, 6)                    \
  X(Int64, INT64, 7)                    \
  X(String, STRING, 8)                  \
  X(Bool, BOOL, 9)                      \
  X(Float16, FLOAT16, 10)               \
  X(Double, DOUBLE, 11)                 \
  X(Uint32, UINT32, 12)                 \
  X(Uint64, UINT64, 13)                 \
  X(Complex64, COMPLEX64, 14)           \
  X(Complex128, COMPLEX128, 15)         \
  X(Bfloat16, BFLOAT16, 16)             \
  X(Float8E4M3FN, FLOAT8E4M3FN, 17)     \
  X(Float8E4M3FNUZ, FLOAT8E4M3FNUZ, 18) \
  X(Float8E5M2, FLOAT8E5M2, 19)         \
  X(Float8E5M2FNUZ, FLOAT8E5M2FNUZ, 20) \
  X(Uint4, UINT4, 21)                   \
  X(Int4, INT4, 22)

enum OnnxType : int {
#define RNNPACK_ONNX_TYPE(name, onnx, code) kOnnx##name = code,
  RNNPACK_ONNX_TYPES(RNNPACK_ONNX_TYPE)
#undef RNNPACK_ONNX_TYPE
};

// As ONNX writes it ("BFLOAT16"); empty for other codes.
std::string onnx_type_name(int type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_ONNX_TYPE_H_
