// ops_recurrent.cpp -- RNN, GRU and LSTM with every attribute of opset 7 to 22. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/concat_slices.h"
#include "compiler/import/recurrent_operands.h"
#include "compiler/import/steps.h"
#include "compiler/onnx/activation.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

class RecurrentImport : RecurrentOperands {
 public:
  RecurrentImport(OpCall &call, Cell cell, std::vector<Act> defaults)
      : RecurrentOperands(call, cell), defaults_(std::move(defaults)) {}

  void run() {
    if (b_.discovering) mark_axes();
    read_attributes();
    const View x = read_x();
    if (b_.discovering) return discover(x);
    read_weights();
    if (cell_.cell == Cell::kLstmNorm) read_norms();
    if (is_inner(x)) return run_inner(x);
    node_ = {OpKind::kRecurrent, call_.name, {}, {}, {}};
    node_.in.push_back(x_value(x));
    const uint32_t h = read_state(kInitialH, "initial_h"), c = is_lstm() ? read_state(kInitialC, "initial_c") : kNone;
    const uint32_t lengths = read_lengths();
    if (reversed_ != kInOrder) time_[0].reversed = reversed_;
    node_.in.insert(node_.in.end(), {h, c, lengths});
    for (size_t i = 0; i < 3; ++i) node_.out.push_back(kNone);
    give_outputs();
    node_.attr = std::move(cell_);
    b_.graph.nodes.push_back(std::move(node_));
  }

 private:
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

  View read_x() {
    View x = x_in_order();
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

  // Steps that lie the other way round are read in order, in the other direction, where the layer can.
  View x_in_order() {
    View x = call_.any_view(kX);
    const int64_t reversed = take_reversal(&x);
    const bool plain = b_.graph.values[x.value].dtype == DType::kF32 && !x.mask && !x.whole;
    if (reversed == kInOrder || !plain || !may_go_back(x, reversed)) return call_.real_view(kX);
    reversed_ = reversed;
    cell_.directions[0].reverse = !cell_.directions[0].reverse;
    const auto by = b_.reversed_by.find(x.value);
    reversed_by_ = by == b_.reversed_by.end() ? call_.name : by->second;
    return settled(b_, x, call_.name);
  }

  // One direction along whole axes, of each row as many steps as were reversed.
  bool may_go_back(const View &x, int64_t reversed) const {
    if (directions() == 2 || x.axes.size() != 3 || is_inner(x)) return false;
    if (!call_.has(kLengths)) return reversed == kAllReversed;
    const Bound &lengths = call_.input(kLengths);
    if (lengths.kind == Bound::Kind::kConst) return reversed == kAllReversed && lengths.tensor->is_dynamic();
    const bool all = b_.step_counts.count(lengths.view.value) != 0;
    return reversed == (all ? kAllReversed : int64_t{lengths.view.value});
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

  size_t time_axis() const { return batch_first_ ? 1 : 0; }
  size_t batch_axis() const { return batch_first_ ? 0 : 1; }

  // First reading: which axes are time and batch, even when the node is refused later.
  void mark_axes() {
    batch_first_ = call_.attributes.integer("layout", 0) != 0;
    const View x = call_.real_view(kX);
    if (x.axes.size() != 3) return;
    const bool features = call_.has(kInitialH) && !call_.is_const(kInitialH) && call_.view(kInitialH).axes.size() == 3 &&
                          are_rows_of_features(x.axes[batch_axis()], call_.view(kInitialH).axes[state_batch_axis()]);
    b_.origins->add_layer(x.axes[time_axis()], features ? Axis{} : x.axes[batch_axis()],
                          call_.attributes.text("direction", "forward") != "forward");
    for (size_t i : {size_t{kLengths}, size_t{kInitialH}, size_t{kInitialC}}) {
      if (!call_.has(i) || call_.is_const(i) || (i == kInitialC && !is_lstm())) continue;
      if (b_.step_counts.count(call_.input(i).view.value) != 0) continue;
      const View state = call_.view(i);
      const size_t axis = i == kLengths ? 0 : state_batch_axis();
      if (axis >= state.axes.size() || are_rows_of_features(x.axes[batch_axis()], state.axes[axis])) continue;
      b_.origins->mark(state.axes[axis], AxisRole::kBatch, "it is the batch of recurrent layers' states");
      join_rows(x.axes[batch_axis()], state.axes[axis]);
    }
    if (has_mask() && !call_.is_const(kMask)) join_mask(x, call_.any_view(kMask));
  }

  // The file's LSTM may have an input more that nobody reads.
  bool has_mask() const { return call_.node.op_type().find("rnnpack.") == 0 && call_.has(kMask); }

  // A mask that is an input of its own has X's steps and rows.
  void join_mask(const View &x, const View &mask) const {
    const auto unite = [&](const Axis &a, const Axis &b) {
      if (a.size() == 1 && b.size() == 1 && a[0].origin >= 0 && b[0].origin >= 0 && axis_size(a) == axis_size(b))
        b_.origins->unite(b[0].origin, a[0].origin);
    };
    for (size_t i = 0; i < 2 && i < mask.axes.size(); ++i) {
      if (i == 0 || mask.axes.size() == 3) unite(x.axes[i], mask.axes[i]);
    }
  }

  // ONNX wants as many rows of a state as of X.
  void join_rows(const Axis &rows, const Axis &of_state) const {
    if (rows.size() == 1 && of_state.size() == 1 && rows[0].origin >= 0 && of_state[0].origin >= 0 && rows[0].rate == 1 &&
        b_.origins->role(rows[0].origin) != AxisRole::kTime)
      b_.origins->unite(of_state[0].origin, rows[0].origin);
  }

  // Rows within each step, as many as the file says: a layer along time for each frequency.
  bool are_rows_of_features(const Axis &rows, const Axis &of_state) const {
    const auto is_open = [&](const Atom &atom) { return atom.origin >= 0 && b_.origins->dynamic(atom.origin); };
    const bool fixed = std::none_of(of_state.begin(), of_state.end(), is_open);
    // An input's own axis is its batch, but for a last one of fixed size.
    const bool merged_rows =
        rows.size() > 1 ||
        (rows.size() == 1 && (rows[0].origin < 0 || (!is_open(rows[0]) && b_.origins->is_innermost(rows[0].origin))));
    return fixed && merged_rows && axis_size(rows) > 1 && axis_size(rows) == axis_size(of_state);
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
    if (is_one_step(x)) return axis_is_features(x.axes[2]);
    if (is_axis_of(t, Atom::Kind::kTime) && is_axis_of(n, Atom::Kind::kBatch)) return false;
    return (axis_is_features(t) || is_axis_of(t, Atom::Kind::kTime)) && axis_is_features(x.axes[2]);
  }

  // An axis of one step that is not the run's: the last step of another layer, its final state, an input of one step.
  bool is_one_step(const View &x) const {
    if (!x.axes[time_axis()].empty()) return false;
    if (b_.steps_in_rows) return true;
    if (!b_.origins->any(AxisRole::kTime)) return starts_anew();  // a call is one step
    if (!b_.is_sequence(x)) return true;
    return (b_.time_dynamic || b_.time_size != 1) && !reads_persistent_states();
  }

  // From constants in the file, in every call, so that there is nothing to carry on.
  bool starts_anew() const {
    for (size_t i : {size_t{kInitialH}, size_t{kInitialC}}) {
      if (i == kInitialC && (!is_lstm() || !call_.has(i))) continue;
      if (!call_.has(i)) return false;
      if (!call_.is_const(i) && b_.graph.values[call_.view(i).value].kind != ValueKind::kConst) return false;
    }
    return true;
  }

  // A loop's body, or a model of one step, that carries all states of the layer: it runs on from step to step.
  bool reads_persistent_states() const {
    for (size_t i : {size_t{kInitialH}, size_t{kInitialC}}) {
      if (i == kInitialC && !is_lstm()) continue;
      if (!call_.has(i) || call_.is_const(i) || !is_persistent_input(call_.view(i))) return false;
    }
    return true;
  }

  static int64_t feature_size(const Axis &axis) {
    int64_t size = 1;
    for (const Atom &atom : axis) size = times(size, atom.is_feature() ? atom.size : 1);
    return size;
  }

  void run_inner(const View &x) {
    const Axis &t = x.axes[time_axis()], &n = x.axes[batch_axis()];
    const bool by_steps = !axis_is_features(t);
    if (cell_.cell == Cell::kLstmNorm)
      throw Refusal("an LSTM with layer norms does not run along whole axes of steps and batch; accepted: LSTM, GRU, RNN");
    if (call_.has(kLengths))
      throw Refusal("it has sequence_lens and does not run along whole axes of steps and batch; accepted: none");
    if (by_steps && (directions() == 2 || cell_.directions[0].reverse))
      throw Refusal("it runs from the last step to the first for " + std::to_string(feature_size(n)) +
                    " rows of features of each step; accepted: a fixed number of steps");
    FeatureRecurrent inner;
    inner.steps = by_steps ? 1 : static_cast<uint32_t>(axis_size(t));
    inner.rows = static_cast<uint32_t>(std::min<int64_t>(feature_size(n), UINT32_MAX));
    View ordered = x;
    ordered.axes = {t, n, x.axes[2]};
    if (has_mask()) ordered = with_mask(ordered);
    const View from = b_.dense(b_.as_row(ordered, call_.name), call_.name);
    uint32_t h = feature_state(kInitialH, "initial_h", n, by_steps),
             c = is_lstm() ? feature_state(kInitialC, "initial_c", n, by_steps) : kNone;
    bool sequence = b_.is_sequence(from);
    for (const uint32_t v : {h, c}) sequence = sequence || (v != kNone && b_.graph.values[v].sequence);
    StateRef kept[2];
    const bool own = by_steps && h == kNone && c == kNone;
    if (own) {
      h = keep(feature_count(state_view(n)), ".h", &kept[0]);
      if (is_lstm()) c = keep(feature_count(state_view(n)), ".c", &kept[1]);
    }
    give_inner(std::move(inner), from.value, h, c, x, sequence, own ? kept : nullptr);
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
    b_.graph.states.push_back({call_.name + suffix, static_cast<uint32_t>(elems), false});
    b_.graph.nodes.push_back({OpKind::kStateRead, call_.name, {}, {value}, *state});
    return value;
  }

  void give_inner(FeatureRecurrent inner, uint32_t x, uint32_t h, uint32_t c, const View &given, bool sequence,
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
    b_.graph.nodes.push_back({OpKind::kFeatureRecurrent, call_.name, {x, h, c}, out, std::move(inner)});
    call_.give(0, y);
    for (size_t i = 0; i < 2 && out[i + 1] != kNone; ++i) {
      if (kept != nullptr) b_.graph.nodes.push_back({OpKind::kStateWrite, call_.name, {out[i + 1], kNone}, {}, kept[i]});
      if (!call_.wants(i + 1)) continue;
      View last = kept != nullptr ? b_.time_step(finals[i], true, call_.name) : finals[i];
      if (batch_first_) std::swap(last.axes[0], last.axes[1]);
      call_.give(i + 1, last);
    }
  }

  // Of a constant state: the same for the whole batch.
  bool has_same_rows(const Tensor &t) const {
    const int64_t units = hidden(), rows = t.shape[state_batch_axis()], between = batch_first_ ? t.shape[1] * units : units;
    for (int64_t i = 0; i < t.size(); ++i) {
      const int64_t row = i / between % rows;
      if (t.data[static_cast<size_t>(i)] != t.data[static_cast<size_t>(i - row * between)]) return false;
    }
    return true;
  }

  // A row of [directions][rows][H]; kNone for zeros.
  uint32_t feature_state(size_t i, const char *name, const Axis &n, bool by_steps) {
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
    const int64_t rows = axis_size(state.axes[1]);
    const bool of_batch = !n.empty() && is_axis_of(n, Atom::Kind::kBatch) && (b_.batch_dynamic || b_.batch_size == rows);
    if (call_.is_const(i) && of_batch && rows != 1) {
      if (!has_same_rows(call_.constant(i, name)))
        throw Refusal(
            std::string(name) +
            " differs between rows of the batch, and every call starts from it; accepted: the same for all, or a graph input");
      state = slice_axis(state, 1, 0, 1, 1);
    }
    const Value &value = b_.graph.values[state.value];
    if (value.kind == ValueKind::kConst && std::all_of(value.f32.begin(), value.f32.end(), [](float v) { return v == 0.0f; }))
      return kNone;
    if (by_steps && !b_.is_sequence(state))
      throw Refusal(std::string(name) +
                    " is not zeros; accepted: zeros, or a state that is kept from step to step, where it runs for "
                    "rows of features of each step. --state INPUT=OUTPUT keeps one");
    if (by_steps) check_starts_at_every_step(state, name);
    Axis mine, other;
    if (axis_size(state.axes[0]) != static_cast<int64_t>(directions()) || axis_size(state.axes[2]) != hidden() ||
        !align_axes(n, state.axes[1], &mine, &other)) {
      throw Refusal(std::string(name) + " has axes " + view_text(state) + ", which do not fit X's batch axis");
    }
    const Axis given_rows = state.axes[1];
    state.axes[1] = other;
    const bool is_const = value.kind == ValueKind::kConst;
    if (feature_size(other) != feature_size(n) || (!is_const && axis_size(given_rows) != axis_size(n)))
      throw Refusal(std::string(name) + " has axes " + view_text(state) + ", which do not fit X's batch axis");
    return is_const ? b_.copied(state, false, call_.name).value : b_.dense(state, call_.name).value;
  }

  // One step of one row lies the same both ways round; only which axis is which matters to runs of more.
  void take_one_row(View *x) {
    Axis &steps = x->axes[time_axis()], &rows = x->axes[batch_axis()];
    if (b_.discovering || steps.empty() || rows.empty()) return;
    if (!is_axis_of(steps, Atom::Kind::kBatch) || !is_axis_of(rows, Atom::Kind::kTime)) return;
    if (axis_size(steps) != 1 || axis_size(rows) != 1) return;
    if (b_.origins->any_open(AxisRole::kTime) || b_.origins->any_open(AxisRole::kBatch)) return;
    std::swap(steps, rows);
    b_.one_row_reversed = true;
  }

  uint32_t x_value(View x) {
    take_one_row(&x);
    if (!is_axis_of(x.axes[time_axis()], Atom::Kind::kTime) || !is_axis_of(x.axes[batch_axis()], Atom::Kind::kBatch) ||
        !axis_is_features(x.axes[2])) {
      throw Refusal("X has axes " + view_text(x) +
                    "; accepted: " + (batch_first_ ? "[batch, steps, features]" : "[steps, batch, features]") +
                    " where steps and batch are whole axes of graph inputs");
    }
    time_ = x.axes[time_axis()];
    batch_ = x.axes[batch_axis()];
    if (has_mask()) x = with_mask(x);
    const View whole = b_.is_sequence(x) ? b_.dense(x, call_.name) : b_.copied(x, true, call_.name);
    return whole.value;
  }

  // X with the mask as a feature more. It lies as the steps of X lay before those were put in order.
  View with_mask(const View &x) {
    cell_.masked = true;
    View mask = call_.any_view(kMask);
    if (b_.graph.values[mask.value].dtype != DType::kF32) throw Refusal("its mask is an input of integers; accepted: bool");
    mask.mask = mask.whole = false;
    if (const int64_t lies = take_reversal(&mask); lies != reversed_) {
      put_reversal(&mask, lies);
      mask = in_order(b_, mask, call_.name);
      put_reversal(&mask, reversed_);
      mask = in_order(b_, mask, call_.name);
    }
    mask = settled(b_, mask, call_.name);
    if (mask.axes.empty() || mask.axes.size() > 3)
      throw Refusal("its mask has axes " + view_text(mask) + "; accepted: one of each step");
    mask.axes.insert(mask.axes.begin() + 1, 3 - mask.axes.size(), Axis{});
    if (std::any_of(mask.axes[2].begin(), mask.axes[2].end(),
                    [](const Atom &atom) { return !atom.is_feature() || atom.stride != 0; }))
      throw Refusal("its mask has axes " + view_text(mask) + ", a value for each unit; accepted: one for each row of a step");
    mask.axes[2].clear();
    for (size_t i = 0; i < 2; ++i) {
      if (mask.axes[i].empty()) mask.axes[i] = x.axes[i];
    }
    return joined(call_, {x, mask}, 2);
  }

  void give_outputs() {
    const int64_t elems = static_cast<int64_t>(directions()) * hidden();
    for (size_t i = 0; i < (is_lstm() ? 3u : 2u); ++i) {
      if (!call_.wants(i)) continue;
      View out = densified(output_view(time_, batch_, i == 0));
      out.value = b_.new_row(elems, i == 0);
      node_.out[i] = out.value;
      if (reversed_ != kInOrder) b_.reversed_by[out.value] = reversed_by_;
      call_.give(i, out);
    }
  }

  std::vector<Act> defaults_;
  Node node_{};
  int64_t reversed_ = kInOrder;
  std::string reversed_by_;
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
void lstm_norm(OpCall &call) {
  RecurrentImport(call, Cell::kLstmNorm, {Act::kSigmoid, Act::kTanh, Act::kTanh}).run();
}

constexpr const char *kLimits = "all attributes; W, R, B (and P) constant";

}  // namespace

const std::vector<ImportRow> kImportRecurrent = {{"RNN", rnn, kLimits},      {"GRU", gru, kLimits}, {"LSTM", lstm, kLimits},
                                                 {kLstmNorm, lstm_norm, ""}, {kMaskedRnn, rnn, ""}, {kMaskedGru, gru, ""},
                                                 {kMaskedLstm, lstm, ""}};

}  // namespace rnnp::compiler
