// tflite_sequences.cpp -- the recurrent operators of TensorFlow Lite. State that the file keeps from call to call is the layer's
// own; it starts at zero. Integers of weights stay what they are; c and the gates are computed as floats.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

constexpr int kNoActivation = 0, kReluActivation = 1, kTanhActivation = 4;
constexpr double kUsualClip = 10;  // what TensorFlow's converter writes for layers that cut nothing off

const char *activation_name(int activation) {
  if (activation == kTanhActivation) return "Tanh";
  if (activation == kReluActivation) return "Relu";
  if (activation == kNoActivation) return "Affine";
  throw Refusal("its activation is " + std::to_string(activation) + "; accepted: tanh, relu, none");
}

std::string weight(TfCall &call, size_t i, int64_t rows, int64_t columns) {
  if (call.x(i).shape != std::vector<int64_t>{rows, columns})
    throw Refusal("operand " + std::to_string(i) + " has shape " + shape_text(call.x(i).shape) +
                  "; needed: " + shape_text({rows, columns}));
  if (!call.x(i).is_constant()) throw Refusal("operand " + std::to_string(i) + " is computed; accepted: constant weights");
  return call.real(i);
}

// The gates' matrices, one behind the other. Where the first one, of the input gate, is left out, that gate is 1 less the forget
// gate, whose weights it has with the other sign.
std::string gates(TfCall &call, const std::vector<size_t> &order, int64_t rows, int64_t columns) {
  std::vector<std::string> parts;
  for (const size_t i : order) {
    if (call.has(i) || i != order[0]) {
      parts.push_back(weight(call, i, rows, columns));
      continue;
    }
    weight(call, i + 1, rows, columns);
    std::vector<double> negative = reals_of(call.x(i + 1));
    for (double &v : negative) v = -v;
    parts.push_back(call.floats_constant({rows, columns}, negative, "_coupled"));
  }
  return call.open_node("Concat", parts).with("axis", 0);
}

std::vector<double> vector_of(const TfCall &call, size_t i, int64_t size) {
  if (!call.has(i)) return std::vector<double>(static_cast<size_t>(size), 0.0);
  std::vector<double> out = reals_of(call.x(i));
  if (static_cast<int64_t>(out.size()) != size)
    throw Refusal("operand " + std::to_string(i) + " has " + std::to_string(out.size()) +
                  " numbers; needed: " + std::to_string(size));
  return out;
}

// Where one direction of an LSTM has its operands.
struct LstmPlaces {
  size_t w, r, peephole, bias, projection;
};

struct Direction {
  std::string w, r, b, p;
};

Direction lstm_direction(TfCall &call, const LstmPlaces &at) {
  if (call.has(at.projection) || call.has(at.projection + 1)) throw Refusal("it has a projection; accepted: none");
  const bool coupled = !call.has(at.w);
  if (coupled != !call.has(at.r)) throw Refusal("its input gate is left out in one of its matrices only");
  const int64_t units = call.x(at.r + 1).shape.empty() ? 0 : call.x(at.r + 1).shape[0], depth = call.x(0).shape.back();
  if (units < 1) throw Refusal("its matrices have no rows");
  Direction out;
  const auto places = [](size_t first) { return std::vector<size_t>{first, first + 3, first + 1, first + 2}; };  // i o f c
  out.w = gates(call, places(at.w), units, depth);
  out.r = gates(call, places(at.r), units, units);
  std::vector<double> bias;
  for (const size_t i : places(at.bias)) {
    const bool negate = coupled && i == at.bias;
    for (const double v : vector_of(call, negate ? at.bias + 1 : i, units)) bias.push_back(negate ? -v : v);
  }
  bias.resize(bias.size() * 2, 0.0);
  out.b = call.floats_constant({1, 8 * units}, bias, "_bias");
  if (!call.has(at.peephole + 1) && !call.has(at.peephole + 2)) return out;
  std::vector<double> peepholes;
  for (const size_t k : {size_t{0}, size_t{2}, size_t{1}}) {  // i o f
    const bool negate = coupled && k == 0;
    for (const double v : vector_of(call, at.peephole + (negate ? 1 : k), units)) peepholes.push_back(negate ? -v : v);
  }
  out.p = call.floats_constant({1, 3 * units}, peepholes, "_peepholes");
  return out;
}

// Operands of the layer in ONNX' form, of one direction or two.
std::vector<std::string> joined(TfCall &call, const std::string &x, const std::vector<Direction> &directions) {
  const auto whole = [&](std::string Direction::*part, bool has_axis) {
    std::vector<std::string> names;
    for (const Direction &d : directions)
      names.push_back(has_axis ? d.*part : call.node("Unsqueeze", {d.*part, call.ints_constant({0})}));
    return names.size() == 1 ? names[0] : std::string(call.open_node("Concat", names).with("axis", 0));
  };
  std::vector<std::string> inputs = {x, whole(&Direction::w, false), whole(&Direction::r, false), whole(&Direction::b, true)};
  const bool any = std::any_of(directions.begin(), directions.end(), [](const Direction &d) { return !d.p.empty(); });
  if (!any) return inputs;
  if (std::any_of(directions.begin(), directions.end(), [](const Direction &d) { return d.p.empty(); }))
    throw Refusal("one of its directions has peepholes; accepted: both or none");
  inputs.insert(inputs.end(), {"", "", "", whole(&Direction::p, true)});
  return inputs;
}

std::string time_first(TfCall &call, const std::string &x, bool is_time_major) {
  return is_time_major ? x : call.transposed(x, {1, 0, 2});
}

// [T, D, N, H] to the file's layout, a result a direction or both in one.
void give_directions(TfCall &call, const std::string &y, size_t directions, bool is_time_major, bool is_merged) {
  std::vector<std::string> parts;
  for (size_t d = 0; d < directions; ++d) {
    const std::string at =
        call.graph().context().constants->constant_ints(call.title() + "_direction", {}, {static_cast<int64_t>(d)});
    const std::string one = directions == 1 ? call.node("Squeeze", {y, call.ints_constant({1})})
                                            : std::string(call.open_node("Gather", {y, at}).with("axis", 1));
    parts.push_back(is_time_major ? one : call.transposed(one, {1, 0, 2}));
  }
  if (is_merged) parts = {call.open_node("Concat", parts).with("axis", 2)};
  if (call.op().outputs.size() < parts.size()) throw Refusal("it has fewer results than directions");
  for (size_t i = 0; i < parts.size(); ++i) call.give(parts[i], {1}, 0, i);
}

void check_sequence(const TfCall &call) {
  if (call.rank(0) != 3 || call.x(0).shape[2] < 1)
    throw Refusal("its input has shape " + shape_text(call.x(0).shape) + "; accepted: steps, batch and features");
}

void check_lstm_options(TfCall &call) {
  const int activation = call.options().number<int8_t>(0, 0);
  const double clip = call.options().number<float>(1, 0.0f);
  if (clip != 0 && (clip < kUsualClip || activation != kTanhActivation))
    throw Refusal("its cell is cut off at " + number_text(clip) + "; accepted: nowhere, or with tanh at 10 and more");
  if (clip != 0)
    call.graph().context().notes.insert("the file cuts LSTM cells off at " + number_text(clip) +
                                        ", which the converter adds; this library does not, nor does the model before conversion: "
                                        "results differ from TensorFlow Lite's once a cell goes beyond");
  if (activation != kTanhActivation && activation != kReluActivation)
    throw Refusal("its activation is " + std::to_string(activation) + "; accepted: tanh, relu");
}

void finish_lstm(TfCall &call, const std::vector<Direction> &directions, bool is_time_major, bool is_merged, int64_t units) {
  const std::vector<std::string> inputs = joined(call, time_first(call, call.on_grid(0), is_time_major), directions);
  const std::string y = call.graph().nodes().unused(call.title() + "_y");
  BuiltNode node = call.graph().nodes().node_to("LSTM", inputs, {y});
  node.with("hidden_size", units);
  if (directions.size() == 2) node.with("direction", "bidirectional");
  if (call.options().number<int8_t>(0, 0) == kReluActivation) {
    std::vector<std::string> activations;
    for (size_t d = 0; d < directions.size(); ++d) activations.insert(activations.end(), {"Sigmoid", "Relu", "Relu"});
    node.with("activations", activations);
  }
  give_directions(call, y, directions.size(), is_time_major, is_merged);
}

void sequence_lstm(TfCall &call) {
  check_sequence(call);
  check_lstm_options(call);
  for (size_t i = 20; i < 24; ++i) {
    if (call.has(i)) throw Refusal("it has layer normalization; accepted: none");
  }
  if (call.options().flag(5)) throw Refusal("its recurrent matrices are diagonals; accepted: whole matrices");
  const Direction direction = lstm_direction(call, {1, 5, 9, 12, 16});
  finish_lstm(call, {direction}, call.options().flag(3), false, call.x(6).shape[0]);
}

void bidirectional_lstm(TfCall &call) {
  check_sequence(call);
  check_lstm_options(call);
  for (size_t i = 39; i < 48; ++i) {
    if (call.has(i)) throw Refusal("it has an auxiliary input; accepted: none");
  }
  const std::vector<Direction> directions = {lstm_direction(call, {1, 5, 9, 12, 16}), lstm_direction(call, {18, 22, 26, 29, 33})};
  if (call.x(6).shape[0] != call.x(23).shape[0]) throw Refusal("its directions have other numbers of units");
  finish_lstm(call, directions, call.options().flag(4, true), call.options().flag(3), call.x(6).shape[0]);
}

Direction rnn_direction(TfCall &call, size_t first) {
  const int64_t units = call.x(first).shape.empty() ? 0 : call.x(first).shape[0];
  if (units < 1) throw Refusal("its matrix has no rows");
  Direction out;
  out.w = weight(call, first, units, call.x(0).shape.back());
  out.r = weight(call, first + 1, units, units);
  std::vector<double> bias = vector_of(call, first + 2, units);
  bias.resize(bias.size() * 2, 0.0);
  out.b = call.floats_constant({1, 2 * units}, bias, "_bias");
  return out;
}

void finish_rnn(TfCall &call, const std::vector<Direction> &directions, bool is_merged) {
  const bool is_time_major = call.options().flag(0);
  const std::string name = activation_name(call.options().number<int8_t>(1, 0));
  const std::vector<std::string> inputs = joined(call, time_first(call, call.on_grid(0), is_time_major), directions);
  const std::string y = call.graph().nodes().unused(call.title() + "_y");
  BuiltNode node = call.graph().nodes().node_to("RNN", inputs, {y});
  node.with("hidden_size", call.x(1).shape[0]).with("activations", std::vector<std::string>(directions.size(), name));
  if (name == "Affine") node.with_floats("activation_alpha", std::vector<float>(directions.size(), 1.0f));
  if (directions.size() == 2) node.with("direction", "bidirectional");
  give_directions(call, y, directions.size(), is_time_major, is_merged);
}

void sequence_rnn(TfCall &call) {
  check_sequence(call);
  finish_rnn(call, {rnn_direction(call, 1)}, false);
}

void bidirectional_rnn(TfCall &call) {
  check_sequence(call);
  for (size_t i = 9; i < 12; ++i) {
    if (call.has(i)) throw Refusal("it has an auxiliary input; accepted: none");
  }
  const std::vector<Direction> directions = {rnn_direction(call, 1), rnn_direction(call, 5)};
  if (call.x(1).shape[0] != call.x(5).shape[0]) throw Refusal("its directions have other numbers of units");
  finish_rnn(call, directions, call.options().flag(2));
}

struct SvdfSizes {
  int64_t filters, memory, rank, depth;
};

SvdfSizes svdf_sizes(const TfCall &call) {
  const std::vector<int64_t> &feature = call.x(1).shape, &time = call.x(2).shape;
  const int64_t rank = call.options().number<int32_t>(0, 0), depth = call.rank(0) == 2 ? call.x(0).shape[1] : 0;
  if (feature.size() != 2 || time.size() != 2 || feature[1] != depth || time[0] != feature[0] || rank < 1 || feature[0] < 1 ||
      feature[0] % rank != 0 || time[1] < 1)
    throw Refusal("its operands of shapes " + shape_text(call.x(0).shape) + ", " + shape_text(feature) + " and " +
                  shape_text(time) + " do not fit rank " + std::to_string(rank));
  return {feature[0], time[1], rank, depth};
}

// What the filters make of x, as the state holds it: rounded where the state is of integers. `factor`: what its numbers stand for.
std::string svdf_features(TfCall &call, const SvdfSizes &sizes, double *factor) {
  const bool quantized = call.x(0).is_quantized() && call.x(1).is_quantized() && call.x(4).is_quantized();
  const std::string w = quantized ? call.floats_constant(call.x(1).shape, integers_of(call.x(1)), "_features")
                                  : weight(call, 1, sizes.filters, sizes.depth);
  const std::string x = quantized ? call.graph().steps(call.in(0)) : call.real(0);
  std::string y = call.node("MatMul", {x, call.transposed(w, {1, 0})});
  *factor = 1;
  if (!quantized) return y;
  const TfGrid grid = grid_of(call.x(4));
  *factor = grid.scale;
  const double scale = grid_of(call.x(0)).scale * grid_of(call.x(1)).scale / grid.scale;
  y = call.node("Floor", {call.node("Add", {call.node("Mul", {y, call.graph().number(scale)}), call.graph().number(0.5)})});
  return call.node("Clip", {y, call.graph().number(grid.least), call.graph().number(grid.most)});
}

// One step a call: the last `memory` results of each filter, weighed by time.
void svdf(TfCall &call) {
  const SvdfSizes sizes = svdf_sizes(call);
  const int64_t units = sizes.filters / sizes.rank, batch = call.x(0).shape[0];
  double factor;
  std::string now = call.node("Unsqueeze", {svdf_features(call, sizes, &factor), call.ints_constant({2})});
  if (sizes.memory > 1) {
    const std::string state =
        call.graph().context().state(call.title() + "_state", {batch < 0 ? 1 : batch, sizes.filters, sizes.memory - 1});
    now = call.open_node("Concat", {state, now}).with("axis", 2);
    const std::string next =
        call.node("Slice", {now, call.ints_constant({1}), call.ints_constant({INT64_MAX}), call.ints_constant({2})});
    call.graph().context().set_next(state, next);
  }
  const bool quantized = factor != 1 && call.x(2).is_quantized();
  const std::vector<double> time = quantized ? integers_of(call.x(2)) : reals_of(call.x(2));
  if (quantized) factor *= grid_of(call.x(2)).scale;
  now = call.node("Mul", {now, call.floats_constant({1, sizes.filters, sizes.memory}, time, "_time")});
  std::string y = call.open_node("ReduceSum", {now, call.ints_constant({2})}).with("keepdims", 0);
  if (sizes.rank > 1) {
    y = call.node("Reshape", {y, call.ints_constant({0, units, sizes.rank})});
    y = call.open_node("ReduceSum", {y, call.ints_constant({2})}).with("keepdims", 0);
  }
  if (call.has(3)) {
    std::vector<double> bias = vector_of(call, 3, units);
    for (double &v : bias) v /= factor;
    y = call.node("Add", {y, call.floats_constant({units}, bias, "_bias")});
  }
  call.give(y, {factor}, call.options().number<int8_t>(1, 0));
}

}  // namespace

const std::vector<TfRow> kTfSequences = {
    {"BIDIRECTIONAL_SEQUENCE_LSTM", bidirectional_lstm, 6}, {"BIDIRECTIONAL_SEQUENCE_RNN", bidirectional_rnn, 4}, {"SVDF", svdf, 3},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", sequence_lstm, 6},     {"UNIDIRECTIONAL_SEQUENCE_RNN", sequence_rnn, 3},
};

}  // namespace rnnp::compiler
