// xnnpack.h -- operators handed to XNNPACK. Without RNNPACK_XNNPACK all of it is absent and every operator is portable.
// An XNNPACK operator is created once, at session init, in session memory (platform/xnnpack/allocator.h); setup and run allocate
// nothing. Which operators it can take depends on the node alone, never on rows, so bits do not depend on cuts.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_XNNPACK_H_
#define RNNPACK_OPS_XNNPACK_H_

#include "ops/op.h"

namespace rnnp {

struct XnnOperator;  // xnn_operator

// A part of a dense layer: output columns [begin, end). Every thread owns one part and its operator.
struct DensePart {
  const AttrDense *dense;
  uint32_t begin, end;
};

// Bytes of session memory for the part; 0 when XNNPACK cannot take it, or is not built in.
size_t xnn_dense_bytes(const DensePart &part);
// Scratch that xnn_dense_create wants for the unpacked weights.
size_t xnn_dense_scratch_bytes(const DensePart &part);
// nullptr when XNNPACK does not take it; *refused is set when its allocator is not ours.
XnnOperator *xnn_dense_create(const Model &model, const DensePart &part, void *memory, size_t bytes, void *scratch, bool *refused);
// x [rows][input_size], y the part's first column of rows output_size wide.
bool xnn_dense_run(XnnOperator *op, const float *x, float *y, size_t rows);

size_t xnn_softmax_bytes(const AttrSoftmax &softmax);
XnnOperator *xnn_softmax_create(const AttrSoftmax &softmax, void *memory, size_t bytes, bool *refused);
bool xnn_softmax_run(XnnOperator *op, const float *x, float *y, size_t rows);

size_t xnn_unary_bytes(const BlobActivation &act);
XnnOperator *xnn_unary_create(const BlobActivation &act, uint32_t elems, void *memory, size_t bytes, bool *refused);
bool xnn_unary_run(XnnOperator *op, const BlobActivation &act, const float *x, float *y, size_t rows);

}  // namespace rnnp
#endif  // RNNPACK_OPS_XNNPACK_H_
