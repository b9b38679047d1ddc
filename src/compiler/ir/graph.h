// graph.h -- the compiler's own graph: values and nodes as the blob has them, weights still in ONNX's order and layout.
// Everything later (passes, memory, emission) works on this; nothing here knows ONNX names or axes any more, but for view.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_GRAPH_H_
#define RNNPACK_COMPILER_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/storage.h"
#include "format/blob.h"

namespace rnnp::compiler {

// elems: of one row. sequence: one row per step. kConst holds f32 or i32; kInput says which input it is.
struct Value {
  ValueKind kind = ValueKind::kSequence;
  DType dtype = DType::kF32;
  uint32_t elems = 0;
  bool sequence = false;
  bool early = false;  // kRow: made from row inputs and constants alone, so that the first chunk of a run can make it
  std::vector<float> f32;
  std::vector<int32_t> i32;
  uint32_t input = kNone;
};

// Empty data: zeros. per_row: [fixed_batch][hidden], else [hidden] for every row.
struct StateInit {
  std::vector<float> data;
  bool per_row = false;
};

// The norms of a kLstmNorm: AttrNormRecurrent. h_scale is empty where one norm is of W x + R h.
struct CellNorms {
  std::vector<float> x_scale, h_scale, bias, c_scale, c_bias;
  float epsilons[3] = {};  // of x, h, c
};

// W [gates*H][I], R [gates*H][H], bias [gates][H], r_bias [H] (kGruLinear) or [gates][H] (kLstmNorm, or empty), peephole [3][H] i o
// f or empty.
struct Direction {
  std::vector<float> w, r, bias, r_bias, peephole;
  CellNorms norms;
  Storage w_storage, r_storage;
  StateInit init_h, init_c;
  BlobStrided given_h = {0, 1}, given_c = {0, 1};  // within a row of the run-time initial state
  BlobActivation act[3] = {};
  bool reverse = false;
  uint32_t c_bits = 0;  // of an integer-only layer: c's fraction bits

  bool is_integer_only() const { return w_storage.fixed && r_storage.fixed; }
};

struct Recurrent {
  Cell cell = Cell::kRnn;
  uint32_t input_size = 0, hidden_size = 0;  // x has an element more where `masked`: kMaskedSteps
  float clip = 0;
  bool input_forget = false, masked = false;
  bool norm_by_gate = false, keeps_c = false;  // kLstmNorm
  std::vector<Direction> directions;
};

// A layer over a feature axis: AttrFeatureRecurrent.
struct FeatureRecurrent {
  Recurrent layer;
  uint32_t steps = 1, rows = 1;
};

// y = act(x w^T + bias), w [matrices][out][in], bias empty or [matrices][out]. See AttrDense for groups and matrices.
struct Dense {
  uint32_t input_size = 0, output_size = 0, groups = 1, matrices = 1;
  std::vector<float> w, bias;
  Storage storage;
  BlobActivation act = {};
};

// AttrNorm with its parameters: scale and bias are empty or have one number per element, or per outer index with per_outer.
struct Norm {
  uint32_t outer = 1, elems = 1;
  bool centred = true, per_outer = false;
  float epsilon = 0;
  std::vector<float> scale, bias;
};

// A state that the library keeps from step to step, for kStateRead and kStateWrite: an index in Graph::states. loop_nodes:
// AttrLoop.
struct StateRef {
  uint32_t state = 0;
  uint32_t loop_nodes = 0;
};
// of_caller: a pair of the file's inputs and outputs, as the caller named it, else one that the file's own nodes go round.
struct PersistentState {
  std::string name;
  uint32_t elems = 0;
  bool of_caller = false;
  std::vector<float> init = {};  // empty: zeros
};

// AttrConv, whose matrix, bias and state the blob's writer fills in. w: [out][time][h][w][in], over
// all groups' outputs and one group's inputs; bias empty or [out].
struct Conv {
  AttrConv shape = {};
  std::vector<float> w, bias;
  Storage storage;
  bool winograd = false;  // written as the points of F(2x2, 3x3) or F(2, 3) (emit/winograd_choice.h)

  uint32_t outputs() const { return shape.groups * shape.out_channels; }
  uint32_t depth() const { return shape.time_taps * shape.window.kernel[0] * shape.window.kernel[1] * shape.in_channels; }
  bool reads_ahead() const { return int64_t{shape.time_taps - 1} * shape.time_dilation > shape.lead; }
  // Runs as depthwise: each channel by itself, and x's channels lie side by side.
  bool is_depthwise() const {
    return shape.groups > 1 && shape.in_channels == 1 && shape.out_channels == 1 && shape.window.x_stride[2] == 1;
  }
};

// y = rows of the table [rows][elems], `count` of them.
struct Gather {
  uint32_t rows = 0, elems = 0, count = 0;
  std::vector<float> table;
};

using Attr = std::variant<Recurrent, FeatureRecurrent, Dense, Gather, AttrUnary, AttrBinary, AttrSoftmax, AttrCopy, AttrTimeStep,
                          AttrReduce, Norm, AttrWhere, AttrMatMul, AttrTimeReduce, AttrTimeReverse, StateRef, Conv, AttrPool>;

struct Node {
  OpKind op;
  std::string name;
  std::vector<uint32_t> in, out;  // value indices or kNone
  Attr attr;
};

// The layer of a recurrent node, over time or over a feature axis; nullptr of any other node.
Recurrent *layer_of(Node *node);
const Recurrent *layer_of(const Node &node);

// Numbers that the node itself holds: weights, tables, initial states.
uint64_t stored_elements(const Node &node);

// The node's matrices and tables, by far the most of what it holds.
std::vector<std::vector<float> *> large_lists_of(Node *node);

struct Io {
  std::string name;
  uint32_t value = kNone;
  uint32_t role = 0;          // RNNP_ROLE_*
  std::vector<int32_t> dims;  // RNNP_DIM_STEPS, RNNP_DIM_BATCH or a constant
  uint32_t limit = 0;         // of indices; 0: none
};

// Runs of fewer steps than `fewest` have nothing where a node takes a part of the steps, and the blob has one step there all the
// same.
struct ShortRuns {
  int64_t fewest = 1;
  std::string refusal;  // of the node that wants most, for files that go on with nothing
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Io> inputs, outputs;
  std::vector<Io> unread;  // the file's lengths and indices that nothing reads any more: no inputs of the blob
  std::vector<PersistentState> states;
  // Of loops' states, until bind_states(): the value of a state -> of the input it starts from.
  std::map<uint32_t, uint32_t> starts;
  std::map<uint32_t, std::vector<float>> initial_rows;  // ... -> the constant row that it starts from
  uint32_t fixed_batch = 0;
  uint32_t stream_steps = 0;  // 0, or the steps of one call that it is compiled for
  bool causal = true;
  std::string looks_ahead;  // why the graph is not causal: the first node that looks ahead, by name; empty when it is
  std::string no_state;     // why its states cannot be kept from step to step; empty when they can
  std::string axes;         // which axes of the file are time and batch, and why
  ShortRuns short_runs;
  std::vector<std::pair<std::string, std::string>> metadata;  // no part of the model id
  std::vector<std::string> notes;                             // what the user should know: generalised or shared dimensions

  uint32_t add_value(Value value);
  uint32_t add_const(std::vector<float> data);
  // A value made at run time.
  uint32_t add_row(uint32_t elems, bool sequence);
};

// A copy to try something with that looks at no weights; the graph is unchanged.
Graph without_weights(Graph *graph);

inline uint32_t gate_count(Cell cell) {
  return cell == Cell::kRnn ? 1 : has_c(cell) ? 4 : 3;
}

// True for activations that other nodes than unary ones may carry.
inline bool has_kernel(const BlobActivation &act) {
  return act.act <= static_cast<uint32_t>(kLastKernelAct);
}

constexpr uint32_t kMaxRowElems = 1u << 28;

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_GRAPH_H_
