// recurrent_operands.h -- weights, initial states and lengths of a recurrent node. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_RECURRENT_OPERANDS_H_
#define RNNPACK_COMPILER_IMPORT_RECURRENT_OPERANDS_H_

#include <algorithm>

#include "compiler/import/builder.h"
#include "compiler/onnx/tensor_text.h"

namespace rnnp::compiler {

class RecurrentOperands {
 protected:
  enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP, kNorms, kMask };

  RecurrentOperands(OpCall &call, Cell cell) : call_(call), b_(call.b) { cell_.cell = cell; }

  bool is_lstm() const { return has_c(cell_.cell); }
  int64_t hidden() const { return cell_.hidden_size; }
  int64_t gates() const { return gate_count(cell_.cell); }

  size_t directions() const { return cell_.directions.size(); }

  size_t state_batch_axis() const { return batch_first_ ? 0 : 1; }

  static bool is_axis_of(const Axis &axis, Atom::Kind kind) { return axis.empty() || (axis.size() == 1 && axis[0].kind == kind); }

  static void expect(const Tensor &t, const char *name, const Shape &shape) {
    if (t.shape != shape)
      throw Refusal(std::string(name) + " has shape " + shape_text(t.shape) + "; accepted: " + shape_text(shape));
    if (t.is_dynamic()) throw Refusal(std::string(name) + " depends on the number of steps or batch rows");
    if (t.elem != Elem::kFloat) throw Refusal(std::string(name) + " is not of a float type");
  }

  void read_weights() {
    const Tensor &w = call_.constant(kW, "W"), &r = call_.constant(kR, "R");
    // The cells cut a sigmoid's argument, so that a closed gate is not quite 0.
    if (const std::string what = not_finite_text(r, true); !what.empty())
      throw Refusal("R has " + what + ", which is NaN times an h that a gate makes 0, and infinite times one that is almost 0; " +
                    "accepted: finite weights");
    const int64_t rows = gates() * hidden(), inputs = cell_.input_size;
    for (size_t i = 0; i < directions(); ++i) {
      Direction &direction = cell_.directions[i];
      const int64_t d = static_cast<int64_t>(i);
      direction.w = floats(w, d * rows * inputs, rows * inputs);
      direction.r = floats(r, d * rows * hidden(), rows * hidden());
      direction.w_storage = storage(w, direction.w, d, inputs);
      direction.r_storage = storage(r, direction.r, d, hidden());
      direction.w_storage.lhs_scale = x_step_;
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
      const bool apart = cell_.cell == Cell::kGruLinear && i >= 2 * hidden(), normed = cell_.cell == Cell::kLstmNorm;
      direction->bias[static_cast<size_t>(i)] = static_cast<float>(apart || normed ? wb : wb + rb);
      if (normed) direction->r_bias.push_back(static_cast<float>(rb));
      if (apart) direction->r_bias[static_cast<size_t>(i - 2 * hidden())] = static_cast<float>(rb);
    }
  }

  // Of a layer that the compiler has made: MatchedCell::norms.
  void read_norms() {
    const Tensor &t = call_.constant(kNorms, "norms");
    const std::vector<double> epsilons = call_.attributes.reals("epsilons");
    const bool joint = call_.attributes.integer("joint", 0) != 0;
    cell_.norm_by_gate = call_.attributes.integer("by_gate", 0) != 0;
    cell_.keeps_c = call_.attributes.integer("keeps_c", 0) != 0;
    Direction &d = cell_.directions[0];
    CellNorms &n = d.norms;
    const int64_t h = hidden(), all = 4 * h;
    n.x_scale = floats(t, 0, all);
    if (!joint) n.h_scale = floats(t, all, all);
    n.bias = floats(t, 2 * all, all);
    n.c_scale = floats(t, 3 * all, h);
    n.c_bias = floats(t, 3 * all + h, h);
    for (size_t i = 0; i < 3; ++i) n.epsilons[i] = static_cast<float>(epsilons[i]);
    if (std::all_of(d.r_bias.begin(), d.r_bias.end(), [](float v) { return v == 0; })) d.r_bias.clear();
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
    View state = call_.real_view(i);
    if (state.axes.size() != 3)
      throw Refusal(std::string(name) + " has rank " + std::to_string(state.axes.size()) + "; accepted: 3");
    const size_t batch = state_batch_axis(), dir = batch_first_ ? 1 : 0;
    take_one_batch_row(&state.axes[dir], &state.axes[batch]);
    if (!is_axis_of(state.axes[batch], Atom::Kind::kBatch) || axis_size(state.axes[dir]) != static_cast<int64_t>(directions()) ||
        axis_size(state.axes[2]) != hidden() || !axis_is_features(state.axes[dir]) || !axis_is_features(state.axes[2])) {
      throw Refusal(std::string(name) + " has axes " + view_text(state) + "; accepted: " + (batch_first_ ? "[batch, " : "[") +
                    std::to_string(directions()) + (batch_first_ ? ", " : ", batch, ") + std::to_string(hidden()) + "]");
    }
    if (b_.graph.values[state.value].kind == ValueKind::kConst) {
      constant_rows(state, i == kInitialC);
      return kNone;
    }
    if (b_.is_sequence(state)) check_starts_at_every_step(state, name);
    return place_state(state, dir, i == kInitialC);
  }

  // A batch of one row may stand on either axis of size 1.
  void take_one_batch_row(Axis *directions, Axis *rows) const {
    const bool one = b_.batch_size == 1 && !b_.batch_dynamic && !b_.discovering;
    if (!one || directions->size() != 1 || directions->front().kind != Atom::Kind::kBatch) return;
    if (rows->empty()) *rows = *directions;
    directions->clear();
  }

  // A state that is known at every step: one call of the graph is one step, so that the layer starts anew at each. Where the file
  // has a time axis a call may be many steps, unless all that the state is made from is kept from step to step.
  void check_starts_at_every_step(const View &state, const char *name) const {
    if (is_persistent_input(state)) return;
    if (call_.has(kLengths))
      throw Refusal(std::string(name) + " changes from step to step, and it has sequence_lens; accepted: none");
    if (!b_.origins->any(AxisRole::kTime) || b_.discovering) return;
    const std::vector<std::string> from = b_.inputs_behind(state.value);
    const auto other = std::find_if(from.begin(), from.end(), [&](const std::string &input) { return b_.kept.count(input) == 0; });
    if (!from.empty() && other == from.end()) return;
    throw Refusal(std::string(name) + " is computed anew for every call from " +
                      (other == from.end() ? std::string("the steps") : quote(*other)) +
                      ", and a call may be many steps; accepted: one step a call",
                  b_.origins->one_step());
  }

  // An input that the user wants kept from step to step, read where it lies: the layer's own state, or tying it is refused.
  bool is_persistent_input(const View &state) const {
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
          ": an LSTM with a projection (PyTorch's proj_size), which ONNX's LSTM does not have and whose weights are not in "
          "the file; accepted: the same network without it, which rnnpack.torch_without_projection(module) of the Python package "
          "makes for the exporter");
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
    const Tensor &lengths = call_.sizes(kLengths, "sequence_lens");
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
    for (const Dim &length : to_dims(lengths)) {
      if (!b_.discovering && length != b_.dim_of(time_))
        throw Refusal("sequence_lens is " + length.text() + "; accepted: all steps, a constant or a graph input");
    }
    return kNone;
  }

  OpCall &call_;
  Builder &b_;
  Recurrent cell_;
  bool batch_first_ = false;
  Axis time_, batch_;  // of X
  float x_step_ = 0;

 private:
  static std::vector<float> floats(const Tensor &t, int64_t first, int64_t count) {
    std::vector<float> out(static_cast<size_t>(count));
    (t.data.numbers() + first).as_they_are([&](const auto *from) {
      for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = static_cast<float>(from[i]);
    });
    return out;
  }
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_RECURRENT_OPERANDS_H_
