// loop_models.h -- models with a Loop or a Scan over the steps of a sequence, as exporters write them: bodies of one step, and the
// loops around them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_LOOP_MODELS_H_
#define RNNPACK_TESTS_COMPILER_LOOP_MODELS_H_

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {

constexpr int kIn = 5, kHidden = 6;

// Names a graph's input and its type; a size of -1 stays open.
void add_dims(onnx::ValueInfoProto *info, const std::string &name, int type, const std::vector<int64_t> &dims);

// Operators of one step, h (and c) before to after.
using Body = void (*)(OnnxBuilder *);

void gru_body(OnnxBuilder *b, bool reset_after, bool keep_is_z);
void rnn_body(OnnxBuilder *b);
// Of h and c, to h_next and c_next.
void lstm_body(OnnxBuilder *b);
// A dense layer with a bias for each gate of each operand; `kind`: rnn, a GRU that resets "after" or "before" the product, or
// "after, x from the last gate".
void body_by_gates(OnnxBuilder *b, const std::string &kind);
// One matrix for x and h side by side, in either order; GRU: its candidate's reads x beside r*h.
void joint_body(OnnxBuilder *b, bool gru, bool x_first);
// A GRU as Equinox has it: weights times vectors, or times the columns of transposed rows.
void equinox_body(OnnxBuilder *b, bool vectors);
// No layer: the state decays and takes what is left of x behind a norm.
void decay_body(OnnxBuilder *b);
// An RNN whose state stays as it is where a step's x is nowhere above 0.
void masked_body(OnnxBuilder *b);

// As tf2onnx writes it: the sequence is read at a counter, the condition is computed and never ends the loop early.
onnx::GraphProto loop_graph(OnnxBuilder body);
// 'the_loop' over the steps of X, or one of three trips; from zeros. Backwards: over seven steps, the last one first.
OnnxBuilder with_loop(const onnx::GraphProto &body, bool trips_are_steps = true, bool backwards = false);
onnx::GraphProto scan_graph(OnnxBuilder body, int64_t hidden = kHidden);
// 'the_scan', over the steps of X of three rows, from zeros.
OnnxBuilder with_scan(const onnx::GraphProto &body, int64_t hidden = kHidden);

// 'the_loop' over the seven steps of X of three rows as jax2onnx writes it: weights and the sequence are carried, the body leaves
// the sizes of its operands open and casts floats to float. `vectors`: of one row, without an axis for it.
OnnxBuilder with_carried(OnnxBuilder body, bool vectors = false);

// How many nodes of the operator it compiles to.
size_t count(const OnnxBuilder &b, OpKind op);
// The node that makes the value; nullptr: none.
onnx::NodeProto *node_named(onnx::GraphProto *g, const std::string &output);
// The body of the Loop or Scan of that name; nullptr: none.
onnx::GraphProto *loop_body(OnnxBuilder *b, const std::string &name);

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_LOOP_MODELS_H_
