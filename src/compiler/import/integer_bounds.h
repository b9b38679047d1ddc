// integer_bounds.h -- how large the integers of a view may be. They are computed as float32, which holds all up to 2^24: what may
// pass that is refused, as its results would be wrong. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_INTEGER_BOUNDS_H_
#define RNNPACK_COMPILER_IMPORT_INTEGER_BOUNDS_H_

#include "compiler/ir/graph.h"
#include "compiler/ir/view.h"
#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// Of an input or a cast.
IntegerBounds bounds_of_type(int64_t elem_type);
// Of a constant. Throws Refusal for an integer that float32 does not hold.
IntegerBounds bounds_of(const Tensor &integers);
IntegerBounds bounds_after(Binary op, const IntegerBounds &a, const IntegerBounds &b);
// Throws Refusal.
void check_held(const IntegerBounds &bounds);
// What a narrower type cannot hold wraps round in the file. Throws Refusal.
void check_narrowing(const IntegerBounds &bounds, int elem_type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_INTEGER_BOUNDS_H_
