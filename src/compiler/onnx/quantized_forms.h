// quantized_forms.h -- operators on integers as the floating-point ones that they stand for, with weights that know their integers:
// QLinearConv and its like, MatMulInteger and ConvInteger behind DynamicQuantizeLinear or QuantizeLinear, and com.microsoft's
// operators of the same kind. What DynamicQuantizeLinear makes of x is left out: it depends on all rows and steps of a call.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_QUANTIZED_FORMS_H_
#define RNNPACK_COMPILER_ONNX_QUANTIZED_FORMS_H_

#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// In the model's file, whose constants are read and whose nodes are not sorted yet. Adds a problem for each node that has such an
// operator in another form.
void replace_quantized_forms(OnnxModel *model, Problems *problems);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_QUANTIZED_FORMS_H_
