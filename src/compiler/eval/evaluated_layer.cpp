// evaluated_layer.cpp -- Contract: evaluated_layer.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/evaluated_layer.h"

#include <algorithm>
#include <cmath>

#include "compiler/eval/range_watch.h"
#include "compiler/eval/roundings.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

int64_t gates_of(const std::string &op_type) {
  return op_type == "LSTM" ? 4 : op_type == "GRU" ? 3 : 1;
}

std::vector<Act> default_acts(int64_t gates) {
  if (gates == 1) return {Act::kTanh};
  if (gates == 3) return {Act::kSigmoid, Act::kTanh};
  return {Act::kSigmoid, Act::kTanh, Act::kTanh};
}

}  // namespace

RecurrentLayer::RecurrentLayer(const EvalCall &call) : call_(call) {
  read_sizes();
  x_ = AsDoubles(call.in[0]->data);
  if (call.has(3)) biases_ = AsDoubles(call.in[3]->data);
  if (call.has(7)) peephole_ = AsDoubles(call.in[7]->data);
  clip_ = call.attributes.real("clip", 0);
  linear_before_reset_ = call.attributes.integer("linear_before_reset", 0) != 0;
  input_forget_ = call.attributes.integer("input_forget", 0) != 0;
  const std::vector<Act> defaults = default_acts(s_.gates);
  acts_ = recurrent_activations(call.attributes, defaults, static_cast<size_t>(s_.directions));
  per_direction_ = defaults.size();
}

CellWeights RecurrentLayer::weights(int64_t d) const {
  const int64_t rows = s_.gates * s_.hidden;
  CellWeights m{};
  m.w = call_.in[1]->data.numbers() + d * rows * s_.inputs;
  m.r = call_.in[2]->data.numbers() + d * rows * s_.hidden;
  if (call_.has(3)) m.wb = biases_.data() + d * 2 * rows;
  if (m.wb) m.rb = m.wb + rows;
  if (is_lstm() && call_.has(7)) m.p = peephole_.data() + d * 3 * s_.hidden;
  m.act = acts_.data() + static_cast<size_t>(d) * per_direction_;
  return m;
}

double RecurrentLayer::squash(const Activation &f, double x) const {
  RangeWatch::see(x);
  if (clip_ > 0 && !std::isnan(x)) x = std::min(std::max(x, -clip_), clip_);
  return Roundings::of(activate(f, x));
}

Shape RecurrentLayer::y_shape() const {
  return s_.batch_first ? Shape{s_.batch, s_.steps, s_.directions, s_.hidden} : Shape{s_.steps, s_.directions, s_.batch, s_.hidden};
}

Shape RecurrentLayer::state_shape() const {
  return s_.batch_first ? Shape{s_.batch, s_.directions, s_.hidden} : Shape{s_.directions, s_.batch, s_.hidden};
}

int64_t RecurrentLayer::row_length(int64_t b) const {
  if (!call_.has(4)) return s_.steps;
  const int64_t length = to_int(call_.in[4]->data[static_cast<size_t>(b)]);
  if (length < 0 || length > s_.steps)
    throw Refusal("sequence_lens has " + std::to_string(length) + "; accepted: 0 to " + std::to_string(s_.steps));
  return length;
}

const double *RecurrentLayer::x_row(int64_t t, int64_t b) const {
  return x_.data() + (s_.batch_first ? b * s_.steps + t : t * s_.batch + b) * s_.inputs;
}

int64_t RecurrentLayer::y_at(int64_t t, int64_t d, int64_t b) const {
  return (s_.batch_first ? (b * s_.steps + t) * s_.directions + d : (t * s_.directions + d) * s_.batch + b) * s_.hidden;
}

int64_t RecurrentLayer::state_at(int64_t d, int64_t b) const {
  return (s_.batch_first ? b * s_.directions + d : d * s_.batch + b) * s_.hidden;
}

RecurrentLayer::Row RecurrentLayer::initial(size_t input, int64_t d, int64_t b) const {
  if (!call_.has(input)) return Row(static_cast<size_t>(s_.hidden), 0.0);
  const auto first = call_.in[input]->data.begin() + state_at(d, b);
  return Row(first, first + s_.hidden);
}

void RecurrentLayer::read_sizes() {
  const Tensor &x = call_.input(0), &w = call_.input(1), &r = call_.input(2);
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) throw Refusal("X, W and R must have rank 3");
  s_.batch_first = call_.attributes.integer("layout", 0) != 0;
  s_.steps = x.shape[s_.batch_first ? 1 : 0];
  s_.batch = x.shape[s_.batch_first ? 0 : 1];
  s_.inputs = x.shape[2];
  s_.gates = gates_of(call_.node.op_type());
  const std::string direction = call_.attributes.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    throw Refusal("attribute 'direction' is " + quote(direction) + "; accepted: forward, reverse, bidirectional");
  }
  s_.directions = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  s_.hidden = call_.attributes.integer("hidden_size", r.shape[2]);
  if (s_.hidden < 1 || s_.hidden > kMaxDim)
    throw Refusal("attribute 'hidden_size' is " + std::to_string(s_.hidden) + "; accepted: 1 to 2^31");
  expect(1, {s_.directions, s_.gates * s_.hidden, s_.inputs});
  expect(2, {s_.directions, s_.gates * s_.hidden, s_.hidden});
  if (call_.has(3)) expect(3, {s_.directions, 2 * s_.gates * s_.hidden});
  if (call_.has(4)) expect(4, {s_.batch});
  if (call_.has(5)) expect(5, state_shape());
  if (is_lstm() && call_.has(6)) expect(6, state_shape());
  if (is_lstm() && call_.has(7)) expect(7, {s_.directions, 3 * s_.hidden});
}

void RecurrentLayer::expect(size_t i, const Shape &shape) const {
  if (call_.input(i).shape == shape) return;
  throw Refusal("input " + std::to_string(i) + " has shape " + shape_text(call_.input(i).shape) +
                "; accepted: " + shape_text(shape));
}

}  // namespace rnnp::compiler
