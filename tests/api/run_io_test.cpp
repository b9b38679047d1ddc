// run_io_test.cpp -- strides, lengths, fewer rows, optional inputs, last step, and errors that change nothing.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/reference_layers.h"
#include "support/session_fixture.h"

namespace run_io_test {

using namespace rnnp_test;
using rnnp::Cell;

constexpr uint32_t kIn = 6, kHidden = 20, kBatch = 3;
constexpr size_t kSteps = 9;

struct Net {
  BlobBuilder builder{5};
  std::vector<uint8_t> blob;
};

// LSTM with optional initial_h, initial_c and lengths inputs; outputs Y, Y_h, Y_c.
Net lstm_with_all_ports() {
  Net n;
  const uint32_t x = n.builder.add_input(kIn);
  const uint32_t h0 = n.builder.add_state_input(kHidden, "initial_h");
  const uint32_t c0 = n.builder.add_state_input(kHidden, "initial_c");
  const uint32_t lengths = n.builder.add_lengths_input();
  RecurrentOptions o;
  o.hidden = kHidden;
  uint32_t y_h, y_c;
  const uint32_t y = n.builder.add_recurrent(x, kIn, o, &y_h, &y_c, {h0, c0, lengths});
  n.builder.add_output(y, "Y");
  n.builder.add_output(y_h, "Y_h");
  n.builder.add_output(y_c, "Y_c");
  n.blob = n.builder.build();
  return n;
}

struct Call {
  std::vector<float> x = random_floats(kSteps * kBatch * kIn, 1);
  std::vector<float> h0 = random_floats(kBatch * kHidden, 2), c0 = random_floats(kBatch * kHidden, 3);
  std::vector<int32_t> lengths = {4, 9, 0};
  std::vector<float> y = std::vector<float>(kSteps * kBatch * kHidden, 7), y_h = std::vector<float>(kBatch * kHidden, 7), y_c = y_h;
  rnnp_const_buffer inputs[4] = {{x.data(), 0, 0}, {h0.data(), 0, 0}, {c0.data(), 0, 0}, {lengths.data(), 0, 0}};
  rnnp_buffer outputs[3] = {{y.data(), 0, 0}, {y_h.data(), 0, 0}, {y_c.data(), 0, 0}};
  rnnp_io io = {sizeof(rnnp_io), sizeof(rnnp_buffer), 0, kBatch, kSteps, 4, 3, nullptr, inputs, outputs, nullptr};
};

void expect_near(const std::vector<double> &want, const std::vector<float> &got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(want[i], got[i], 1e-5) << i;
}

TEST(RunIo, InitialStateAndLengthsOfTheCall) {
  const Net n = lstm_with_all_ports();
  Call c;
  const RecurrentResult want = run_recurrent(n.builder.recurrent[0], {c.x.begin(), c.x.end()}, kSteps, kBatch, c.lengths,
                                             {c.h0.begin(), c.h0.end()}, {c.c0.begin(), c.c0.end()});
  Runner r(n.blob, {kBatch});
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &c.io));
  expect_near(want.y, c.y);
  expect_near(want.y_h, c.y_h);
  expect_near(want.y_c, c.y_c);
}

TEST(RunIo, LengthsInputGatesItsOwnLayerTheCallsLengthsGateAll) {
  BlobBuilder b(6);
  RecurrentOptions o;
  o.hidden = kHidden;
  const uint32_t x = b.add_input(kIn);
  const uint32_t first = b.add_recurrent(x, kIn, o, nullptr, nullptr, {rnnp::kNone, rnnp::kNone, b.add_lengths_input()});
  b.add_output(b.add_recurrent(first, kHidden, o));
  const std::vector<uint8_t> blob = b.build();
  const std::vector<float> data = random_floats(kSteps * kBatch * kIn, 1);
  const std::vector<int32_t> lengths = {4, 9, 0};
  const RecurrentResult mid = run_recurrent(b.recurrent[0], {data.begin(), data.end()}, kSteps, kBatch, lengths);
  for (const bool by_call : {false, true}) {
    const RecurrentResult want = run_recurrent(b.recurrent[1], mid.y, kSteps, kBatch, by_call ? lengths : std::vector<int32_t>());
    std::vector<float> y(want.y.size());
    const rnnp_const_buffer inputs[] = {{data.data(), 0, 0}, {by_call ? nullptr : lengths.data(), 0, 0}};
    const rnnp_buffer outputs[] = {{y.data(), 0, 0}};
    const rnnp_io io = {
        sizeof(rnnp_io), sizeof(rnnp_buffer), 0, kBatch, kSteps, 2, 1, by_call ? lengths.data() : nullptr, inputs, outputs,
        nullptr};
    Runner r(blob, {kBatch});
    ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
    expect_near(want.y, y);
  }
}

TEST(RunIo, OptionalInputsLeftOutContinueFromTheState) {
  const Net n = lstm_with_all_ports();
  Call c;
  for (int i = 1; i < 4; ++i) c.inputs[i].data = nullptr;
  const RecurrentResult want = run_recurrent(n.builder.recurrent[0], {c.x.begin(), c.x.end()}, kSteps, kBatch);
  Runner r(n.blob, {kBatch});
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &c.io));
  expect_near(want.y, c.y);
  const RecurrentResult more =
      run_recurrent(n.builder.recurrent[0], {c.x.begin(), c.x.end()}, kSteps, kBatch, {}, want.y_h, want.y_c);
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &c.io));
  expect_near(more.y, c.y);
}

TEST(RunIo, BatchMajorStridesGiveTheSameBits) {
  const Net n = lstm_with_all_ports();
  Call packed, strided;
  Runner a(n.blob, {kBatch}), b(n.blob, {kBatch});
  const size_t in = kIn + 3, out = kHidden + 1;  // padded rows
  std::vector<float> x(kBatch * kSteps * in, 99), y(kBatch * kSteps * out, 99);
  for (size_t t = 0; t < kSteps; ++t)
    for (size_t r = 0; r < kBatch; ++r) std::copy_n(&packed.x[(t * kBatch + r) * kIn], kIn, &x[(r * kSteps + t) * in]);
  strided.inputs[0] = {x.data(), in * 4, kSteps * in * 4};
  strided.outputs[0] = {y.data(), out * 4, kSteps * out * 4};
  ASSERT_EQ(RNNP_OK, rnnp_run_io(a.session(), &packed.io));
  ASSERT_EQ(RNNP_OK, rnnp_run_io(b.session(), &strided.io));
  for (size_t t = 0; t < kSteps; ++t)
    for (size_t r = 0; r < kBatch; ++r)
      for (size_t k = 0; k < out; ++k) {
        const float want = k < kHidden ? packed.y[(t * kBatch + r) * kHidden + k] : 99;
        ASSERT_EQ(want, y[(r * kSteps + t) * out + k]);
      }
}

TEST(RunIo, RowsBeyondTheCallKeepTheirState) {
  const Net n = lstm_with_all_ports();
  for (size_t steps : {1, 2, 5}) {
    Call c;
    for (int i = 1; i < 4; ++i) c.inputs[i].data = nullptr;
    Runner r(n.blob, {kBatch});
    ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &c.io));
    const std::vector<uint8_t> before = r.save(2);
    const std::vector<uint8_t> moved = r.save(0);
    c.io.batch = 2;
    c.io.steps = steps;
    ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &c.io));
    EXPECT_EQ(before, r.save(2));
    EXPECT_NE(moved, r.save(0));
  }
}

TEST(RunIo, LastStepOfEachRow) {
  const Net n = lstm_with_all_ports();
  Call whole, last;
  Runner a(n.blob, {kBatch, 0, 2}), b(n.blob, {kBatch, 0, 2});
  for (Call *c : {&whole, &last}) {
    c->io.lengths = c->lengths.data();
    c->inputs[3].data = nullptr;
  }
  last.io.flags = RNNP_RUN_LAST_STEP;
  last.y.assign(kBatch * kHidden, 7);
  last.outputs[0].data = last.y.data();
  ASSERT_EQ(RNNP_OK, rnnp_run_io(a.session(), &whole.io));
  ASSERT_EQ(RNNP_OK, rnnp_run_io(b.session(), &last.io));
  for (size_t r = 0; r < kBatch; ++r)
    for (size_t k = 0; k < kHidden; ++k) {
      const int32_t length = whole.lengths[r];
      const float want = length == 0 ? 0 : whole.y[(static_cast<size_t>(length - 1) * kBatch + r) * kHidden + k];
      ASSERT_EQ(want, last.y[r * kHidden + k]);
    }
}

TEST(RunIo, ErrorsChangeNothing) {
  const Net n = lstm_with_all_ports();
  Runner r(n.blob, {kBatch});
  Call good;
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &good.io));
  const std::vector<uint8_t> state = r.save(1);
  const auto refused = [&](rnnp_status want, auto change) {
    Call c;
    change(c);
    EXPECT_EQ(want, rnnp_run_io(r.session(), &c.io));
    EXPECT_EQ(state, r.save(1));
    EXPECT_EQ(std::vector<float>(c.y.size(), 7), c.y);
    EXPECT_EQ(std::vector<float>(c.y_h.size(), 7), c.y_h);
  };
  refused(RNNP_E_ARG, [](Call &c) { c.inputs[0].data = nullptr; });
  refused(RNNP_E_ARG, [](Call &c) { c.io.struct_bytes = 4; });
  refused(RNNP_E_ARG, [](Call &c) { c.io.flags = 8; });
  refused(RNNP_E_ARG, [](Call &c) { c.inputs[0].row_stride_bytes = 4; });
  refused(RNNP_E_ALIGN, [](Call &c) { c.inputs[0].data = reinterpret_cast<char *>(c.x.data()) + 2; });
  refused(RNNP_E_ALIGN, [](Call &c) { c.outputs[0].row_stride_bytes = kHidden * 4 + 2; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.io.batch = 0; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.io.batch = kBatch + 1; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.io.input_count = 3; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.io.output_count = 1; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.lengths[1] = -1; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.lengths[1] = kSteps + 1; });
  refused(RNNP_E_SHAPE, [](Call &c) { c.io.steps = SIZE_MAX / 2; });
}

TEST(Session, ErrorsOfInit) {
  const Net n = lstm_with_all_ports();
  AlignedBytes blob(n.blob), mem(1 << 20);
  rnnp_model model;
  EXPECT_EQ(RNNP_E_ALIGN, rnnp_model_open(&model, blob.data() + 4, blob.size() - 4, 0));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_open(nullptr, blob.data(), blob.size(), 0));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_open(&model, blob.data(), blob.size(), 64));
  ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  rnnp_memory need = RNNP_MEMORY_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, &o, &need));
  rnnp_session *s = reinterpret_cast<rnnp_session *>(8);
  EXPECT_EQ(RNNP_E_SMALL_MEMORY, rnnp_session_init(&s, &model, &o, mem.data(), need.session_bytes - 1));
  EXPECT_EQ(RNNP_E_ALIGN, rnnp_session_init(&s, &model, &o, mem.data() + 8, need.session_bytes));
  o.max_batch = 0;
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_init(&s, &model, &o, mem.data(), mem.size()));
  EXPECT_EQ(reinterpret_cast<rnnp_session *>(8), s);
  o.max_batch = 1;
  EXPECT_EQ(RNNP_OK, rnnp_session_init(&s, &model, &o, mem.data(), need.session_bytes));
}

TEST(Session, ReverseLayerWantsWholeSequences) {
  BlobBuilder b(1);
  const uint32_t x = b.add_input(4);
  RecurrentOptions o;
  o.bidirectional = true;
  b.add_output(b.add_recurrent(x, 4, o));
  const std::vector<uint8_t> blob = b.build();
  EXPECT_THROW(Runner(blob, {1}), std::runtime_error);
  Runner r(blob, {1, 8});
  std::vector<float> in(9 * 4), out(9 * 32);
  EXPECT_EQ(RNNP_E_NOT_CAUSAL, rnnp_step(r.session(), in.data(), out.data()));
  EXPECT_EQ(RNNP_E_SHAPE, rnnp_run(r.session(), 9, in.data(), out.data()));
  EXPECT_EQ(RNNP_OK, rnnp_run(r.session(), 8, in.data(), out.data()));
}

TEST(State, DamagedOrForeignStateIsRefused) {
  const Net n = lstm_with_all_ports();
  Runner r(n.blob, {kBatch});
  const std::vector<uint8_t> good = r.save(0);
  for (size_t i = 0; i < good.size(); i += 5) {
    std::vector<uint8_t> bad = good;
    bad[i] ^= 1;
    EXPECT_EQ(RNNP_E_STATE_MISMATCH, rnnp_state_load(r.session(), 1, bad.data(), bad.size())) << i;
  }
  EXPECT_EQ(RNNP_E_SMALL_MEMORY, rnnp_state_load(r.session(), 1, good.data(), good.size() - 1));
  EXPECT_EQ(RNNP_E_SHAPE, rnnp_state_load(r.session(), kBatch, good.data(), good.size()));
  EXPECT_EQ(RNNP_E_SHAPE, rnnp_state_reset(r.session(), kBatch));
}

}  // namespace run_io_test
