// blob_builder.cpp -- see blob_builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/blob_builder.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "pack/pack.h"
#include "pack/winograd.h"
#include "rnnpack/rnnpack.h"
#include "support/blob_tables.h"

namespace rnnp_test {

using rnnp::Act;
using rnnp::BlobActivation;
using rnnp::Cell;
using rnnp::kNone;
using rnnp::OpKind;
using rnnp::ValueKind;

uint32_t gates_of(Cell cell) {
  return has_c(cell) ? 4 : cell == Cell::kRnn ? 1 : 3;
}

static uint32_t round_up(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}

uint32_t BlobBuilder::add_string(const std::string &s) {
  const uint32_t at = static_cast<uint32_t>(strings_.size());
  strings_.insert(strings_.end(), s.begin(), s.end());
  strings_.push_back(0);
  return at;
}

uint32_t BlobBuilder::add_value(ValueKind kind, uint32_t elems, bool sequence, rnnp::DType dtype) {
  uint32_t location = 0;
  if (kind == ValueKind::kSequence) {
    location = sequence_elems_;
    sequence_elems_ += round_up(elems, 16);
  } else if (kind == ValueKind::kRow) {
    location = row_elems_;
    row_elems_ += round_up(elems, 16);
  } else {
    location = static_cast<uint32_t>(inputs_.size());
  }
  values_.push_back({uint32_t(kind), uint32_t(dtype), elems, location, sequence ? 1u : 0u, 0});
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t BlobBuilder::add_input(uint32_t elems, const std::string &name) {
  const uint32_t v = add_value(ValueKind::kInput, elems, true);
  inputs_.push_back({add_string(name), v, RNNP_ROLE_SEQUENCE, 3, {RNNP_DIM_STEPS, RNNP_DIM_BATCH, int32_t(elems)}, 0, 0});
  return v;
}

uint32_t BlobBuilder::add_row_input(uint32_t elems, const std::string &name) {
  const uint32_t v = add_value(ValueKind::kInput, elems, false);
  inputs_.push_back({add_string(name), v, RNNP_ROLE_PER_RUN, 2, {RNNP_DIM_BATCH, int32_t(elems)}, 0, 0});
  return v;
}

uint32_t BlobBuilder::add_state_input(uint32_t elems, const std::string &name) {
  const uint32_t v = add_value(ValueKind::kInput, elems, false);
  inputs_.push_back({add_string(name), v, RNNP_ROLE_STATE, 2, {RNNP_DIM_BATCH, int32_t(elems)}, 0, 0});
  return v;
}

uint32_t BlobBuilder::add_lengths_input() {
  const uint32_t v = add_value(ValueKind::kInput, 1, false, rnnp::DType::kI32);
  inputs_.push_back({add_string("lengths"), v, RNNP_ROLE_LENGTHS, 1, {RNNP_DIM_BATCH}, 0, 0});
  return v;
}

uint32_t BlobBuilder::add_index_input(uint32_t elems, uint32_t limit) {
  const uint32_t v = add_value(ValueKind::kInput, elems, true, rnnp::DType::kI32);
  inputs_.push_back({add_string("index"), v, RNNP_ROLE_SEQUENCE, 3, {RNNP_DIM_STEPS, RNNP_DIM_BATCH, int32_t(elems)}, limit, 0});
  return v;
}

uint32_t BlobBuilder::add_state(uint32_t elems, const std::vector<double> &init) {
  const uint32_t at = init.empty() ? kNone : put(std::vector<float>(init.begin(), init.end()));
  states_.push_back({elems, at, 0, add_string("state" + std::to_string(states_.size())), 2, 0});
  return static_cast<uint32_t>(states_.size() - 1);
}

uint32_t BlobBuilder::put(const void *bytes, size_t count) {
  const size_t at = weights_.size();
  weights_.resize(at + round_up(static_cast<uint32_t>(count), 64));
  std::memcpy(weights_.data() + at, bytes, count);
  return static_cast<uint32_t>(at);
}

// Weights are rounded to f32 here so that the f64 reference sees the same numbers.
std::vector<double> BlobBuilder::random(size_t n, double bound) {
  std::uniform_real_distribution<float> uniform(static_cast<float>(-bound), static_cast<float>(bound));
  std::vector<double> v(n);
  for (double &e : v) e = uniform(rng_);
  return v;
}

static BlobActivation with_defaults(Act act) {
  switch (act) {
    case Act::kLeakyRelu:
      return {uint32_t(act), 0.01f, 0};
    case Act::kAffine:
      return {uint32_t(act), 0.9f, 0.05f};
    case Act::kThresholdedRelu:
      return {uint32_t(act), 0.2f, 0};
    case Act::kScaledTanh:
      return {uint32_t(act), 0.8f, 1.1f};
    case Act::kHardSigmoid:
      return {uint32_t(act), 0.2f, 0.5f};
    case Act::kElu:
      return {uint32_t(act), 1.0f, 0};
    default:
      return {uint32_t(act), 0, 0};
  }
}

rnnp::BlobDirection BlobBuilder::pack_direction(const RecurrentLayer &layer, DirectionWeights &d) {
  const uint32_t h = layer.hidden, gates = gates_of(layer.cell);
  const bool linear = layer.cell == Cell::kGruLinear;
  std::vector<double> bias(size_t{gates} * h);
  for (size_t i = 0; i < bias.size(); ++i) {
    const bool apart = linear && i >= size_t{2} * h;
    bias[i] = apart || !d.h_scale.empty() ? d.wb[i] : static_cast<float>(d.wb[i]) + static_cast<float>(d.rb[i]);
  }
  rnnp::BlobDirection out = {};
  out.w = pack_matrix(d.w, h, layer.input, 0, gates, weights);
  const bool split =
      layer.cell == Cell::kGru || (linear && (recurrent_weights != rnnp::DType::kF32 || (block_units != 0 && nr_ == 16)));
  out.r = pack_matrix(d.r, h, h, 0, split ? 2 : gates, recurrent_weights);
  out.r_output = split ? pack_matrix(d.r, h, h, 2, 1, recurrent_weights) : kNone;
  for (const uint32_t matrix : {out.r, out.r_output}) {
    const bool bytes = recurrent_weights == rnnp::DType::kI8 || recurrent_weights == rnnp::DType::kI4;
    if (one_recurrent_step && matrix != kNone && bytes) matrices_[matrix].lhs_scale = 1.0f / 127.0f;
  }
  out.bias = pack_vector(bias, h, gates);
  out.r_bias = linear ? pack_vector(std::vector<double>(d.rb.begin() + 2 * h, d.rb.end()), h, 1) : kNone;
  if (!d.h_scale.empty()) out.r_bias = pack_vector(d.rb, h, 4);
  std::vector<double> p = d.p;  // ONNX's order i o f is the blob's
  out.peephole = p.empty() ? kNone : pack_vector(p, h, 3);
  out.state_h = add_state(h, d.h0);
  out.state_c = has_c(layer.cell) ? add_state(h, d.c0) : kNone;
  if (out.state_c != kNone) states_[out.state_c].buffers = 1;
  out.reverse = d.reverse;
  for (int i = 0; i < 3; ++i) out.act[i] = d.act[i];
  return out;
}

rnnp::BlobCellNorm BlobBuilder::add_norm(const RecurrentOptions &o, DirectionWeights *d) {
  const uint32_t h = o.hidden, all = 4 * h;
  d->x_scale = random(all, 1.5);
  if (!o.joint) d->h_scale = random(all, 1.5);
  d->norm_bias = random(all, 0.5);
  d->c_scale = random(h, 1.5);
  d->c_bias = random(h, 0.5);
  return {pack_vector(d->x_scale, h, 4),
          o.joint ? kNone : pack_vector(d->h_scale, h, 4),
          pack_vector(d->norm_bias, h, 4),
          pack_vector(d->c_scale, h, 1),
          pack_vector(d->c_bias, h, 1),
          kNormEpsilons[0],
          kNormEpsilons[1],
          kNormEpsilons[2]};
}

uint32_t BlobBuilder::add_recurrent(uint32_t x, uint32_t input, const RecurrentOptions &o, uint32_t *y_h, uint32_t *y_c,
                                    std::vector<uint32_t> extra_inputs) {
  RecurrentLayer layer;
  layer.cell = o.cell;
  layer.input = input;
  layer.hidden = o.hidden;
  layer.input_forget = o.input_forget;
  layer.masked = o.masked;
  layer.clip = static_cast<float>(o.clip);
  const uint32_t gates = gates_of(o.cell), h = o.hidden, count = o.bidirectional ? 2 : 1;
  const double bound = 1.0 / std::sqrt(double(h));
  layer.by_gate = o.by_gate;
  layer.keeps_c = o.keeps_c;
  rnnp::AttrNormRecurrent attr = {{}, o.by_gate, o.keeps_c, {}};
  rnnp::AttrRecurrent &a = attr.layer;
  a.cell = uint32_t(o.cell);
  a.input_size = input;
  a.hidden_size = h;
  a.direction_count = count;
  a.flags = (o.input_forget ? rnnp::kInputForget : 0) | (o.masked ? rnnp::kMaskedSteps : 0);
  a.clip = static_cast<float>(o.clip);
  for (uint32_t i = 0; i < count; ++i) {
    DirectionWeights d;
    d.w = random(size_t{gates} * h * input, bound);
    d.r = random(size_t{gates} * h * h, bound);
    if (weights == rnnp::DType::kF32 || weights == rnnp::DType::kI8) thin_out(&d.w, h, input);
    if (recurrent_weights == rnnp::DType::kF32 || recurrent_weights == rnnp::DType::kI8) thin_out(&d.r, h, h);
    d.wb = random(size_t{gates} * h, bound);
    d.rb = random(size_t{gates} * h, bound);
    if (o.peephole) d.p = random(size_t{3} * h, bound);
    if (o.initial_state) d.h0 = random(h, 0.5);
    if (o.initial_state && has_c(o.cell)) d.c0 = random(h, 0.5);
    d.reverse = o.reverse || i == 1;
    const Act defaults[5][3] = {{Act::kTanh},
                                {Act::kSigmoid, Act::kTanh, Act::kTanh},
                                {Act::kSigmoid, Act::kTanh},
                                {Act::kSigmoid, Act::kTanh},
                                {Act::kSigmoid, Act::kTanh, Act::kTanh}};
    for (size_t k = 0; k < 3; ++k) d.act[k] = with_defaults(k < o.acts.size() ? o.acts[k] : defaults[uint32_t(o.cell)][k]);
    if (d.reverse) causal_ = false;
    if (o.cell == Cell::kLstmNorm) attr.norm[i] = add_norm(o, &d);
    a.direction[i] = pack_direction(layer, d);
    a.direction[i].init_h = a.direction[i].init_c = {i * h, 1};
    layer.directions.push_back(d);
  }
  recurrent.push_back(layer);
  std::vector<uint32_t> in = {x};
  in.insert(in.end(), extra_inputs.begin(), extra_inputs.end());
  const uint32_t y = add_value(ValueKind::kSequence, count * h, true);
  std::vector<uint32_t> out = {y, kNone, kNone};
  if (y_h != nullptr) *y_h = out[1] = add_value(ValueKind::kRow, count * h, false);
  if (y_c != nullptr) *y_c = out[2] = add_value(ValueKind::kRow, count * h, false);
  push_node(OpKind::kRecurrent, &attr, o.cell == Cell::kLstmNorm ? sizeof attr : sizeof a, in, out);
  macs_per_step_ += uint64_t{count} * gates * h * (input + h);
  return y;
}

uint32_t BlobBuilder::add_constant(const std::vector<float> &v) {
  values_.push_back({uint32_t(ValueKind::kConst), uint32_t(rnnp::DType::kF32), uint32_t(v.size()), put(v), 0, 0});
  return uint32_t(values_.size() - 1);
}

uint32_t BlobBuilder::add_dense(uint32_t x, uint32_t input, uint32_t output, Act act) {
  DenseLayer layer;
  layer.input = input;
  layer.output = output;
  layer.w = random(size_t{output} * input, 1.0 / std::sqrt(double(input)));
  layer.b = random(output, 0.5);
  layer.act = with_defaults(act);
  const uint32_t w = pack_matrix(layer.w, output, input, 0, 1, weights);
  const rnnp::AttrDense a = {input, output, w, pack_vector(layer.b, output, 1), layer.act, 1};
  dense.push_back(layer);
  if (values_[x].sequence != 0) macs_per_step_ += uint64_t{input} * output;
  return add_node(OpKind::kDense, &a, sizeof a, {x}, output, values_[x].sequence != 0);
}

uint32_t BlobBuilder::add_node(OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &inputs, uint32_t out_elems,
                               bool sequence) {
  const uint32_t y = add_value(sequence ? ValueKind::kSequence : ValueKind::kRow, out_elems, sequence);
  bool early = !sequence && !inputs.empty();
  for (const uint32_t v : inputs)
    early = early && !values_[v].sequence && (values_[v].early || values_[v].kind != uint32_t(ValueKind::kRow));
  values_[y].early = early;
  push_node(op, attr, bytes, inputs, {y});
  return y;
}

void BlobBuilder::push_node(OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &in,
                            const std::vector<uint32_t> &out) {
  rnnp::BlobNode n = {};
  n.op = uint32_t(op);
  n.attr = static_cast<uint32_t>(attrs_.size());
  n.attr_bytes = static_cast<uint32_t>(bytes);
  n.input_first = static_cast<uint32_t>(args_.size());
  n.input_count = static_cast<uint32_t>(in.size());
  args_.insert(args_.end(), in.begin(), in.end());
  n.output_first = static_cast<uint32_t>(args_.size());
  n.output_count = static_cast<uint32_t>(out.size());
  args_.insert(args_.end(), out.begin(), out.end());
  n.name = add_string("node" + std::to_string(nodes_.size()));
  const uint8_t *p = static_cast<const uint8_t *>(attr);
  attrs_.insert(attrs_.end(), p, p + bytes);
  attrs_.resize(round_up(static_cast<uint32_t>(attrs_.size()), 8));
  nodes_.push_back(n);
}

uint32_t BlobBuilder::add_persistent(uint32_t elems, uint32_t words) {
  const uint32_t state = add_state(elems, {});
  states_[state].buffers = 1;
  states_[state].words = words;
  return state;
}

uint32_t BlobBuilder::add_time_step(uint32_t x, bool last) {
  const uint32_t elems = values_[x].row_elems;
  const rnnp::AttrTimeStep a = {last ? 1u : 0u, last && causal_ ? add_persistent(elems) : kNone};
  return add_node(OpKind::kTimeStep, &a, sizeof a, {x}, elems, false);
}

uint32_t BlobBuilder::add_time_reduce(uint32_t x, rnnp::Reduce op) {
  const uint32_t elems = values_[x].row_elems;
  const rnnp::AttrTimeReduce a = {uint32_t(op), add_persistent(2 * elems + 2, 2)};
  return add_node(OpKind::kTimeReduce, &a, sizeof a, {x}, elems, false);
}

uint32_t BlobBuilder::add_time_reverse(uint32_t x, uint32_t lengths) {
  const rnnp::AttrTimeReverse a = {0};
  causal_ = false;
  return add_node(OpKind::kTimeReverse, &a, sizeof a, {x, lengths}, values_[x].row_elems, true);
}

uint32_t BlobBuilder::add_state_read(uint32_t elems, uint32_t *state, uint32_t start) {
  *state = add_persistent(elems);
  stepwise_ = true;
  const rnnp::AttrLoop attr = {{*state}, 0};
  const std::vector<uint32_t> in = start == kNone ? std::vector<uint32_t>() : std::vector<uint32_t>{start};
  return add_node(OpKind::kStateRead, &attr, nodes_.size() == loop_ ? sizeof attr : sizeof attr.read, in, elems, true);
}

void BlobBuilder::start_state_at(uint32_t state, const std::vector<float> &row) {
  states_[state].init = put(row);
}

void BlobBuilder::add_state_write(uint32_t state, uint32_t x, uint32_t lengths) {
  const rnnp::AttrState attr = {state};
  push_node(OpKind::kStateWrite, &attr, sizeof attr, {x, lengths}, {});
}

void BlobBuilder::end_loop() {
  const uint32_t nodes = static_cast<uint32_t>(nodes_.size()) - loop_;
  std::memcpy(attrs_.data() + nodes_[loop_].attr + offsetof(rnnp::AttrLoop, nodes), &nodes, sizeof nodes);
  loop_ = kNone;
}

uint32_t BlobBuilder::add_conv(uint32_t x, rnnp::AttrConv a, uint32_t out_elems) {
  return add_convolution(x, a, out_elems, false);
}

uint32_t BlobBuilder::add_depthwise(uint32_t x, rnnp::AttrConv a, uint32_t out_elems) {
  return add_convolution(x, a, out_elems, true);
}

uint32_t BlobBuilder::add_winograd(uint32_t x, rnnp::AttrConv a, uint32_t out_elems) {
  return add_convolution(x, a, out_elems, false, true);
}

uint32_t BlobBuilder::add_convolution(uint32_t x, rnnp::AttrConv a, uint32_t out_elems, bool depthwise, bool winograd) {
  ConvLayer layer;
  const uint32_t depth = a.time_taps * a.window.kernel[0] * a.window.kernel[1] * a.in_channels, outputs = a.groups * a.out_channels;
  std::uniform_int_distribution<int> number(-3, 3);
  for (uint32_t i = 0; i < outputs * depth; ++i) layer.w.push_back(number(rng_));
  for (uint32_t i = 0; i < outputs; ++i) layer.b.push_back(number(rng_));
  const bool ahead = int64_t{a.time_taps - 1} * a.time_dilation > a.lead;
  if (ahead) causal_ = false;
  a.state = kNone;
  if (a.lead > 0 && !ahead) {
    a.state = add_state(uint32_t(a.lead) * values_[x].row_elems + 1, {});
    states_[a.state].buffers = 1;
    states_[a.state].words = 1;
  }
  std::vector<float> w, bias;
  const bool lines = winograd && a.y_plane == 0;
  const uint32_t stored_depth = lines ? depth / 3 : winograd ? rnnp::kWinogradPoints * a.in_channels : depth;
  std::vector<double> stored = layer.w, started = layer.b;
  if (lines) {
    stored.resize(size_t{rnnp::kLinePoints} * outputs * stored_depth);
    rnnp::put_line_weights(layer.w.data(), outputs, a.time_taps, a.in_channels, stored.data());
    started.assign(size_t{rnnp::kLinePoints} * outputs, 0);
    std::copy(layer.b.begin(), layer.b.end(), started.begin() + rnnp::kLineStart * outputs);
  } else if (winograd) {
    stored.resize(size_t{outputs} * stored_depth);
    rnnp::put_winograd_weights(layer.w.data(), outputs, a.in_channels, stored.data());
  }
  const uint32_t matrices = depthwise ? 1 : lines ? rnnp::kLinePoints : a.groups, kept = nr_;
  const uint32_t units = lines ? outputs : outputs / matrices;
  if (depthwise) nr_ = units;
  for (uint32_t g = 0; g < matrices; ++g) {
    const auto first = stored.begin() + g * units * stored_depth;
    const auto bias_first = started.begin() + g * units;
    const std::vector<float> part = panels(std::vector<double>(first, first + units * stored_depth), units, stored_depth, 0, 1);
    const std::vector<float> vector = panels(std::vector<double>(bias_first, bias_first + units), units, 1, 0, 1);
    w.insert(w.end(), part.begin(), part.end());
    bias.insert(bias.end(), vector.begin(), vector.end());
  }
  nr_ = kept;
  if (weights != rnnp::DType::kF32 && !depthwise) {
    a.matrix = pack_matrices(weights, std::vector<float>(layer.w.begin(), layer.w.end()), {nullptr, units, depth, 0, 1}, matrices);
  } else {
    a.matrix = add_matrix(1, units, stored_depth, put(w), matrices);
  }
  if (depthwise) matrices_.back().format = format_of_nr(0);
  a.bias = put(bias);
  layer.attr = a;
  conv.push_back(layer);
  macs_per_step_ += uint64_t{out_elems} * depth;
  return add_node(OpKind::kConv, &a, sizeof a, {x}, out_elems, true);
}

void BlobBuilder::add_output(uint32_t value, const std::string &name) {
  const rnnp::BlobValue &v = values_[value];
  rnnp::BlobIo io = {add_string(name),
                     value,
                     v.sequence ? uint32_t(RNNP_ROLE_SEQUENCE) : uint32_t(RNNP_ROLE_PER_RUN),
                     2,
                     {RNNP_DIM_BATCH, int32_t(v.row_elems)},
                     0,
                     0};
  if (v.sequence) io = {io.name, value, io.role, 3, {RNNP_DIM_STEPS, RNNP_DIM_BATCH, int32_t(v.row_elems)}, 0, 0};
  outputs_.push_back(io);
}

std::vector<uint8_t> BlobBuilder::build() {
  BlobTables t;
  rnnp::BlobHeader &h = t.header;
  h.magic = rnnp::kBlobMagic;
  h.version = rnnp::kBlobVersion;
  h.header_bytes = sizeof h;
  h.align = rnnp::kBlobAlign;
  h.flags = (causal_ ? uint32_t(rnnp::kBlobCausal) : 0u) | (causal_ && stepwise_ ? uint32_t(rnnp::kBlobStepwise) : 0u);
  h.model_id = 0x1234 + weights_.size();
  h.macs_per_step = macs_per_step_;
  h.panel_format = format_of_nr(nr_);
  h.sequence_pool_elems = sequence_elems_;
  h.row_pool_elems = row_elems_;
  t.values = values_;
  t.nodes = nodes_;
  t.args = args_;
  t.inputs = inputs_;
  t.outputs = outputs_;
  t.states = states_;
  t.matrices = matrices_;
  t.attrs = attrs_;
  t.strings = strings_;
  t.weights = weights_;
  return t.bytes();
}

}  // namespace rnnp_test
