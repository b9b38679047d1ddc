// state_io_test.cpp -- tensors that the library keeps from step to step: exact running sums, whatever the cuts, threads and
// neighbours; rows past their length or do not run keep theirs; reset, save and load cover them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace state_io_test {

using namespace rnnp_test;

constexpr uint32_t kElems = 5;

// y = sum of all x so far, and of what a run starts from where it may bring that, as so many elements.
std::vector<uint8_t> running_sum(uint32_t start_elems = 0) {
  BlobBuilder b(1);
  const uint32_t x = b.add_input(kElems);
  uint32_t state;
  const uint32_t start = start_elems == 0 ? rnnp::kNone : b.add_state_input(start_elems, "start");
  const uint32_t before = b.add_state_read(kElems, &state, start);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {kElems}, {1}, {1}};
  const uint32_t after = b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {before, x}, kElems, true);
  b.add_state_write(state, after);
  b.add_output(after);
  return b.build();
}

// Small integers, so that sums are exact.
std::vector<float> numbers(size_t steps, uint32_t batch) {
  std::vector<float> x(steps * batch * kElems);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 23) - 11.0f;
  return x;
}

std::vector<float> sums(const std::vector<float> &x, uint32_t batch) {
  std::vector<float> y = x;
  for (size_t i = size_t{batch} * kElems; i < y.size(); ++i) y[i] += y[i - size_t{batch} * kElems];
  return y;
}

TEST(StateIo, RunningSumsWhateverTheCut) {
  for (const uint32_t batch : {1u, 3u})
    for (const uint32_t threads : {1u, 2u})
      for (const size_t cut : {size_t{0}, size_t{1}, size_t{3}}) {
        const std::vector<float> x = numbers(10, batch);
        Runner runner(running_sum(), {batch, 0, 4, 0, threads});
        EXPECT_EQ(sums(x, batch), runner.run(x, cut)) << batch << " rows, " << threads << " threads, cut " << cut;
      }
}

rnnp_status run_rows(rnnp_session *session, const std::vector<float> &x, std::vector<float> *y, size_t steps, uint32_t batch,
                     const int32_t *lengths) {
  rnnp_const_buffer in = {x.data(), 0, 0};
  rnnp_buffer out = {y->data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = batch;
  io.input_count = io.output_count = 1;
  io.lengths = lengths;
  io.inputs = &in;
  io.outputs = &out;
  return rnnp_run_io(session, &io);
}

TEST(StateIo, RowsThatEndedOrDoNotRunKeepTheirs) {
  Runner runner(running_sum(), {4});
  const std::vector<float> x(size_t{3} * 4 * kElems, 1.0f);
  std::vector<float> y(x.size());
  const int32_t lengths[] = {3, 0, 2};
  ASSERT_EQ(RNNP_OK, run_rows(runner.session(), x, &y, 3, 3, lengths));
  y = runner.run(std::vector<float>(size_t{4} * kElems, 10.0f));
  EXPECT_EQ(13.0f, y[0]);
  EXPECT_EQ(10.0f, y[kElems]);
  EXPECT_EQ(12.0f, y[2 * kElems]);
  EXPECT_EQ(10.0f, y[3 * kElems]);
}

// One call of `steps` steps of two rows of ones; start: nullptr, or a number for each row. Gives the first element of row 0 and 1
// after the last step.
std::pair<float, float> run_from(rnnp_session *session, const float *start, size_t steps, const int32_t *lengths = nullptr) {
  const std::vector<float> x(steps * 2 * kElems, 1.0f);
  std::vector<float> y(x.size()), begin(2 * kElems);
  for (size_t i = 0; start != nullptr && i < begin.size(); ++i) begin[i] = start[i / kElems];
  const rnnp_const_buffer in[2] = {{x.data(), 0, 0}, {start == nullptr ? nullptr : begin.data(), 0, 0}};
  const rnnp_buffer out = {y.data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = 2;
  io.input_count = 2;
  io.output_count = 1;
  io.lengths = lengths;
  io.inputs = in;
  io.outputs = &out;
  EXPECT_EQ(RNNP_OK, rnnp_run_io(session, &io));
  return {y[(steps - 1) * 2 * kElems], y[(2 * steps - 1) * kElems]};
}

TEST(StateIo, ARunMayBringWhatItStartsFrom) {
  using Sums = std::pair<float, float>;
  for (const uint32_t threads : {1u, 2u}) {
    Runner runner(running_sum(kElems), {2, 0, 4, 0, threads});
    const float tens[] = {10.0f, 20.0f}, hundreds[] = {100.0f, 200.0f};
    EXPECT_EQ(Sums(3.0f, 3.0f), run_from(runner.session(), nullptr, 3));
    EXPECT_EQ(Sums(13.0f, 23.0f), run_from(runner.session(), tens, 3));
    EXPECT_EQ(Sums(14.0f, 24.0f), run_from(runner.session(), nullptr, 1));
    EXPECT_EQ(Sums(101.0f, 201.0f), run_from(runner.session(), hundreds, 1));
    // A row that has no step has begun, too.
    const int32_t lengths[] = {2, 0};
    run_from(runner.session(), tens, 2, lengths);
    EXPECT_EQ(Sums(13.0f, 21.0f), run_from(runner.session(), nullptr, 1));
  }
  for (const uint32_t elems : {kElems - 1, kElems + 1}) EXPECT_ANY_THROW(Runner(running_sum(elems))) << elems;
}

TEST(StateIo, ResetSaveAndLoad) {
  Runner runner(running_sum(), {2});
  const std::vector<float> ones(size_t{2} * kElems, 1.0f);
  runner.run(ones);
  const std::vector<uint8_t> saved = runner.save(1);
  runner.run(ones);
  EXPECT_EQ(RNNP_OK, rnnp_state_reset(runner.session(), 0));
  runner.load(1, saved);
  const std::vector<float> y = runner.run(ones);
  EXPECT_EQ(1.0f, y[0]);
  EXPECT_EQ(2.0f, y[kElems]);
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_model_get_info(runner.model(), &facts));
  EXPECT_EQ(kElems * sizeof(float), facts.state_bytes_per_row);
}

}  // namespace state_io_test
