// session.h -- a session as it lies in the caller's memory.
//
//   [ Session | value slots | node slots | state slots | barriers | row map | node objects ... | states (1 or 2 buffers each) |
//   scratch | pools | staging ]
//
// Where values and states are kept elsewhere (ops/data_memory.h), what comes from `states` on lies there.
// Everything is laid out by build_session (session_build.cpp) from Arenas, measured and placed by the same code; nothing moves
// later. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_SESSION_H_
#define RNNPACK_RUNTIME_SESSION_H_

#include "format/dataflow.h"
#include "ops/op.h"
#include "ops/wavefront_plan.h"
#include "runtime/call_error.h"
#include "runtime/refusal.h"
#include "runtime/tensor_view.h"

struct rnnp_trace;

namespace rnnp {

constexpr uint32_t kSessionTag = 0x73657373u;

// How a user's tensor is reached: in place when it is packed, through a staging buffer when it is strided.
struct IoSlot {
  RNNPACK_BYTES_32(28);
  TensorView view;   // of the call under way
  uint8_t *staging;  // room for one chunk, packed; nullptr for lengths and outputs
  bool held;         // an output in an input's memory: nothing is written there before the chunk's inputs have been read
};

// The buffers that a chunk of steps goes through. All chunks share one; in a wavefront, chunks under way at the same time have
// their own.
struct PipelineSlot {
  RNNPACK_BYTES_32(20);
  ValueSlot *values;
  float *sequence_pool;
  uint32_t pool_steps;    // for which the values are placed in it
  uint32_t staging_step;  // where in the staging buffers it begins
  uint8_t *scratch;
};

// Rows are the caller's numbers, slots are where their states lie now.
struct RowMap {
  uint32_t *slot_of;  // [max_batch]; behind it row_at, its inverse, and seen, the stamp of the call that named a row last
  uint32_t stamp;
};

// Why a single step does not go straight through the nodes: bits of Session::detours.
constexpr uint8_t kRowsMoved = 1, kTraced = 2, kHandOver = 4;

// The steps that nodes hold: the last ones; others, the states having them; others, the states being the initial ones.
enum class Held : uint8_t { kLast, kOthers, kInitial };

struct Session {
  RNNPACK_BYTES_32_BY_THREADS(332, 304);
  uint32_t tag;
  uint32_t max_batch, chunk_steps, max_steps;
  uint32_t region_threads;  // of the executor that a call of many steps runs on
  uint32_t parallel_steps;  // calls of fewer steps run on the caller's thread alone
  uint32_t recurrent_isa, xnnpack_count;
  uint32_t run_input;  // the x of rnnp_run; kNone: the model takes rnnp_run_io
  bool xnnpack_refused, causal;
  bool in_place;         // y may be x
  bool plain_io;         // no input but x, of floats, and no output but y
  uint8_t detours;       // kRowsMoved: not every row is in the slot of its number; kHandOver: see Held; a run of rows changes it
  Held held;             // by nodes of channel-major values
  CallError call_error;  // of the last call
  // A single step goes straight through the nodes, on the caller's thread, with x and y here; nullptr: it is a call like others.
  ValueSlot *step_input, *step_output;
  RunEnv step_env;
  Model model;
  DataMemory *memory;  // nullptr: of the CPU
  rnnp_executor executor;
  NodeSlot *nodes;
  NodeSlot *channel_major_nodes;  // [nodes], of chunks with channel-major values
  NodeSlot *joined_nodes;         // the same, some doing others' work
  uint8_t *channel_major;         // RunEnv::channel_major of such chunks; nullptr: there are none
  StateSlot *states;
  Barrier *barriers, *team_barriers;  // [threads] each; none for one thread
  Barrier *wavefront_barriers;        // [wavefront.stages]
  IoSlot *inputs, *outputs;
  PipelineSlot pipe;    // of everything but the wavefront
  PipelineSlot *slots;  // [wavefront.stages]
  WavefrontPlan wavefront;
  float *row_pool;
  RowMap rows;
  const rnnp_trace *trace;
  // The nodes of a stage, or kEveryNode, on one chunk, by one thread of those that share them.
  void (*run_nodes)(const Session &s, const RunEnv &env, uint32_t stage, uint32_t thread);
};

// Options after defaults and platform facts are filled in; checked.
struct SessionConfig : PlanLimits {  // threads: of the executor, that share a layer: all of them, or 1
  const Model *model;
  OpList ops;
  KernelGroups kernels;
  const Op *channel_major;  // runs nodes where values are channel-major; nullptr: none are
  const BlobCheck *check;   // nullptr: the blob came with the program
  uint32_t max_steps, parallel_steps, isa;
  size_t session_bytes, data_bytes;  // data_bytes: of states, scratch, pools and staging where `memory` keeps them
  DataMemory *memory;
  uint32_t region_threads;  // of the executor that a call of many steps runs on
  WavefrontPlan wavefront;
  XnnUse xnnpack;
  rnnp_executor executor;
};

// Lay a session whose nodes have been checked (session_plan.h) out in *arena and, unless it is measuring, fill it. *session is null
// while measuring. data: of what config.memory keeps; the same as arena where it is nullptr.
rnnp_status build_session(const SessionConfig &config, Arena *arena, Arena *data, Session **session, Refusal *refusal);

// The x of rnnp_run: the only input that must be given, a sequence. kNone where there are more or none.
uint32_t run_input(const Model &m);
// rnnp_run's y may be its x: each step's results take no more room than its inputs, or come once, at the end.
bool runs_in_place(const Model &m);

// Bytes of rnnp_state_save for one row.
size_t saved_state_bytes(const Model &m);
// The work of rnnp_state_reset, _save and _load.
rnnp_status reset_rows(const Session &s, uint32_t row);
rnnp_status save_row(const Session &s, uint32_t row, void *dst, size_t bytes);
rnnp_status load_row(const Session &s, uint32_t row, const void *src, size_t bytes);

// Chunks of a wavefront that are under way at the same time; 0: there is no wavefront.
inline uint32_t wavefront_stages(const WavefrontPlan &wavefront) {
  return kManyThreads ? wavefront.stages : 0;
}

constexpr uint32_t kEveryNode = UINT32_MAX;

// Of a chunk.
inline const NodeSlot *nodes_of(const Session &s, const RunEnv &env) {
  return kManyThreads && env.channel_major != nullptr ? s.channel_major_nodes : s.nodes;
}

inline uint32_t first_node(const Session &s, uint32_t stage) {
  return kManyThreads && stage != kEveryNode ? s.wavefront.first_node[stage] : 0;
}
inline uint32_t end_node(const Session &s, uint32_t stage) {
  return kManyThreads && stage != kEveryNode ? s.wavefront.first_node[stage + 1] : s.model.nodes.count;
}

inline bool is_session(const Session *s) {
  return s != nullptr && s->tag == kSessionTag;
}

// Back to the initial state, one state of one row.
void reset_state(const Session &s, uint32_t state, uint32_t row);

// Where nodes hold steps of their own their states hold them, too, from here on.
void bring_states_up(const Session &s);
// The states have been written.
inline void states_written(Session *s, Held held) {
  if (!kManyThreads) return;
  const bool ends = held == Held::kInitial && s->channel_major != nullptr;  // by a step of rows
  s->detours = static_cast<uint8_t>((s->detours & ~kHandOver) | (ends ? kHandOver : 0));
  s->held = held;
}

// True when `rows` are rows of the session, none twice, and the model lets them run alone.
bool rows_fit(Session *s, const uint32_t *rows, uint32_t count);
// rows[i], or row i where rows is null, comes to lie in slot i.
void arrange_rows(Session *s, const uint32_t *rows, uint32_t count);

}  // namespace rnnp

struct rnnp_session : rnnp::Session {};

#endif  // RNNPACK_RUNTIME_SESSION_H_
