// ops_loop.cpp -- the importer's own operators for the steps of a loop (onnx/rewrite.h), and what says no to loops that are left.
// Contract: builder.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/builder.h"
#include "compiler/import/select.h"
#include "compiler/import/steps.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

bool is_time(const Axis &axis) {
  return axis.empty() || (axis.size() == 1 && axis[0].kind == Atom::Kind::kTime);
}

// Of X [steps, batch, ...].
void step_of(OpCall &call) {
  View x = call.view(0);
  if (x.axes.empty()) throw Refusal("it goes over the steps of a number");
  if (call.b.discovering) {
    call.b.origins->mark(x.axes[0], AxisRole::kTime, "a loop runs along it");
    const Axis &second = x.axes.size() > 2 ? x.axes[1] : Axis{};
    if (second.size() == 1 && second[0].origin >= 0 && call.b.origins->role(second[0].origin) == AxisRole::kUnknown)
      call.b.origins->mark(second, AxisRole::kBatch, "it is the second one of what a loop runs along");
  } else if (!is_time(x.axes[0])) {
    throw Refusal("the loop goes over the first axis of " + view_text(x) +
                  "; accepted: over the steps, where they are a whole axis of an input");
  }
  x.axes.erase(x.axes.begin());
  call.give(0, x);
}

void steps_of(OpCall &call) {
  View y = call.view(0);
  const View x = call.view(1);
  if (x.axes.empty()) return;
  y.axes.insert(y.axes.begin(), x.axes[0]);
  call.give(0, y);
}

void last_step(OpCall &call) {
  const View y = call.view(0), x = call.view(1);
  const bool many = !x.axes.empty() && !x.axes[0].empty();
  call.give(0, many && !call.b.discovering && call.b.is_sequence(y) ? call.b.time_step(y, true, call.name) : y);
}

// Y [steps, batch, H] or [steps, H]; the mask has the same first axis, and others that broadcast to Y's. Both may be reversed.
void kept_steps(OpCall &call) {
  View y = call.any_view(0), mask = call.any_view(1);
  int64_t reversed = take_reversal(&y);
  if (const int64_t other = take_reversal(&mask); other != reversed) {
    put_reversal(&y, reversed);
    put_reversal(&mask, other);
    reversed = kInOrder;
  }
  y = settled(call.b, y, call.name);
  mask = settled(call.b, mask, call.name);
  if (mask.axes.empty() || mask.axes.size() > y.axes.size())
    throw Refusal("its mask has axes " + view_text(mask) + "; accepted: one of each step");
  mask.axes.insert(mask.axes.begin() + 1, y.axes.size() - mask.axes.size(), Axis{});
  View out = chosen(call.b, as_mask(mask), y, call.real_view(2), call.name);
  if (reversed != kInOrder) {
    put_reversal(&out, reversed);
    call.b.reversed_by[out.value] = call.name;
  }
  call.give(0, out);
}

bool is_zero(const OpCall &call, const Bound &bound) {
  if (bound.kind == Bound::Kind::kConst)
    return std::all_of(bound.tensor->data.begin(), bound.tensor->data.end(), [](double v) { return v == 0; });
  return call.b.is_zero(bound.view);
}

// The state's rows are the start's.
void join_axes(OpCall &call) {
  const View start = call.view(0), state = call.view(1);
  for (size_t i = 0; i < start.axes.size() && start.axes.size() == state.axes.size(); ++i) {
    const Axis &from = start.axes[i], &to = state.axes[i];
    if (from.size() == 1 && to.size() == 1 && from[0].origin >= 0 && to[0].origin >= 0)
      call.b.origins->unite(from[0].origin, to[0].origin);
  }
}

// An input that a run may bring for the state; kNone for what is made otherwise.
uint32_t start_of_run(OpCall &call) {
  const View start = call.view(0), state = call.view(1);
  const Value &value = call.b.graph.values[start.value];
  const bool fits = value.kind == ValueKind::kInput && value.dtype == DType::kF32 && !value.sequence &&
                    value.elems == call.b.graph.values[state.value].elems && start.axes.size() == state.axes.size();
  return fits && call.b.dense(start, call.name).value == start.value ? start.value : kNone;
}

// The constant as a row of the state, where it is the same for all rows of the batch; else empty.
std::vector<float> constant_row(OpCall &call) {
  View start = call.view(0);
  const View state = call.view(1);
  const Value &value = call.b.graph.values[start.value];
  if (value.kind != ValueKind::kConst || start.axes.size() > state.axes.size()) return {};
  start.axes.insert(start.axes.begin(), state.axes.size() - start.axes.size(), Axis{});
  for (size_t i = 0; i < start.axes.size(); ++i) {
    call.b.spread_constant(&start, i, state.axes[i]);
    if (axis_size(start.axes[i]) != 1 && axis_size(start.axes[i]) != axis_size(state.axes[i])) return {};
    if (axis_is_features(state.axes[i]) != axis_is_features(start.axes[i]) && axis_size(start.axes[i]) != 1) return {};
  }
  const View all = expand_view(start, state.axes);
  Budget::charge_elements(feature_count(all));
  std::vector<float> row;
  for (const int64_t place : places(features_of(all), all.first)) row.push_back(value.f32[static_cast<size_t>(place)]);
  return row;
}

// A layer starts from anything; a state that the library keeps for other operators starts at constants or from an input.
void starts_at(OpCall &call) {
  const Bound &bound = call.input(0);
  if (is_zero(call, bound)) return;
  const bool computed = bound.kind != Bound::Kind::kConst;
  if (call.b.discovering) {
    if (computed) join_axes(call);
    return;
  }
  const uint32_t state = call.view(1).value;
  std::vector<float> row = constant_row(call);
  if (row.size() == call.b.graph.values[state].elems) {
    call.b.graph.initial_rows.emplace(state, std::move(row));
    return;
  }
  const uint32_t start = computed ? start_of_run(call) : kNone;
  if (start == kNone)
    throw Refusal("the Loop carries a state that starts from " + quote(call.node.input(0)) +
                      ", which is neither a constant, the same for all rows, nor an input as it is, through a body that is no "
                      "LSTM, GRU or RNN cell; accepted: those, or such a cell. Exporting one step of the model with its state as "
                      "input and output, and --state INPUT=OUTPUT, does without the Loop",
                  {call.b.loop_sizes, ""});
  call.b.graph.starts.emplace(state, start);
}

void trips_of(OpCall &call) {
  const View x = call.any_view(1);
  if (x.axes.empty() || call.b.discovering) return;
  const bool known = call.is_const(0) && call.sizes(0, "M").size() == 1;
  if (!known || call.sizes(0, "M").dim(0) != call.b.dim_of(x.axes[0]))
    throw Refusal("the Loop makes " + (known ? call.sizes(0, "M").dim(0).text() + " trips" : std::string("a number of trips")) +
                  " that is not the number of steps of the sequence it reads; accepted: all its steps");
}

void loop(OpCall &) {
  throw Refusal(
      "it is a loop that does not go over the steps of one sequence from the first to the last; accepted: a body that reads step i "
      "of its "
      "sequences, computes with i no further, ends with the last step, and carries states. Export the model with layers (tf.keras: "
      "unroll=False and use_cudnn='auto' keep LSTM a layer), or one step of it with its state as input and output");
}

}  // namespace

const std::vector<ImportRow> kImportLoop = {
    {kStepOf, step_of, ""},
    {kStepsOf, steps_of, ""},
    {kLastStep, last_step, ""},
    {kStartsAt, starts_at, ""},
    {kTripsOf, trips_of, ""},
    {kKeptSteps, kept_steps, ""},
    {"Loop", loop,
     "over the steps of sequences: an LSTM, GRU or RNN cell becomes that layer; any other body runs at every step; fixed steps are "
     "written out where states cannot last or no sequence is read"},
    {"Scan", loop, "as Loop; along the first axis, from either end", 9},
};

}  // namespace rnnp::compiler
