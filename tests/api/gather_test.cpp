// gather_test.cpp -- an embedding through the public API: rows of the table, negative indices, and indices outside it, which change
// nothing. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace gather_test {

constexpr uint32_t kRows = 5, kElems = 3, kCount = 2, kHidden = 6;

// Two indices a step -> 2 x 3 floats, and an LSTM on them so that there is a state to keep.
std::vector<uint8_t> model(uint32_t limit = kRows, uint32_t count = kCount) {
  BlobBuilder b(3);
  std::vector<float> table(kRows * kElems);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const uint32_t x = b.add_index_input(kCount, limit);
  const rnnp::AttrGather attr = {kRows, kElems, count, b.add_weights(table)};
  const uint32_t e = b.add_node(rnnp::OpKind::kGather, &attr, sizeof attr, {x}, kCount * kElems, true);
  b.add_output(e, "e");
  RecurrentOptions options;
  options.hidden = kHidden;
  b.add_output(b.add_recurrent(e, kCount * kElems, options), "y");
  return b.build();
}

TEST(Gather, RowsOfTheTable) {
  Runner r(model());
  rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_model_get_input(r.model(), 0, &facts));
  EXPECT_EQ(uint32_t(RNNP_DTYPE_I32), facts.dtype);
  EXPECT_EQ(kRows, facts.limit);
  const int32_t index[] = {0, 4, -1, 2, -5, 3};
  float e[3 * kCount * kElems];
  ASSERT_EQ(RNNP_OK, rnnp_run(r.session(), 3, index, e));
  const int32_t row[] = {0, 4, 4, 2, 0, 3};
  for (uint32_t i = 0; i < 6; ++i)
    for (uint32_t k = 0; k < kElems; ++k) EXPECT_EQ(static_cast<float>(row[i] * 3 + int32_t(k)), e[i * kElems + k]);
}

TEST(Gather, AnIndexOutsideChangesNothing) {
  Runner r(model());
  const int32_t good[] = {1, 2};
  float e[2 * kCount * kElems];
  ASSERT_EQ(RNNP_OK, rnnp_step(r.session(), good, e));
  const std::vector<uint8_t> before = r.save(0);
  for (const int32_t bad : {5, -6, INT32_MAX, INT32_MIN}) {
    const int32_t steps[] = {0, 1, 0, bad};
    std::fill(std::begin(e), std::end(e), -7.0f);
    EXPECT_EQ(RNNP_E_INDEX, rnnp_run(r.session(), 2, steps, e)) << bad;
    EXPECT_EQ(RNNP_E_INDEX, rnnp_step(r.session(), steps + 2, e)) << bad;
    const rnnp_const_buffer in = {steps, 0, 0};
    const rnnp_buffer out[2] = {{e, 0, 0}, {nullptr, 0, 0}};
    rnnp_io io = RNNP_IO_INIT;
    io.steps = 2;
    io.batch = 1;
    io.inputs = &in;
    io.input_count = 1;
    io.outputs = out;
    io.output_count = 2;
    EXPECT_EQ(RNNP_E_INDEX, rnnp_run_io(r.session(), &io)) << bad;
    for (const float v : e) EXPECT_EQ(-7.0f, v);
    EXPECT_EQ(before, r.save(0));
  }
}

TEST(Gather, MalformedModelsAreRefused) {
  EXPECT_ANY_THROW(Runner(model(kRows + 1)));  // the input lets an index through that the table has not
  EXPECT_ANY_THROW(Runner(model(0)));
  EXPECT_ANY_THROW(Runner(model(0x80000000u)));
  EXPECT_ANY_THROW(Runner(model(kRows, kCount + 1)));
}

}  // namespace gather_test
}  // namespace rnnp_test
