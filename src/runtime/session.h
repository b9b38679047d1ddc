// session.h -- a session as it lies in the caller's memory.
//
//   [ Session | value slots | node slots | state slots | barriers | node objects ... | states (2 buffers each) | scratch | pools |
//   staging ]
//
// Everything is laid out by build_session (session_build.cpp) from one Arena, measured and placed by the same code; nothing moves
// later. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_SESSION_H_
#define RNNPACK_RUNTIME_SESSION_H_

#include "ops/op.h"

namespace rnnp {

constexpr uint32_t kSessionTag = 0x73657373u;

struct NodeSlot {
  const Op *op;
  const BlobNode *node;
  void *object;
  StepFn step;  // nullptr: run serves single steps
};

// How a user's tensor is reached: in place when it is packed, through a staging buffer when it is strided.
struct IoSlot {
  uint8_t *staging;  // room for one chunk, packed; nullptr for lengths
};

struct Session {
  uint32_t tag;
  uint32_t max_batch, chunk_steps, max_steps, threads;
  uint32_t parallel_steps;  // calls of fewer steps run on the caller's thread alone
  uint32_t recurrent_isa, xnnpack_count;
  uint32_t xnnpack_refused;
  bool causal;
  bool simple;  // rnnp_run applies: one sequence input, all others optional
  uint32_t simple_input;
  bool single;  // rnnp_step takes the short road: single steps on one thread, one sequence in, one out
  ValueSlot *single_input, *single_output;
  RunEnv single_env;
  const Model *model;
  rnnp_executor executor;
  ValueSlot *values;
  NodeSlot *nodes;
  StateSlot *states;
  Barrier *barriers;
  IoSlot *inputs, *outputs;
  uint8_t *scratch;
  float *sequence_pool, *row_pool;
};

// Options after defaults and platform facts are filled in; checked.
struct SessionConfig {
  const Model *model;
  OpList ops;
  KernelGroups kernels;
  uint32_t max_batch, chunk_steps, layer_chunk_steps, max_steps, threads, parallel_steps, isa, l1d_bytes, l2_bytes;
  XnnUse xnnpack;
  rnnp_executor executor;
};

// Lay a session out in *arena and, unless it is measuring, fill it. *session is null while measuring.
rnnp_status build_session(const SessionConfig &config, Arena *arena, Session **session);

// Bytes of rnnp_state_save for one row.
size_t saved_state_bytes(const Model &m);

// Back to the initial state, one state of one row.
void reset_state(const Session &s, uint32_t state, uint32_t row);

}  // namespace rnnp

struct rnnp_session : rnnp::Session {};

#endif  // RNNPACK_RUNTIME_SESSION_H_
