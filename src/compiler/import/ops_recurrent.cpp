// ops_recurrent.cpp -- RNN, GRU and LSTM with every attribute of opset 7 to 22. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "compiler/import/builder.h"
#include "compiler/import/steps.h"
#include "compiler/onnx/activation.h"

namespace rnnp::compiler {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

BlobActivation blob_activation(const Activation &f) {
  return {static_cast<uint32_t>(f.act), static_cast<float>(f.alpha), static_cast<float>(f.beta)};
}

std::vector<float> floats(const Tensor &t, int64_t first, int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>(t.data[static_cast<size_t>(first + i)]));
  return out;
}

class RecurrentImport {
 public:
  RecurrentImport(OpCall &call, Cell cell, std::vector<Act> defaults) : call_(call), b_(call.b), defaults_(std::move(defaults)) {
    cell_.cell = cell;
  }

  void run() {
    if (b_.discovering) mark_axes();
    read_attributes();
    const View x = read_x();
    if (b_.discovering) return discover(x);
    read_weights();
    if (is_inner(x)) return run_inner(x);
    node_ = {OpKind::kRecurrent, call_.name, {}, {}, {}};
    node_.in.push_back(x_value(x));
    const uint32_t h = read_state(kInitialH, "initial_h"), c = is_lstm() ? read_state(kInitialC, "initial_c") : kNone;
    const uint32_t lengths = read_lengths();
    check_turn(lengths);
    if (turned_ != kInOrder) time_[0].turned = turned_;
    node_.in.insert(node_.in.end(), {h, c, lengths});
    for (size_t i = 0; i < 3; ++i) node_.out.push_back(kNone);
    give_outputs();
    node_.attr = std::move(cell_);
    b_.graph.nodes.push_back(std::move(node_));
  }

 private:
  bool is_lstm() const { return cell_.cell == Cell::kLstm; }
  int64_t hidden() const { return cell_.hidden_size; }
  int64_t gates() const { return gate_count(cell_.cell); }

  void read_attributes() {
    const Attributes &a = call_.attributes;
    const std::string direction = a.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      throw Refusal("attribute 'direction' is " + quote(direction) + "; accepted: forward, reverse, bidirectional");
    }
    cell_.directions.resize(direction == "bidirectional" ? 2 : 1);
    cell_.directions.back().reverse = direction != "forward";
    batch_first_ = choice("layout") != 0;
    cell_.input_forget = is_lstm() && choice("input_forget") != 0;
    if (gates() == 3 && choice("linear_before_reset") != 0) cell_.cell = Cell::kGruLinear;
    cell_.clip = std::max(0.0f, static_cast<float>(a.real("clip", 0)));
    const auto acts = recurrent_activations(a, defaults_, directions());
    for (size_t i = 0; i < acts.size(); ++i) {
      cell_.directions[i / defaults_.size()].act[i % defaults_.size()] = blob_activation(acts[i]);
    }
  }

  int64_t choice(const char *name) const {
    const int64_t value = call_.attributes.integer(name, 0);
    if (value == 0 || value == 1) return value;
    throw Refusal("attribute '" + std::string(name) + "' is " + std::to_string(value) + "; accepted: 0 or 1");
  }

  size_t directions() const { return cell_.directions.size(); }

  View read_x() {
    const View x = x_in_order();
    if (x.axes.size() != 3) throw Refusal("X has rank " + std::to_string(x.axes.size()) + "; accepted: 3");
    for (const Atom &atom : x.axes[2]) {
      if (atom.origin >= 0 && b_.origins->dynamic(atom.origin))
        throw Refusal("the feature axis of X is dynamic; accepted: a fixed size");
    }
    check_weights_are_constant();
    const Tensor &w = call_.constant(kW, "W"), &r = call_.constant(kR, "R");
    const int64_t default_hidden = r.rank() == 3 ? r.shape[2] : 0;
    const int64_t hidden = call_.attributes.integer("hidden_size", default_hidden);
    if (hidden < 1 || hidden > int64_t{1} << 20) {
      throw Refusal("attribute 'hidden_size' is " + std::to_string(hidden) + "; accepted: 1 to " + std::to_string(1 << 20));
    }
    cell_.hidden_size = static_cast<uint32_t>(hidden);
    const int64_t inputs = axis_size(x.axes[2]), count = static_cast<int64_t>(directions());
    expect(w, "W", {count, gates() * hidden, inputs});
    expect(r, "R", {count, gates() * hidden, hidden});
    if (call_.has(kB)) expect(call_.constant(kB, "B"), "B", {count, 2 * gates() * hidden});
    if (is_lstm() && call_.has(kP)) expect(call_.constant(kP, "P"), "P", {count, 3 * hidden});
    cell_.input_size = static_cast<uint32_t>(inputs);
    x_step_ = x.known_step();
    return x;
  }

  // Steps that lie the other way round are read in order, in the other direction.
  View x_in_order() {
    View x = call_.any_view(kX);
    turned_ = take_turn(&x);
    if (turned_ == kInOrder) return call_.real_view(kX);
    if (directions() == 2) throw Refusal("it runs in both directions over steps that are turned round; accepted: steps in order");
    const Value &value = b_.graph.values[x.value];
    if (value.dtype != DType::kF32 || x.mask || x.whole) throw Refusal("X is an integer or bool tensor; accepted: float");
    cell_.directions[0].reverse = !cell_.directions[0].reverse;
    turned_by_ = b_.turned_by[x.value];
    return settled(b_, x);
  }

  // Of each row as many steps as were turned round.
  void check_turn(uint32_t lengths) const {
    const uint32_t turned = turned_ == kAllTurned ? kNone : static_cast<uint32_t>(turned_);
    if (turned_ == kInOrder || lengths == turned) return;
    throw Refusal(std::string("its steps are turned round ") +
                  (turned == kNone ? "as a whole" : "row by row, to lengths of an input") +
                  ", and its sequence_lens are others; accepted: the same");
  }

  // Inputs that hold weights: all of them in one message, with what makes them constants.
  void check_weights_are_constant() const {
    std::string list, flags;
    int many = 0;
    for (const auto &weight : {std::pair<size_t, const char *>{kW, "W"}, {kR, "R"}, {kB, "B"}, {kP, "P"}}) {
      if (!call_.has(weight.first) || call_.is_const(weight.first)) continue;
      const std::string &name = call_.node.input(static_cast<int>(weight.first));
      if (b_.graph.values[call_.input(weight.first).view.value].kind != ValueKind::kInput) continue;
      list += (list.empty() ? "" : ", ") + std::string(weight.second) + " (" + quote(name) + ")";
      flags += " --set " + name + "=" + name + ".npy";
      ++many;
    }
    if (many != 0)
      throw Refusal(list + (many == 1 ? " is a graph input" : " are graph inputs") +
                    "; accepted: an initializer or a constant, which" + flags + " makes of it");
  }

  static void expect(const Tensor &t, const char *name, const Shape &shape) {
    if (t.shape != shape)
      throw Refusal(std::string(name) + " has shape " + shape_text(t.shape) + "; accepted: " + shape_text(shape));
    if (t.is_dynamic()) throw Refusal(std::string(name) + " depends on the number of steps or batch rows");
    if (t.elem != Elem::kFloat) throw Refusal(std::string(name) + " is not of a float type");
  }

  size_t time_axis() const { return batch_first_ ? 1 : 0; }
  size_t batch_axis() const { return batch_first_ ? 0 : 1; }
  size_t state_batch_axis() const { return batch_first_ ? 0 : 1; }

  // First reading: which axes are time and batch, even when the node is refused later.
  void mark_axes() {
    batch_first_ = call_.attributes.integer("layout", 0) != 0;
    const View x = call_.real_view(kX);
    if (x.axes.size() != 3) return;
    b_.origins->add_layer(x.axes[time_axis()], x.axes[batch_axis()], call_.attributes.text("direction", "forward") != "forward");
    for (size_t i : {size_t{kLengths}, size_t{kInitialH}, size_t{kInitialC}}) {
      if (!call_.has(i) || call_.is_const(i) || (i == kInitialC && !is_lstm())) continue;
      if (b_.step_counts.count(call_.input(i).view.value) != 0) continue;
      const View state = call_.view(i);
      const size_t axis = i == kLengths ? 0 : state_batch_axis();
      if (axis < state.axes.size())
        b_.origins->mark(state.axes[axis], AxisRole::kBatch, "it is the batch of recurrent layers' states");
    }
  }

  // First reading: a node that shows who reads which state, and outputs of the right shape.
  void discover(const View &x) {
    node_ = {OpKind::kRecurrent, call_.name, {x.value, kNone, kNone, kNone}, {}, {}};
    for (size_t i : {size_t{kInitialH}, size_t{kInitialC}, size_t{kLengths}}) {
      if (call_.has(i) && !call_.is_const(i) && (i != kInitialC || is_lstm()) &&
          b_.step_counts.count(call_.input(i).view.value) == 0)
        node_.in[i == kLengths ? 3 : i == kInitialH ? 1 : 2] = call_.view(i).value;
    }
    b_.graph.nodes.push_back(node_);
    const Axis t = x.axes[time_axis()], n = x.axes[batch_axis()];
    for (size_t i = 0; i < 3; ++i) {
      View out = densified(output_view(t, n, i == 0));
      out.value = b_.new_row(feature_count(out), true);
      call_.give(i, out);
    }
  }

  View output_view(const Axis &t, const Axis &n, bool with_time) const {
    const Axis d = directions() == 2 ? Axis{Atom{Atom::Kind::kFeature, 2, 0, -1}} : Axis{};
    const Axis h = hidden() > 1 ? Axis{Atom{Atom::Kind::kFeature, hidden(), 0, -1}} : Axis{};
    View view;
    if (with_time) {
      view.axes = batch_first_ ? std::vector<Axis>{n, t, d, h} : std::vector<Axis>{t, d, n, h};
    } else {
      view.axes = batch_first_ ? std::vector<Axis>{n, d, h} : std::vector<Axis>{d, n, h};
    }
    return view;
  }

  // Over features within each row, or over the steps for several rows of features at once.
  bool is_inner(const View &x) const {
    const Axis &t = x.axes[time_axis()], &n = x.axes[batch_axis()];
    if (is_axis_of(t, Atom::Kind::kTime) && is_axis_of(n, Atom::Kind::kBatch)) return false;
    return (axis_is_features(t) || is_axis_of(t, Atom::Kind::kTime)) && axis_is_features(x.axes[2]);
  }

  static int64_t feature_size(const Axis &axis) {
    int64_t size = 1;
    for (const Atom &atom : axis) size = times(size, atom.is_feature() ? atom.size : 1);
    return size;
  }

  void run_inner(const View &x) {
    const Axis &t = x.axes[time_axis()], &n = x.axes[batch_axis()];
    const bool by_steps = !axis_is_features(t);
    if (turned_ != kInOrder)
      throw Refusal("its steps are turned round and it does not run along whole axes of steps and batch; accepted: in order");
    if (call_.has(kLengths))
      throw Refusal("it has sequence_lens and does not run along whole axes of steps and batch; accepted: none");
    if (by_steps && (directions() == 2 || cell_.directions[0].reverse))
      throw Refusal("it runs from the last step to the first for " + std::to_string(feature_size(n)) +
                    " rows of features of each step; accepted: a fixed number of steps");
    InnerRecurrent inner;
    inner.steps = by_steps ? 1 : static_cast<uint32_t>(axis_size(t));
    inner.rows = static_cast<uint32_t>(std::min<int64_t>(feature_size(n), UINT32_MAX));
    View ordered = x;
    ordered.axes = {t, n, x.axes[2]};
    const View from = b_.dense(b_.as_row(ordered, call_.name), call_.name);
    uint32_t h = inner_state(kInitialH, "initial_h", n), c = is_lstm() ? inner_state(kInitialC, "initial_c", n) : kNone;
    bool sequence = b_.is_sequence(from);
    for (const uint32_t v : {h, c}) sequence = sequence || (v != kNone && b_.graph.values[v].sequence);
    StateRef kept[2];
    if (by_steps) {
      if (h != kNone || c != kNone)
        throw Refusal("its initial state is not zeros; accepted: zeros where it runs for rows of features of each step");
      h = keep(feature_count(state_view(n)), ".h", &kept[0]);
      if (is_lstm()) c = keep(feature_count(state_view(n)), ".c", &kept[1]);
    }
    give_inner(std::move(inner), from.value, h, c, x, sequence, by_steps ? kept : nullptr);
  }

  // [directions][rows][H] with the symbols of the batch axis.
  View state_view(const Axis &n) const {
    View view = output_view({}, n, false);
    if (batch_first_) std::swap(view.axes[0], view.axes[1]);
    return densified(view);
  }

  uint32_t keep(int64_t elems, const char *suffix, StateRef *state) {
    const uint32_t value = b_.new_row(elems, true);
    state->state = static_cast<uint32_t>(b_.graph.states.size());
    b_.graph.states.push_back({call_.name + suffix, static_cast<uint32_t>(elems)});
    b_.graph.nodes.push_back({OpKind::kStateRead, call_.name, {}, {value}, *state});
    return value;
  }

  void give_inner(InnerRecurrent inner, uint32_t x, uint32_t h, uint32_t c, const View &given, bool sequence,
                  const StateRef *kept) {
    const Axis &t = given.axes[time_axis()], &n = given.axes[batch_axis()];
    View y = output_view(t, n, true), final = state_view(n);
    // The row is [steps][rows][directions][H].
    View order = y;
    const Axis d = y.axes[batch_first_ ? 2 : 1], units = y.axes[3];
    order.axes = {t, n, d, units};
    order = densified(order);
    y.axes = batch_first_ ? std::vector<Axis>{order.axes[1], order.axes[0], order.axes[2], order.axes[3]}
                          : std::vector<Axis>{order.axes[0], order.axes[2], order.axes[1], order.axes[3]};
    y.first = 0;
    y.value = b_.new_row(feature_count(order), sequence);
    std::vector<uint32_t> out = {y.value, kNone, kNone};
    View finals[2] = {final, final};
    for (size_t i = 0; i < (is_lstm() ? 2u : 1u); ++i) out[i + 1] = finals[i].value = b_.new_row(feature_count(final), sequence);
    inner.layer = std::move(cell_);
    b_.graph.nodes.push_back({OpKind::kInnerRecurrent, call_.name, {x, h, c}, out, std::move(inner)});
    call_.give(0, y);
    for (size_t i = 0; i < 2 && out[i + 1] != kNone; ++i) {
      if (kept != nullptr) b_.graph.nodes.push_back({OpKind::kStateWrite, call_.name, {out[i + 1], kNone}, {}, kept[i]});
      if (!call_.wants(i + 1)) continue;
      View last = kept != nullptr ? b_.time_step(finals[i], true, call_.name) : finals[i];
      if (batch_first_) std::swap(last.axes[0], last.axes[1]);
      call_.give(i + 1, last);
    }
  }

  // A row of [directions][rows][H]; kNone for zeros.
  uint32_t inner_state(size_t i, const char *name, const Axis &n) {
    if (!call_.has(i)) return kNone;
    if (call_.is_const(i)) {
      const Tensor &t = call_.constant(i, name);
      const int64_t rows = t.rank() == 3 ? t.shape[state_batch_axis()] : 0, count = static_cast<int64_t>(directions());
      expect(t, name, batch_first_ ? Shape{rows, count, hidden()} : Shape{count, rows, hidden()});
      if (std::all_of(t.data.begin(), t.data.end(), [](double v) { return v == 0; })) return kNone;
    }
    View state = call_.real_view(i);
    if (state.axes.size() != 3)
      throw Refusal(std::string(name) + " has rank " + std::to_string(state.axes.size()) + "; accepted: 3");
    if (batch_first_) std::swap(state.axes[0], state.axes[1]);
    const Value &value = b_.graph.values[state.value];
    if (value.kind == ValueKind::kConst && std::all_of(value.f32.begin(), value.f32.end(), [](float v) { return v == 0.0f; }))
      return kNone;
    Axis mine, other;
    if (axis_size(state.axes[0]) != static_cast<int64_t>(directions()) || axis_size(state.axes[2]) != hidden() ||
        !align_axes(n, state.axes[1], &mine, &other)) {
      throw Refusal(std::string(name) + " has axes " + view_text(state) + ", which do not fit X's batch axis");
    }
    state.axes[1] = other;
    if (feature_size(other) != feature_size(n))
      throw Refusal(std::string(name) + " has axes " + view_text(state) + ", which do not fit X's batch axis");
    return value.kind == ValueKind::kConst ? b_.copied(state, false, call_.name).value : b_.dense(state, call_.name).value;
  }

  static bool is_axis_of(const Axis &axis, Atom::Kind kind) { return axis.empty() || (axis.size() == 1 && axis[0].kind == kind); }

  uint32_t x_value(const View &x) {
    if (!is_axis_of(x.axes[time_axis()], Atom::Kind::kTime) || !is_axis_of(x.axes[batch_axis()], Atom::Kind::kBatch) ||
        !axis_is_features(x.axes[2])) {
      throw Refusal("X has axes " + view_text(x) +
                    "; accepted: " + (batch_first_ ? "[batch, steps, features]" : "[steps, batch, features]") +
                    " where steps and batch are whole axes of graph inputs");
    }
    time_ = x.axes[time_axis()];
    batch_ = x.axes[batch_axis()];
    const View whole = b_.is_sequence(x) ? b_.dense(x, call_.name) : b_.copied(x, true, call_.name);
    return whole.value;
  }

  void read_weights() {
    const Tensor &w = call_.constant(kW, "W"), &r = call_.constant(kR, "R");
    const int64_t rows = gates() * hidden(), inputs = cell_.input_size;
    for (size_t i = 0; i < directions(); ++i) {
      Direction &direction = cell_.directions[i];
      const int64_t d = static_cast<int64_t>(i);
      direction.w = floats(w, d * rows * inputs, rows * inputs);
      direction.r = floats(r, d * rows * hidden(), rows * hidden());
      direction.w_storage = storage(w, direction.w, d, inputs);
      direction.r_storage = storage(r, direction.r, d, hidden());
      direction.w_storage.factor_scale = x_step_;
      direction.bias.assign(static_cast<size_t>(rows), 0.0f);
      if (cell_.cell == Cell::kGruLinear) direction.r_bias.assign(static_cast<size_t>(hidden()), 0.0f);
      if (call_.has(kB)) read_bias(call_.constant(kB, "B"), d, &direction);
      if (is_lstm() && call_.has(kP))
        direction.peephole = peephole_iof(floats(call_.constant(kP, "P"), d * 3 * hidden(), 3 * hidden()));
    }
  }

  // Of direction d's part of a tensor, which was read as `floats`.
  Storage storage(const Tensor &t, const std::vector<float> &numbers, int64_t d, int64_t depth) const {
    const auto first = t.steps.empty() ? t.steps.begin() : t.steps.begin() + d * static_cast<int64_t>(numbers.size());
    const std::vector<float> steps(first, t.steps.empty() ? first : first + static_cast<int64_t>(numbers.size()));
    return storage_of_file(stored_type(t), numbers, steps, static_cast<uint32_t>(depth), static_cast<uint32_t>(hidden()));
  }

  void read_bias(const Tensor &bias, int64_t d, Direction *direction) const {
    const int64_t rows = gates() * hidden();
    for (int64_t i = 0; i < rows; ++i) {
      const double wb = bias.data[static_cast<size_t>(d * 2 * rows + i)],
                   rb = bias.data[static_cast<size_t>((d * 2 + 1) * rows + i)];
      const bool apart = cell_.cell == Cell::kGruLinear && i >= 2 * hidden();
      direction->bias[static_cast<size_t>(i)] = static_cast<float>(apart ? wb : wb + rb);
      if (apart) direction->r_bias[static_cast<size_t>(i - 2 * hidden())] = static_cast<float>(rb);
    }
  }

  // ONNX's P is i o f already; all zeros is none.
  static std::vector<float> peephole_iof(std::vector<float> p) {
    const bool zeros = std::all_of(p.begin(), p.end(), [](float v) { return v == 0.0f; });
    return zeros ? std::vector<float>() : p;
  }

  void fix_batch(int64_t batch) {
    const uint32_t size = static_cast<uint32_t>(std::min<int64_t>(batch, UINT32_MAX));
    if (b_.graph.fixed_batch != 0 && b_.graph.fixed_batch != size) {
      throw Refusal("constants fix the batch at " + std::to_string(b_.graph.fixed_batch) + " and at " + std::to_string(size));
    }
    b_.graph.fixed_batch = size;
  }

  // The value of a run-time initial state, or kNone after a constant one went to the directions.
  uint32_t read_state(size_t i, const char *name) {
    if (!call_.has(i)) return kNone;
    if (call_.is_const(i)) {
      constant_state(call_.constant(i, name), i == kInitialC, name);
      return kNone;
    }
    const View state = call_.real_view(i);
    if (state.axes.size() != 3)
      throw Refusal(std::string(name) + " has rank " + std::to_string(state.axes.size()) + "; accepted: 3");
    const size_t batch = state_batch_axis(), dir = batch_first_ ? 1 : 0;
    if (!is_axis_of(state.axes[batch], Atom::Kind::kBatch) || axis_size(state.axes[dir]) != static_cast<int64_t>(directions()) ||
        axis_size(state.axes[2]) != hidden() || !axis_is_features(state.axes[dir]) || !axis_is_features(state.axes[2])) {
      throw Refusal(std::string(name) + " has axes " + view_text(state) + "; accepted: " + (batch_first_ ? "[batch, " : "[") +
                    std::to_string(directions()) + (batch_first_ ? ", " : ", batch, ") + std::to_string(hidden()) + "]");
    }
    if (b_.graph.values[state.value].kind == ValueKind::kConst) {
      constant_rows(state, i == kInitialC);
      return kNone;
    }
    if (b_.is_sequence(state) && !is_kept_input(state)) {
      const bool is_input = b_.graph.values[state.value].kind == ValueKind::kInput;
      throw Refusal(std::string(name) + " changes from step to step; accepted: one state per batch row" +
                    (is_input ? ". It is an input that the graph reads elsewhere too; " + kept_text(i) : ""));
    }
    return place_state(state, dir, i == kInitialC);
  }

  // What keeps the initial state that the graph reads elsewhere too.
  std::string kept_text(size_t i) const {
    const size_t next = i == kInitialH ? 1 : 2;
    const std::string &input = call_.node.input(static_cast<int>(i));
    const std::string output = call_.wants(next) ? call_.node.output(static_cast<int>(next)) : "";
    if (b_.outputs.count(output) != 0) return "the library can keep it from step to step. try: --state " + input + "=" + output;
    return "--state " + input + "=OUTPUT keeps it, where an output gives its next value";
  }

  // An input that the user wants kept from step to step, read where it lies: the layer's own state, or tying it is refused.
  bool is_kept_input(const View &state) const {
    const Value &value = b_.graph.values[state.value];
    int64_t stride = 1;
    return value.kind == ValueKind::kInput && b_.kept.count(b_.graph.inputs[value.input].name) != 0 &&
           std::all_of(state.axes.begin(), state.axes.end(),
                       [&](const Axis &axis) { return !axis_is_features(axis) || one_stride(axis, &stride); });
  }

  // A state is read where it lies, also as a part of a larger row; what one stride does not describe is copied out first.
  uint32_t place_state(const View &state, size_t dir, bool is_c) {
    View from = state;
    int64_t between = 0, step = 1;
    if (!one_stride(from.axes[dir], &between) || !one_stride(from.axes[2], &step)) {
      from = b_.dense(state, call_.name);
      between = hidden();
      step = 1;
    }
    for (size_t d = 0; d < directions(); ++d) {
      BlobStrided &at = is_c ? cell_.directions[d].given_c : cell_.directions[d].given_h;
      at = {static_cast<uint32_t>(from.first + static_cast<int64_t>(d) * between), static_cast<uint32_t>(step)};
    }
    return from.value;
  }

  // The stride of an axis of features, unchanged for an axis of size 1; false when it has several or runs backwards.
  static bool one_stride(const Axis &axis, int64_t *stride) {
    const Axis whole = merged(axis);
    if (whole.size() > 1 || (!whole.empty() && whole[0].stride < 0)) return false;
    if (!whole.empty()) *stride = whole[0].stride;
    return true;
  }

  // A constant repeated over the batch (Expand, ConstantOfShape).
  void constant_rows(const View &state, bool is_c) {
    const std::vector<float> &row = b_.graph.values[state.value].f32;
    Tensor flat(Elem::kFloat, {static_cast<int64_t>(directions()), 1, hidden()});
    const std::vector<Atom> atoms = features_of(state);
    for (int64_t n = 0; n < flat.size(); ++n) {
      int64_t rest = n, at = state.first;
      for (size_t k = atoms.size(); k-- > 0;) {
        at += rest % atoms[k].size * atoms[k].stride;
        rest /= atoms[k].size;
      }
      flat.data[static_cast<size_t>(n)] = static_cast<double>(row[static_cast<size_t>(at)]);
    }
    set_state(flat, is_c, 1, [&](int64_t d, int64_t) { return d; });
  }

  void constant_state(const Tensor &t, bool is_c, const char *name) {
    const int64_t count = static_cast<int64_t>(directions());
    const int64_t batch = t.rank() == 3 ? t.shape[state_batch_axis()] : 0;
    if (is_c && t.rank() == 3 && t.shape[2] > hidden())
      throw Refusal(
          "initial_c has " + std::to_string(t.shape[2]) + " units and hidden_size is " + std::to_string(hidden()) +
          ": an LSTM with a projection (PyTorch's proj_size), which ONNX's LSTM does not have; accepted: the cell written "
          "out with its projection, one step with its states as inputs and outputs, and --state");
    expect(t, name, batch_first_ ? Shape{batch, count, hidden()} : Shape{count, batch, hidden()});
    if (batch < 1) throw Refusal(std::string(name) + " is empty");
    if (batch != 1 && !b_.batch_dynamic && b_.batch_size != batch && !batch_.empty()) {
      throw Refusal(std::string(name) + " is for a batch of " + std::to_string(batch) +
                    "; accepted: " + std::to_string(b_.batch_size));
    }
    set_state(t, is_c, batch, [&](int64_t d, int64_t n) { return batch_first_ ? n * count + d : d * batch + n; });
  }

  template <typename Place>
  void set_state(const Tensor &t, bool is_c, int64_t batch, Place place) {
    for (size_t d = 0; d < directions(); ++d) {
      std::vector<float> rows;
      for (int64_t n = 0; n < batch; ++n) {
        const std::vector<float> row = floats(t, place(static_cast<int64_t>(d), n) * hidden(), hidden());
        rows.insert(rows.end(), row.begin(), row.end());
      }
      StateInit &init = is_c ? cell_.directions[d].init_c : cell_.directions[d].init_h;
      if (std::all_of(rows.begin(), rows.end(), [](float v) { return v == 0.0f; })) continue;
      bool same = true;
      for (size_t k = static_cast<size_t>(hidden()); k < rows.size(); ++k)
        same = same && rows[k] == rows[k - static_cast<size_t>(hidden())];
      if (same)
        rows.resize(static_cast<size_t>(hidden()));
      else
        fix_batch(batch);
      init.per_row = !same;
      init.data = std::move(rows);
    }
  }

  uint32_t read_lengths() {
    if (!call_.has(kLengths)) return kNone;
    if (!call_.is_const(kLengths)) {
      if (b_.step_counts.count(call_.input(kLengths).view.value) != 0) return kNone;
      const View lengths = call_.view(kLengths);
      if (b_.graph.values[lengths.value].dtype != DType::kI32) throw Refusal("sequence_lens is not an integer tensor");
      if (lengths.axes.size() != 1 || !is_axis_of(lengths.axes[0], Atom::Kind::kBatch) ||
          b_.graph.values[lengths.value].kind != ValueKind::kInput) {
        throw Refusal("sequence_lens has axes " + view_text(lengths) + "; accepted: a graph input [batch], or a constant");
      }
      return lengths.value;
    }
    const Tensor &lengths = call_.constant(kLengths, "sequence_lens");
    if (lengths.rank() != 1 || lengths.size() < 1)
      throw Refusal("sequence_lens has shape " + shape_text(lengths.shape) + "; accepted: [batch]");
    if (lengths.is_dynamic()) return dynamic_lengths(lengths);
    if (!batch_.empty() && !b_.batch_dynamic && lengths.size() != b_.batch_size) {
      throw Refusal("sequence_lens has shape " + shape_text(lengths.shape) + "; accepted: [" + std::to_string(b_.batch_size) + "]");
    }
    Value value;
    value.kind = ValueKind::kConst;
    value.dtype = DType::kI32;
    value.elems = static_cast<uint32_t>(lengths.size());
    for (int64_t length : to_ints(lengths)) {
      if (length < 0 || length > INT32_MAX || (!b_.time_dynamic && !time_.empty() && length > b_.time_size)) {
        throw Refusal("sequence_lens has " + std::to_string(length) + "; accepted: 0 to the number of steps");
      }
      value.i32.push_back(static_cast<int32_t>(length));
    }
    fix_batch(lengths.size());
    return b_.graph.add_value(std::move(value));
  }

  // Computed from the number of steps: only "all steps" makes sense.
  uint32_t dynamic_lengths(const Tensor &lengths) const {
    for (int64_t length : to_ints(lengths)) {
      if (length != b_.time_size)
        throw Refusal(
            "sequence_lens is computed from the shape of another tensor; accepted: all steps, a constant or a graph input");
    }
    return kNone;
  }

  void give_outputs() {
    const int64_t elems = static_cast<int64_t>(directions()) * hidden();
    for (size_t i = 0; i < (is_lstm() ? 3u : 2u); ++i) {
      if (!call_.wants(i)) continue;
      View out = densified(output_view(time_, batch_, i == 0));
      out.value = b_.new_row(elems, i == 0);
      node_.out[i] = out.value;
      if (turned_ != kInOrder) b_.turned_by[out.value] = turned_by_;
      call_.give(i, out);
    }
  }

  OpCall &call_;
  Builder &b_;
  std::vector<Act> defaults_;
  Recurrent cell_;
  Node node_{};
  bool batch_first_ = false;
  Axis time_, batch_;
  float x_step_ = 0;
  int64_t turned_ = kInOrder;
  std::string turned_by_;
};

void rnn(OpCall &call) {
  RecurrentImport(call, Cell::kRnn, {Act::kTanh}).run();
}
void gru(OpCall &call) {
  RecurrentImport(call, Cell::kGru, {Act::kSigmoid, Act::kTanh}).run();
}
void lstm(OpCall &call) {
  RecurrentImport(call, Cell::kLstm, {Act::kSigmoid, Act::kTanh, Act::kTanh}).run();
}

constexpr const char *kLimits = "all attributes; W, R, B (and P) constant";

}  // namespace

const std::vector<ImportRow> kImportRecurrent = {{"RNN", rnn, kLimits}, {"GRU", gru, kLimits}, {"LSTM", lstm, kLimits}};

}  // namespace rnnp::compiler
