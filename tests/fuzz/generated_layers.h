// generated_layers.h -- the layers of a generated blob: recurrent ones along time and along a row, dense ones.
// Room: tests/fuzz. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_GENERATED_LAYERS_H_
#define RNNPACK_TESTS_FUZZ_GENERATED_LAYERS_H_

#include "generated_values.h"

namespace rnnp_fuzz {

class GeneratedLayers : protected GeneratedValues {
 protected:
  using GeneratedValues::GeneratedValues;

  // `formats`: weights of any panel format, else f32.
  BlobDirection direction(const AttrRecurrent &a, bool reverse, bool with_states, bool formats) {
    static constexpr uint32_t kGates[] = {1, 4, 3, 3};
    const uint32_t gates = kGates[a.cell], units = padded(a.hidden_size);
    const bool lstm = a.cell == uint32_t(Cell::kLstm);
    BlobDirection d = {};
    const PanelFormat *w_format = formats ? panel_format(1) : nullptr, *r_format = formats ? panel_format(1) : nullptr;
    const bool split = a.cell == uint32_t(Cell::kGru) || (a.cell == uint32_t(Cell::kGruLinear) && r_format != nullptr);
    d.w = matrix(w_format, gates, a.hidden_size, a.input_size);
    d.r = matrix(r_format, split ? 2 : gates, a.hidden_size, a.hidden_size);
    d.r_output = split ? matrix(r_format, 1, a.hidden_size, a.hidden_size) : kNone;
    d.bias = weights(uint64_t{units} * gates);
    d.r_bias = a.cell == uint32_t(Cell::kGruLinear) ? weights(units) : kNone;
    d.peephole = lstm && c_.once_in(3) ? weights(uint64_t{units} * 3) : kNone;
    d.state_h = with_states ? add_state(a.hidden_size, 2) : kNone;
    d.state_c = with_states && lstm ? add_state(a.hidden_size, 1) : kNone;
    d.reverse = reverse;
    const bool plain = smooth_ || c_.once_in(2);  // a gate without a bound amplifies
    const Act defaults[4][3] = {{Act::kTanh, Act::kIdentity, Act::kIdentity},
                                {Act::kSigmoid, Act::kTanh, Act::kTanh},
                                {Act::kSigmoid, Act::kTanh, Act::kIdentity},
                                {Act::kSigmoid, Act::kTanh, Act::kIdentity}};
    for (int i = 0; i < 3; ++i) d.act[i] = plain ? BlobActivation{uint32_t(defaults[a.cell][i]), 0, 0} : activation();
    return d;
  }

  // A row that a direction's H values are taken out of.
  uint32_t initial(const AttrRecurrent &a, uint32_t d_count, BlobStrided *at) {
    if (!c_.once_in(3)) return kNone;
    const uint32_t stride = c_.range(1, 2), n = d_count * stride * a.hidden_size;
    at[0] = {0, stride};
    at[1] = {stride * a.hidden_size, stride};
    if (!causal_ && c_.once_in(2)) {
      const uint32_t v = any_of(false);
      if (v != kNone && elems(v) >= n) return v;
    }
    return c_.once_in(4) ? add_input(RNNP_ROLE_PER_RUN, n) : add_input(RNNP_ROLE_STATE, n);
  }

  AttrRecurrent layer(uint32_t inputs, bool any_direction, bool with_states) {
    AttrRecurrent a = {};
    a.cell = c_.below(4);
    a.input_size = inputs;
    a.hidden_size = c_.range(1, c_.once_in(8) ? 34 : 8);
    a.direction_count = any_direction && c_.once_in(2) ? 2 : 1;
    a.flags = a.cell == uint32_t(Cell::kLstm) && c_.once_in(6) ? kInputForget : 0;
    a.clip = c_.once_in(6) ? 0.5f : 0.0f;
    for (uint32_t d = 0; d < a.direction_count; ++d)
      a.direction[d] = direction(a, any_direction && c_.once_in(2), with_states, with_states);
    return a;
  }

  void recurrent() {
    const uint32_t x = any_of(true);
    if (x == kNone) return;
    const uint32_t masked = elems(x) % 4 == 3 ? 1 : 0;  // some, and the models of others stay as they are
    AttrRecurrent a = layer(elems(x) - masked, !causal_ && !in_loop(), true);
    if (masked) a.flags |= kMaskedSteps;
    const bool lstm = a.cell == uint32_t(Cell::kLstm);
    BlobStrided h[2] = {{0, 1}, {0, 1}}, c[2] = {{0, 1}, {0, 1}};
    const uint32_t init_h = initial(a, a.direction_count, h), init_c = lstm ? initial(a, a.direction_count, c) : kNone;
    for (uint32_t d = 0; d < 2; ++d) a.direction[d].init_h = h[d], a.direction[d].init_c = c[d];
    const uint32_t width = a.direction_count * a.hidden_size;
    const uint32_t y = c_.once_in(8) && !in_loop() ? kNone : add_made(width, true, false);
    const uint32_t y_h = c_.once_in(3) ? add_made(width, false, false) : kNone;
    const uint32_t y_c = lstm && c_.once_in(3) ? add_made(width, false, false) : kNone;
    add(OpKind::kRecurrent, a, {x, init_h, init_c, lengths()}, {y, y_h, y_c});
  }

  // Along an axis of x's row, from nothing, from a value of the right size or from constants.
  void feature_recurrent() {
    const uint32_t x = any();
    AttrFeatureRecurrent a = {};
    a.steps = c_.range(1, 6);
    while (elems(x) % a.steps != 0) --a.steps;
    a.rows = c_.range(1, 4);
    while (elems(x) / a.steps % a.rows != 0) --a.rows;
    a.layer = layer(elems(x) / (a.steps * a.rows), true, false);
    const bool lstm = a.layer.cell == uint32_t(Cell::kLstm);
    const uint32_t width = a.layer.direction_count * a.layer.hidden_size * a.rows;
    std::vector<uint32_t> in = {x, feature_state(width), lstm ? feature_state(width) : kNone}, from;
    for (const uint32_t v : in) {
      if (v != kNone) from.push_back(v);
    }
    const uint32_t y = c_.once_in(8) ? kNone : result(width * a.steps, from);
    const uint32_t y_h = y == kNone || c_.once_in(3) ? result(width, from) : kNone;
    const uint32_t y_c = lstm && c_.once_in(3) ? result(width, from) : kNone;
    add(OpKind::kFeatureRecurrent, a, in, {y, y_h, y_c});
  }

  uint32_t feature_state(uint32_t n) {
    const uint32_t v = any_operand();
    return elems(v) == n ? v : c_.once_in(3) ? add_const(n) : kNone;
  }

  void dense() {
    const uint32_t x = any();
    uint32_t groups = c_.once_in(3) ? c_.range(1, elems(x)) : 1;
    while (elems(x) % groups != 0) --groups;
    AttrDense a = {elems(x) / groups, c_.range(1, 20), 0, 0, activation(), groups};
    const uint32_t matrices = c_.once_in(2) ? groups : 1;
    a.matrix = matrix(panel_format(matrices), 1, a.output_size, a.input_size, matrices);
    a.bias = maybe_weights(uint64_t{padded(a.output_size)} * matrices);
    add(OpKind::kDense, a, {x}, {result(a.output_size * groups, {x})});
  }
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_GENERATED_LAYERS_H_
