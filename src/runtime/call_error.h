// call_error.h -- why a call of a session is refused: one list of reasons, their statuses and their words. The words are in
// call_error.cpp alone, so that firmware which does not ask for them carries none. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_CALL_ERROR_H_
#define RNNPACK_RUNTIME_CALL_ERROR_H_

#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_CALL_ERRORS(X)                                                                                             \
  X(kNothing, RNNP_OK, "")                                                                                                 \
  X(kStruct, RNNP_E_ARG, "io is NULL, its struct_bytes or buffer_bytes is not set, or an unknown member is not 0")         \
  X(kFlags, RNNP_E_ARG, "io.flags has a bit that this session does not know")                                              \
  X(kNull, RNNP_E_ARG, "a required tensor is NULL: x, y, an input that has no default, or io.inputs or io.outputs itself") \
  X(kStride, RNNP_E_ARG, "a stride is smaller than a row, or the tensor does not fit the address space")                   \
  X(kStridedLengths, RNNP_E_ARG, "a LENGTHS input is not packed")                                                          \
  X(kOverlap, RNNP_E_ARG, "an output overlaps another, or an input where it would overwrite what is still to be read")     \
  X(kAlign, RNNP_E_ALIGN, "the address or a stride of a tensor is not a multiple of 4 bytes")                              \
  X(kCounts, RNNP_E_SHAPE, "io.input_count or io.output_count is not the model's")                                         \
  X(kBatch, RNNP_E_SHAPE, "io.batch is 0, more than max_batch, or not the only batch that the model was exported for")     \
  X(kSteps, RNNP_E_SHAPE, "more steps than max_steps of a model that is not causal, or than the address space holds")      \
  X(kLengths, RNNP_E_SHAPE, "a length is negative or more than the steps of the call")                                     \
  X(kRows, RNNP_E_SHAPE, "io.rows names a row twice or one beyond max_batch, or the model has a fixed batch")              \
  X(kIndex, RNNP_E_INDEX, "an index is outside its table: from -limit to limit - 1")                                       \
  X(kInputs, RNNP_E_INPUTS, "the model needs other inputs than one sequence: use rnnp_run_io")                             \
  X(kNotCausal, RNNP_E_NOT_CAUSAL, "the model is not causal: use rnnp_run with whole sequences")                           \
  X(kNotFinite, RNNP_E_NOT_FINITE, "an input holds NaN or infinity")

enum class CallError : uint8_t {
#define RNNPACK_CALL_ERROR(name, status, words) name,
  RNNPACK_CALL_ERRORS(RNNPACK_CALL_ERROR)
#undef RNNPACK_CALL_ERROR
};

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_CALL_ERROR_H_
