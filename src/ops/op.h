// op.h -- what an operator is to the runtime: build once at session init, run per chunk of steps.
// Room: operators see base, format, pack, kernels; the runtime sees operators through this page only.
// check is asked before anything else of a node, so that a hostile blob fails there; all that follows trusts what it accepted.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_OP_H_
#define RNNPACK_OPS_OP_H_

#include "base/arena.h"
#include "base/bytes.h"
#include "format/model.h"
#include "kernels/gemm_families.h"
#include "ops/barrier.h"
#include "ops/data_memory.h"
#include "ops/node_costs.h"

#define RNNPACK_REGISTRY_NO_OBJECTS 1  // the objects are known here by their full types
#include "rnnpack/registry.h"

namespace rnnp {

// Where a value's rows are, now. Rows are packed: row r at data + r * row_bytes; a constant has row_bytes 0.
struct ValueSlot {
  RNNPACK_BYTES_32(8);
  void *data;  // nullptr: an input or output the caller left out
  size_t row_bytes;
};

// A state of all rows: two buffers, of which `live` is the current one. Rows are row_elems floats apart (padded to whole tiles).
struct StateSlot {
  RNNPACK_BYTES_32(20);
  float *buffer[2];  // the same where the state has one
  uint32_t live;
  uint32_t elems;      // valid ones
  uint32_t row_elems;  // stride
};

// Which operators XNNPACK is asked to take: measured, our kernels are the faster wherever a vector row of theirs runs
// (docs/PERFORMANCE.md), so by default it helps out only on CPUs for which we have the reference alone.
enum class XnnUse { kNever, kWhereFaster, kAlways };

// What decides which operator runs a node.
struct OpChoice {
  const Model *model;
  const KernelGroups *kernels;
  uint32_t isa;  // RNNP_ISA_* bits that may be used
  XnnUse xnnpack;
};

// What the session was asked for and found out, fixed at init.
struct BuildEnv : OpChoice, PlanLimits {
  Arena *arena;            // the node's own memory
  DataMemory *memory;      // nullptr: values and states are memory of the CPU
  size_t scratch_bytes;    // out: most scratch any node wants (shared by all nodes)
  uint32_t recurrent_isa;  // out: isa bit of the recurrent kernels chosen
};

// The second half of init: everything is placed, scratch can be used.
struct FinishEnv {
  const Model *model;
  ValueSlot *values;  // slots stay where they are; data of inputs and outputs changes per run
  StateSlot *states;
  uint32_t max_batch;
  uint32_t threads;        // of single steps
  void *scratch;           // BuildEnv::scratch_bytes of it
  uint32_t xnnpack_count;  // out: nodes that XNNPACK took
  bool xnnpack_refused;    // out: XNNPACK's allocator is someone else's
};

// One chunk of a run, or one step of it for a loop's nodes. The same object is seen by all threads and does not change while nodes
// run.
struct RunEnv {
  const Model *model;
  ValueSlot *values;
  StateSlot *states;
  uint8_t *scratch;
  Barrier *barriers;       // [threads], of all threads
  Barrier *team_barriers;  // [threads], of the two teams that run a layer's directions, the first threads / 2 being one
  const int32_t *lengths;  // of the whole run, [batch], or nullptr
  size_t first_step;       // of this chunk within the run
  uint32_t steps;          // in this chunk
  uint32_t batch;          // rows that run
  uint32_t max_batch;
  uint32_t threads;
  bool first_chunk, last_chunk;
  // [values]: those marked are channel-major, [element][step]; nullptr: none is. One row runs then, on one thread, to no lengths.
  const uint8_t *channel_major;
};

// One step of all rows on one thread, with everything decided at init but the slots' data.
using StepFn = void (*)(void *object);

struct Op;
struct ChannelMajorOp;

// How a loop's nodes run: run(what, env, i) for node i, by every thread; it ends with a barrier.
struct LoopNodes {
  const void *what;
  void (*run)(const void *what, const RunEnv &env, uint32_t node);
  uint32_t first;
};

// Of an operator whose nodes may begin a loop: nodes that run step by step within a chunk (ops/loop.h).
struct LoopOp {
  // Nodes of the loop that the node begins, it being the first; 0: it begins none.
  uint32_t (*nodes)(const Model &m, const BlobNode &node);
  // All of them on a chunk, in the place of Op::run.
  void (*run)(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread, const LoopNodes &nodes);
};

// A node of a session.
struct NodeSlot {
  RNNPACK_BYTES_32(16);
  const Op *op;  // nullptr: a node before it does its work
  const BlobNode *node;
  void *object;
  StepFn step;  // nullptr: run serves single steps
};

struct Op {
  OpKind kind;
  // True when the node is this operator's and not another's of its kind; nullptr: every node of the kind is. The attributes have
  // not been checked yet.
  bool (*accepts)(const OpChoice &choice, const BlobNode &node);
  // Everything about the node: attributes, values, states, weights. nullptr: only for the blob that came with the registry.
  rnnp_status (*check)(const Model &m, const BlobNode &node);
  // nullptr: a few operations for each element of the result.
  NodeCosts (*costs)(const Model &m, const BlobNode &node);
  // Reserve memory from env->arena and, unless it is measuring, fill it. *object is what run gets.
  rnnp_status (*build)(BuildEnv *env, const BlobNode &node, void **object);
  // nullptr, or called once after all nodes are built and placed. Returns the node's fast path for single steps, or nullptr:
  // then run serves them too.
  StepFn (*finish)(FinishEnv *env, const BlobNode &node, void *object);
  // Run the node on one chunk. Called by every thread of the team; the runtime puts a barrier after each node.
  void (*run)(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread);
  // Whether the node may be run where values are channel-major; nullptr: none may. Asked after check and accepts.
  bool (*takes_channel_major)(const OpChoice &choice, const BlobNode &node) = nullptr;
  // Of an operator that runs nodes there alone, in the place of another of the kind (channel_major.h), and so accepts none in rows;
  // else nullptr.
  const ChannelMajorOp *channel_major = nullptr;
  const LoopOp *loop = nullptr;  // of an operator whose nodes may begin loops
};

// The operator without its check: for nodes of a blob that is part of the program.
constexpr Op unchecked(Op op) {
  op.check = nullptr;
  return op;
}

// rnnp_op_NAME and rnnp_op_NAME_unchecked. An initialiser in braces.
#define RNNPACK_OP(name, ...)                     \
  const Op rnnp_op_##name = __VA_ARGS__;          \
  extern "C" const Op rnnp_op_##name##_unchecked; \
  const Op rnnp_op_##name##_unchecked = unchecked(__VA_ARGS__)

// A list of operators; the first that accepts a node runs it.
struct OpList {
  const Op *const *ops;
  uint32_t count;
};

// C names, so that a registry in a C file can name them (rnnpack/registry.h).
extern "C" {
#define RNNPACK_DECLARE_OP(name) extern const Op rnnp_op_##name;
RNNP_FOR_EACH_OP(RNNPACK_DECLARE_OP)
#undef RNNPACK_DECLARE_OP
extern const Op rnnp_op_xnn_dense, rnnp_op_xnn_softmax, rnnp_op_xnn_unary;  // ops/xnnpack, where it is built in
}

// --- Helpers that every operator uses ---------------------------------------------------------------------------------------

// Rows of a value in this chunk: one per step and batch row, or one per batch row.
inline size_t chunk_rows(const RunEnv &env, uint32_t value) {
  return env.model->values[value].sequence ? size_t{env.steps} * env.batch : env.batch;
}

// build of an operator that needs nothing but its attributes: the object is a pointer to them.
template <class Attr>
rnnp_status keep_attr(BuildEnv *env, const BlobNode &node, void **object) {
  const Attr **kept = env->arena->take<const Attr *>(1);
  *object = static_cast<void *>(kept);
  if (kept != nullptr) *kept = env->model->attr<Attr>(node);
  return RNNP_OK;
}

// True when the node's work belongs to this chunk: per-step results always, per-run results in the first chunk when they are early,
// else in the last.
inline bool runs_in_chunk(const RunEnv &env, uint32_t output) {
  const BlobValue &v = env.model->values[output];
  return v.sequence || (v.early ? env.first_chunk : env.last_chunk);
}

// [*begin, *end): the part of 0..count-1 that `thread` of `threads` owns; contiguous, sizes differ by at most one. threads > 0.
inline void split_range(size_t count, uint32_t threads, uint32_t thread, size_t *begin, size_t *end) {
  if (!kManyThreads) threads = 1, thread = 0;
  if (threads == 0) __builtin_unreachable();
  const size_t share = count / threads, extra = count % threads;
  *begin = share * thread + (thread < extra ? thread : extra);
  *end = *begin + share + (thread < extra ? 1 : 0);
}

// The kernel of a family for panels of a format.
inline const Kernel *find_panel_kernel(const OpChoice &choice, KernelFamily family, const PanelFormat &format) {
  return find_kernel(*choice.kernels, family, format.weight, format.nr, choice.isa);
}

// The product with panels of a format and so many gates, floats being what it makes.
inline const Kernel *find_gemm(const OpChoice &choice, const PanelFormat &format, uint32_t gates) {
  if (is_fixed_point(format)) return nullptr;
  return find_panel_kernel(choice, gemm_family(format, gates), format);
}

// The kernel for an activation. A registry may bring the plain ones alone.
inline const Kernel *find_act(const OpChoice &env, const BlobActivation &a) {
  const Kernel *all = find_kernel(*env.kernels, KernelFamily::kAct, DType::kF32, 0, env.isa);
  const bool plain = a.act == uint32_t(Act::kIdentity) || a.act == uint32_t(Act::kRelu) || a.act == uint32_t(Act::kTanh) ||
                     a.act == uint32_t(Act::kSigmoid);
  return all == nullptr && plain ? find_kernel(*env.kernels, KernelFamily::kActPlain, DType::kF32, 0, env.isa) : all;
}

// The kernel for an activation behind a sum, nullptr where it is the identity. False: no kernel of the machine has it.
inline bool find_act_behind(const OpChoice &env, const BlobActivation &a, ActFn *act) {
  *act = nullptr;
  if (a.act == uint32_t(Act::kIdentity)) return true;
  const Kernel *kernel = find_act(env, a);
  if (kernel == nullptr) return false;
  *act = kernel->act;
  return true;
}

inline float *row_of(const ValueSlot &v, size_t row) {
  return view_as<float>(static_cast<uint8_t *>(v.data) + row * v.row_bytes);
}

// The row of an operand for a row of y: one that comes once per run is there for every step.
inline const float *operand_row(const RunEnv &env, uint32_t operand, uint32_t y, size_t row) {
  const bool repeats = env.model->values[operand].sequence != env.model->values[y].sequence;
  return row_of(env.values[operand], repeats ? row % env.batch : row);
}

// An f32 value that exists, with `elems` features; any value (0) when elems is 0.
inline bool is_f32_value(const Model &m, uint32_t value, uint32_t elems) {
  return value < m.values.count && m.values[value].dtype == uint32_t(DType::kF32) &&
         (elems == 0 || m.values[value].row_elems == elems);
}

// A state of one buffer, of so many floats and, behind them, so many words.
inline bool is_persistent_state(const Model &m, uint32_t state, uint64_t floats, uint32_t words) {
  if (state >= m.states.count) return false;
  const BlobState &s = m.states[state];
  return s.buffers == 1 && s.words == words && s.elems == floats + words;
}

inline bool is_const(const Model &m, uint32_t value) {
  return ValueKind(m.values[value].kind) == ValueKind::kConst;
}

// One operand, and a result of its shape, both f32.
inline bool is_elementwise(const Model &m, const BlobNode &node) {
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  return is_f32_value(m, y, 0) && is_f32_value(m, x, m.values[y].row_elems) && m.values[x].sequence == m.values[y].sequence &&
         !is_const(m, x);
}

// A model input that says where each row ends.
inline bool is_lengths_input(const Model &m, uint32_t value) {
  const BlobValue &v = m.values[value];
  return ValueKind(v.kind) == ValueKind::kInput && m.inputs[v.location].role == RNNP_ROLE_LENGTHS;
}

// Steps of this chunk of a batch row that are valid, by the call's lengths.
inline uint32_t live_steps(const RunEnv &env, size_t batch_row) {
  if (env.lengths == nullptr) return env.steps;
  const size_t length = static_cast<size_t>(env.lengths[batch_row]);
  if (length <= env.first_step) return 0;
  return length - env.first_step < env.steps ? static_cast<uint32_t>(length - env.first_step) : env.steps;
}

inline bool is_channel_major(const RunEnv &env, uint32_t value) {
  return kManyThreads && env.channel_major != nullptr && env.channel_major[value] != 0;
}

// The live floats of a state's row.
inline float *kept_row(const RunEnv &env, uint32_t state, size_t row) {
  const StateSlot &s = env.states[state];
  return s.buffer[s.live] + row * s.row_elems;
}

// A kStateRead begins in every run as after a reset: of a model that is not causal, where no input starts it.
inline bool begins_anew(const Model &m, const BlobNode &read) {
  return (m.header->flags & kBlobCausal) == 0 && m.node_input(read, 0) == kNone;
}

// A word among a state's floats: never read or written as a float.
inline uint32_t read_word(const float *at) {
  uint32_t word;
  copy_bytes(&word, at, sizeof word);
  return word;
}
inline void write_word(float *at, uint32_t word) {
  copy_bytes(at, &word, sizeof word);
}

// The call's lengths, else those of the node's own operand, if it has one.
inline const int32_t *row_lengths(const RunEnv &env, uint32_t value) {
  if (env.lengths != nullptr || value == kNone) return env.lengths;
  return static_cast<const int32_t *>(env.values[value].data);
}

// A once-per-run operand may feed a per-step result only if it is ready in the first chunk: constants, row inputs and early rows.
inline bool operand_is_ready(const Model &m, uint32_t operand, uint32_t output) {
  const BlobValue &a = m.values[operand];
  return a.sequence == m.values[output].sequence || a.early || is_const(m, operand) || ValueKind(a.kind) == ValueKind::kInput ||
         !(m.header->flags & kBlobCausal);
}

// An f32 operand of y, of any width.
inline bool is_f32_operand(const Model &m, uint32_t operand, uint32_t y) {
  return is_f32_value(m, operand, 0) && operand_is_ready(m, operand, y) && (!m.values[operand].sequence || m.values[y].sequence);
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_OP_H_
