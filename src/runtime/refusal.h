// refusal.h -- why a session is refused: one list of reasons, their statuses and their words. The words are in explain.cpp alone,
// so that firmware which does not ask for them carries none. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_REFUSAL_H_
#define RNNPACK_RUNTIME_REFUSAL_H_

#include "format/model.h"

namespace rnnp {

#define RNNPACK_REASONS(X)                                                                                                       \
  X(kNothing, RNNP_OK, "nothing is in the way")                                                                                  \
  X(kNull, RNNP_E_ARG, "an argument is NULL")                                                                                    \
  X(kRegistry, RNNP_E_ARG, "the registry is NULL, or its struct_bytes or lists are not set")                                     \
  X(kOtherBlob, RNNP_E_ARG, "the registry checks no blobs: it is for sessions of the one it was written with")                   \
  X(kModel, RNNP_E_ARG, "the model is NULL or not opened")                                                                       \
  X(kOptions, RNNP_E_ARG, "options.struct_bytes is not set, or a member that this library does not know is not 0")               \
  X(kMaxBatch, RNNP_E_ARG, "options.max_batch is 0 or more than RNNP_MAX_BATCH")                                                 \
  X(kChunkSteps, RNNP_E_ARG, "options.chunk_steps is more than RNNP_MAX_CHUNK_STEPS")                                            \
  X(kMaxSteps, RNNP_E_ARG, "options.max_steps is more than RNNP_MAX_STEPS")                                                      \
  X(kFlags, RNNP_E_ARG, "options.flags has a bit that this library does not know")                                               \
  X(kExecutor, RNNP_E_ARG, "options.executor: struct_bytes, 1 to 1024 threads, parallel, and wait with more than one thread")    \
  X(kFixedBatch, RNNP_E_SHAPE, "the model was exported for one batch size: options.max_batch has to be that")                    \
  X(kNotCausal, RNNP_E_NOT_CAUSAL, "the model is not causal: set options.max_steps to the longest sequence")                     \
  X(kNoOperator, RNNP_E_UNSUPPORTED, "no operator of this kind is in the build, or in the registry")                             \
  X(kNotTaken, RNNP_E_UNSUPPORTED, "the operator does not do what the node asks for")                                            \
  X(kNoKernel, RNNP_E_LAYOUT, "no kernel of the build, or of a narrower registry, reads the node's weights")                     \
  X(kIsa, RNNP_E_ISA, "the kernels that read the node's weights take instructions that isa_allowed forbids or this CPU has not") \
  X(kBadNode, RNNP_E_BLOB_CORRUPT, "the node's attributes, operands and weights do not fit together")                            \
  X(kTooMuchWork, RNNP_E_BLOB_CORRUPT, "the nodes up to this one take far more work than the blob's macs_per_step says")         \
  X(kTooLarge, RNNP_E_SMALL_MEMORY, "the session does not fit the address space")                                                \
  X(kAlignment, RNNP_E_ALIGN, "mem is not aligned to rnnp_memory.alignment")                                                     \
  X(kMemory, RNNP_E_SMALL_MEMORY, "mem is smaller than rnnp_memory.session_bytes")                                               \
  X(kLiveSession, RNNP_E_ARG, "the memory holds a live session")                                                                 \
  X(kTooFewTasks, RNNP_E_EXECUTOR, "options.executor runs fewer tasks at the same time than its threads")                        \
  X(kDataflow, RNNP_E_BLOB_CORRUPT, "a value is read before it is made, or two share memory or a state")

enum class Reason : uint8_t {
#define RNNPACK_REASON(name, status, words) name,
  RNNPACK_REASONS(RNNPACK_REASON)
#undef RNNPACK_REASON
};

struct Refusal {
  Reason reason;
  uint32_t node;  // kNone: no node's doing
  size_t needed;  // what would do, where that is a number
};

rnnp_status status_of(Reason reason);

// In words: for rnnp_session_explain.
rnnp_refusal refusal_of(const Model &m, const Refusal &why, rnnp_status status);

// What an operator's status says of its node.
inline Reason reason_of(rnnp_status status) {
  return status == RNNP_E_LAYOUT ? Reason::kNoKernel : status == RNNP_E_SMALL_MEMORY ? Reason::kTooLarge : Reason::kBadNode;
}

// Says so in *refusal; the reason's status.
rnnp_status refuse(Refusal *refusal, Reason reason, uint32_t node = kNone, size_t needed = 0);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_REFUSAL_H_
