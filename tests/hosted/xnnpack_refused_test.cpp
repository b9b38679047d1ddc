// xnnpack_refused_test.cpp -- another library initialised XNNPACK first: the session says so and runs portable operators.
// A process of its own, because XNNPACK keeps its first allocator for ever.
// SPDX-License-Identifier: Apache-2.0
#include <xnnpack.h>

#include <gtest/gtest.h>

#include "support/session_fixture.h"

TEST(XnnpackRefused, SessionSaysSoAndRuns) {
  using namespace rnnp_test;
  ASSERT_EQ(xnn_status_success, xnn_initialize(nullptr));
  BlobBuilder b(9);
  const uint32_t x = b.add_input(100);
  b.add_output(b.add_dense(x, 100, 300));
  Runner r(b.build(), {1, 0, 0, 0, 1, RNNP_SESSION_ALL_XNNPACK});
  rnnp_session_info f = RNNP_SESSION_INFO_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_session_get_info(r.session(), &f));
  EXPECT_EQ(1u, f.xnnpack_refused);
  EXPECT_EQ(0u, f.xnnpack);
  EXPECT_EQ(300u, r.run(random_floats(100, 1)).size());
}
