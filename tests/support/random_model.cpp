// random_model.cpp -- see random_model.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/random_model.h"

#include "support/blob_builder.h"

namespace rnnp_test {
namespace {

using rnnp::Act;
using rnnp::Binary;
using rnnp::Cell;
using rnnp::kNone;
using rnnp::OpKind;

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed), b_(seed, one_in(random_, 3) ? 4 : 16), whole_(one_in(random_, 8)) {}

  std::vector<uint8_t> make() {
    if (one_in(random_, 8)) {
      x_ = embedded();
    } else {
      x_ = given_ = b_.add_input(1 + below(random_, 9));
    }
    if (one_in(random_, 5)) add_row_operand();
    const uint32_t layers = 1 + below(random_, 4);
    for (uint32_t i = 0; i < layers; ++i) add_layer();
    if (given_ != kNone && one_in(random_, 2)) x_ = sum(x_, b_.add_dense(given_, b_.elems_of(given_), width()));
    if (one_in(random_, 4)) b_.add_output(row_result(), "row");
    if (!rows_.empty() && one_in(random_, 2)) b_.add_output(rows_.back(), "final");
    b_.add_output(x_);
    return b_.build();
  }

 private:
  uint32_t width() const { return b_.elems_of(x_); }

  uint32_t embedded() {
    const uint32_t rows = 2 + below(random_, 6), elems = 1 + below(random_, 6), count = 1 + below(random_, 2);
    const uint32_t index = b_.add_index_input(count, rows);
    std::vector<float> table(size_t{rows} * elems);
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
    const rnnp::AttrGather a = {rows, elems, count, b_.add_weights(table)};
    return b_.add_node(OpKind::kGather, &a, sizeof a, {index}, elems * count, true);
  }

  uint32_t dense(uint32_t out) {
    const Act acts[] = {Act::kIdentity, Act::kTanh, Act::kRelu, Act::kSigmoid};
    return b_.add_dense(x_, width(), out, acts[below(random_, 4)]);
  }

  uint32_t sum(uint32_t a, uint32_t b) {
    const uint32_t n = b_.elems_of(a);
    const rnnp::AttrBinary add = {uint32_t(Binary::kAdd), 1, {n}, {1}, {1}};
    return b_.add_node(OpKind::kBinary, &add, sizeof add, {a, b}, n, true);
  }

  // x + what is made once a run of a row input.
  void add_row_operand() {
    const uint32_t row = b_.add_row_input(3, "condition");
    x_ = sum(x_, b_.add_dense(row, 3, width(), Act::kTanh));
  }

  // What the next layer's weights are stored as: mostly f32.
  rnnp::DType weight_type() {
    const rnnp::DType types[] = {rnnp::DType::kF16, rnnp::DType::kBf16, rnnp::DType::kI8, rnnp::DType::kI4};
    return one_in(random_, 3) ? types[below(random_, 4)] : rnnp::DType::kF32;
  }

  void add_layer() {
    b_.weights = weight_type();
    b_.recurrent_weights = weight_type();
    constexpr uint32_t kHeights[] = {1, 4, 8, 16};
    b_.block_units = one_in(random_, 4) ? kHeights[below(random_, 4)] : 0;
    switch (below(random_, 8)) {
      case 0:
        x_ = dense(1 + below(random_, 20));
        return;
      case 1:
        x_ = conv();
        return;
      case 2:
        x_ = running();
        return;
      case 3: {
        const rnnp::AttrUnary a = {{uint32_t(Act::kSigmoid), 0, 0}};
        x_ = b_.add_node(OpKind::kUnary, &a, sizeof a, {x_}, width(), true);
        return;
      }
      default:
        x_ = recurrent();
    }
  }

  uint32_t recurrent() {
    RecurrentOptions o;
    o.cell = Cell(below(random_, 4));
    o.hidden = one_in(random_, 10) ? 40 + below(random_, 70) : 1 + below(random_, 20);
    o.bidirectional = whole_ && one_in(random_, 2);
    o.reverse = whole_ && !o.bidirectional && one_in(random_, 3);
    o.initial_state = one_in(random_, 3);
    o.peephole = o.cell == Cell::kLstm && one_in(random_, 4);
    o.clip = one_in(random_, 5) ? 0.5 : 0;
    const uint32_t width_out = o.hidden * (o.bidirectional ? 2 : 1);
    std::vector<uint32_t> extra;
    if (one_in(random_, 3)) {
      const std::string number = std::to_string(ports_++);
      extra = {kNone, kNone, kNone};
      if (one_in(random_, 2)) extra[0] = b_.add_state_input(width_out, "h" + number);
      if (o.cell == Cell::kLstm && one_in(random_, 2)) extra[1] = b_.add_state_input(width_out, "c" + number);
      if (ports_ == 1 && one_in(random_, 2)) extra[2] = b_.add_lengths_input();
    }
    uint32_t h, c;
    const bool gives_h = one_in(random_, 3), gives_c = o.cell == Cell::kLstm && one_in(random_, 3);
    const uint32_t y = b_.add_recurrent(x_, width(), o, gives_h ? &h : nullptr, gives_c ? &c : nullptr, extra);
    if (gives_h) rows_.push_back(h);
    if (gives_c) rows_.push_back(c);
    return y;
  }

  uint32_t conv() {
    const uint32_t in = width(), out = 1 + below(random_, 8);
    rnnp::AttrConv a = {};
    a.window.in_size[0] = a.window.in_size[1] = a.window.out_size[0] = a.window.out_size[1] = 1;
    a.window.kernel[0] = a.window.kernel[1] = a.window.stride[0] = a.window.stride[1] = 1;
    a.window.dilation[0] = a.window.dilation[1] = 1;
    a.window.x_stride[0] = a.window.x_stride[1] = static_cast<int32_t>(in);
    a.window.x_stride[2] = 1;
    a.window.y_stride[0] = a.window.y_stride[1] = out;
    a.time_taps = 1 + below(random_, 3);
    a.time_dilation = 1 + below(random_, 2);
    a.lead = static_cast<int32_t>((a.time_taps - 1) * a.time_dilation + (one_in(random_, 3) ? 2 : 0));
    if (whole_ && one_in(random_, 2)) a.lead = 0;  // looks ahead
    a.groups = 1;
    a.in_channels = in;
    a.out_channels = out;
    a.act = {uint32_t(Act::kTanh), 0, 0};
    return b_.add_conv(x_, a, out);
  }

  // x + the library's own kept sum: a stepwise model. Of whole sequences: their steps reversed.
  uint32_t running() {
    if (whole_) return one_in(random_, 2) ? dense(width()) : b_.add_time_reverse(x_);
    if (!one_in(random_, 2)) return dense(width());
    uint32_t state;
    const uint32_t before = b_.add_state_read(width(), &state);
    const rnnp::AttrUnary half = {{uint32_t(Act::kAffine), 0.5f, 0}};
    const uint32_t decayed = b_.add_node(OpKind::kUnary, &half, sizeof half, {before}, width(), true);
    const uint32_t after = sum(decayed, x_);
    b_.add_state_write(state, after);
    return after;
  }

  uint32_t row_result() {
    if (one_in(random_, 2)) {
      const rnnp::Reduce ops[] = {rnnp::Reduce::kSum, rnnp::Reduce::kMean, rnnp::Reduce::kMax, rnnp::Reduce::kMin};
      return b_.add_time_reduce(x_, ops[below(random_, 4)]);
    }
    return b_.add_time_step(x_, one_in(random_, 2));
  }

  std::mt19937 random_;
  BlobBuilder b_;
  bool whole_;                                  // runs whole sequences
  uint32_t x_ = 0, given_ = kNone, ports_ = 0;  // given_: the input, where layers after the first may read it
  std::vector<uint32_t> rows_;                  // final states
};

}  // namespace

std::vector<uint8_t> random_model(uint32_t seed) {
  return Maker(seed).make();
}

}  // namespace rnnp_test
