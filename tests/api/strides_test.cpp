// strides_test.cpp -- where the rows of a caller's tensors lie, at the corners where two strides meet: batch 1, single steps,
// tensors without a time axis. Whatever the chunks, the same rows are read, checked and written.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace strides_test {

using namespace rnnp_test;

rnnp_status run(rnnp_session *session, size_t steps, uint32_t batch, const std::vector<rnnp_const_buffer> &in,
                const rnnp_buffer &out) {
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = batch;
  io.input_count = static_cast<uint32_t>(in.size());
  io.output_count = 1;
  io.inputs = in.data();
  io.outputs = &out;
  return rnnp_run_io(session, &io);
}

std::vector<uint8_t> lstm() {
  BlobBuilder b(1);
  RecurrentOptions o;
  o.hidden = 8;
  b.add_output(b.add_recurrent(b.add_input(4), 4, o));
  return b.build();
}

// One batch row whose rows lie 8 floats apart; the step's stride follows from the row's.
TEST(Strides, OfOneRowWithoutAStepStride) {
  std::vector<float> x(6 * 8, 99.0f), packed;
  for (size_t t = 0; t < 6; ++t)
    for (size_t i = 0; i < 4; ++i) packed.push_back(x[t * 8 + i] = 0.1f * static_cast<float>(t * 4 + i) - 1);
  Runner plain(lstm());
  const std::vector<float> want = plain.run(packed);
  for (const uint32_t chunk : {1u, 2u, 6u}) {
    Runner strided(lstm(), {1, 0, chunk});
    std::vector<float> y(want.size());
    ASSERT_EQ(RNNP_OK, run(strided.session(), 6, 1, {{x.data(), 0, 32}}, {y.data(), 0, 0}));
    EXPECT_EQ(want, y) << "chunks of " << chunk;
  }
}

TEST(Strides, IndicesAreCheckedWhereGatherReadsThem) {
  BlobBuilder b(2);
  const std::vector<float> table = random_floats(4 * 16, 1);
  const rnnp::AttrGather a = {4, 16, 1, b.add_weights(table)};
  b.add_output(b.add_node(rnnp::OpKind::kGather, &a, sizeof a, {b.add_index_input(1, 4)}, 16, true));
  const std::vector<uint8_t> blob = b.build();
  for (const uint32_t chunk : {1u, 8u}) {
    Runner r(blob, {1, 0, chunk});
    std::vector<float> y(4 * 16);
    int32_t gaps[8] = {0, 50000000, 1, 50000000, 2, 50000000, 3, 50000000};
    ASSERT_EQ(RNNP_OK, run(r.session(), 4, 1, {{gaps, 0, 8}}, {y.data(), 0, 0})) << "what lies between rows is not an index";
    EXPECT_EQ(table, y);
    int32_t rows[8] = {0, 0, 1, 0, 50000000, 0, 3, 0};
    EXPECT_EQ(RNNP_E_INDEX, run(r.session(), 4, 1, {{rows, 0, 8}}, {y.data(), 0, 0}));
  }
}

// Y_h alone, rows a float apart: its rows are written once, and nothing beside them.
TEST(Strides, TensorsWithoutATimeAxisDoNotMoveWithTheSteps) {
  BlobBuilder b(3);
  RecurrentOptions o;
  o.cell = rnnp::Cell::kGru;
  o.hidden = 3;
  uint32_t y_h;
  b.add_recurrent(b.add_input(2), 2, o, &y_h);
  b.add_output(y_h);
  const std::vector<uint8_t> blob = b.build();
  const std::vector<float> x = random_floats(2 * 2 * 2, 5);
  for (const uint32_t chunk : {1u, 2u}) {
    std::vector<float> packed(6), y(64, -5.0f), want(64, -5.0f);
    Runner a(blob, {2, 0, chunk}), c(blob, {2, 0, chunk});
    ASSERT_EQ(RNNP_OK, run(a.session(), 2, 2, {{const_cast<float *>(x.data()), 0, 0}}, {packed.data(), 0, 0}));
    ASSERT_EQ(RNNP_OK, run(c.session(), 2, 2, {{const_cast<float *>(x.data()), 0, 0}}, {y.data(), 40, 16}));
    for (size_t i = 0; i < 6; ++i) want[i / 3 * 4 + i % 3] = packed[i];
    EXPECT_EQ(want, y) << "chunks of " << chunk;
  }
}

// Strided rows that are given once per run: read where they lie, not further on with every chunk.
TEST(Strides, RowInputsDoNotMoveWithTheSteps) {
  BlobBuilder b(4);
  const uint32_t x = b.add_input(3), row = b.add_row_input(3, "row");
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {3}, {1}, {1}};
  b.add_output(b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {x, row}, 3, true));
  Runner r(b.build(), {2, 0, 1});
  const std::vector<float> in(4 * 2 * 3, 1.0f);
  std::vector<float> rows = {10, 20, 30, 99, 40, 50, 60}, y(4 * 2 * 3);
  ASSERT_EQ(RNNP_OK, run(r.session(), 4, 2, {{const_cast<float *>(in.data()), 0, 0}, {rows.data(), 12, 16}}, {y.data(), 0, 0}));
  const std::vector<float> step = {11, 21, 31, 41, 51, 61};
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(step[i % 6], y[i]) << i;
}

TEST(Strides, ThatOverlapOrDoNotFitAreRefused) {
  Runner r(lstm(), {2});
  std::vector<float> x(64, 0.0f), y(64, -5.0f);
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out = {y.data(), 0, 0};
  EXPECT_EQ(RNNP_E_ARG, run(r.session(), 3, 2, {{x.data(), 0, 12}}, out));
  EXPECT_EQ(RNNP_E_ARG, run(r.session(), 3, 2, {{x.data(), 12, 0}}, out));
  EXPECT_EQ(RNNP_E_ARG, run(r.session(), 3, 2, {in}, {y.data(), SIZE_MAX / 8 * 4, 0}));
  EXPECT_EQ(RNNP_E_ARG, run(r.session(), 3, 2, {in}, {y.data(), 0, SIZE_MAX / 4 * 4}));
  EXPECT_EQ(RNNP_E_ALIGN, run(r.session(), 3, 2, {{x.data(), 18, 0}}, out));
  EXPECT_EQ(std::vector<float>(64, -5.0f), y);
}

TEST(Strides, LengthsArePacked) {
  BlobBuilder b(5);
  RecurrentOptions o;
  o.hidden = 3;
  const uint32_t x = b.add_input(2);
  b.add_output(b.add_recurrent(x, 2, o, nullptr, nullptr, {rnnp::kNone, rnnp::kNone, b.add_lengths_input()}));
  Runner r(b.build(), {2});
  std::vector<float> in(4 * 2 * 2), y(4 * 2 * 3, -5.0f);
  int32_t lengths[] = {4, 2, 1};
  for (const size_t stride : {size_t{8}, size_t{4}}) {
    const rnnp_status status = run(r.session(), 4, 2, {{in.data(), 0, 0}, {lengths, 0, stride}}, {y.data(), 0, 0});
    EXPECT_EQ(stride == 4 ? RNNP_OK : RNNP_E_ARG, status);
    EXPECT_EQ(stride == 8, y[0] == -5.0f);
  }
}

}  // namespace strides_test
