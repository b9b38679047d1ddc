// xnnpack_test.cpp -- XNNPACK behind dense, softmax and unary operators keeps the invariants: cuts, rows and threads do not change
// bits. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rnnpack/executor_pthreadpool.h"
#include "support/reference_layers.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::Act;

constexpr uint32_t kIn = 100, kWide = 300, kHidden = 48;

struct Net {
  BlobBuilder b{9};
  std::vector<uint8_t> blob;
  Net() {
    RecurrentOptions o;
    o.hidden = kHidden;
    const uint32_t x = b.add_input(kIn);
    const uint32_t wide = b.add_dense(x, kIn, kWide, Act::kRelu);
    const rnnp::AttrUnary sigmoid = {{uint32_t(Act::kSigmoid), 0, 0}};
    const uint32_t s = b.add_node(rnnp::OpKind::kUnary, &sigmoid, sizeof sigmoid, {wide}, kWide, true);
    const uint32_t h = b.add_recurrent(s, kWide, o);
    const uint32_t logits = b.add_dense(h, kHidden, 130);
    const rnnp::AttrSoftmax softmax = {1, 130, 1, 0};
    b.add_output(b.add_node(rnnp::OpKind::kSoftmax, &softmax, sizeof softmax, {logits}, 130, true));
    blob = b.build();
  }
  std::vector<double> reference(const std::vector<float> &x, size_t steps, size_t batch) const {
    std::vector<double> v = run_dense(b.dense[0], {x.begin(), x.end()});
    for (double &e : v) e = apply_act({uint32_t(Act::kSigmoid), 0, 0}, e);
    v = run_dense(b.dense[1], run_recurrent(b.recurrent[0], v, steps, batch).y);
    for (size_t r = 0; r < steps * batch; ++r) {
      double sum = 0;
      for (size_t i = 0; i < 130; ++i) sum += std::exp(v[r * 130 + i]);
      for (size_t i = 0; i < 130; ++i) v[r * 130 + i] = std::exp(v[r * 130 + i]) / sum;
    }
    return v;
  }
};

rnnp_session_info facts_of(Runner *r) {
  rnnp_session_info f = RNNP_SESSION_INFO_INIT;
  expect_ok(rnnp_session_get_info(r->session(), &f), "info");
  return f;
}

TEST(Xnnpack, TakesItsOperatorsAndMatchesTheReference) {
  const Net n;
  const std::vector<float> x = random_floats(12 * 2 * kIn, 4);
  const std::vector<double> want = n.reference(x, 12, 2);
  Runner with(n.blob, {2, 0, 0, 0, 1, RNNP_SESSION_ALL_XNNPACK}), without(n.blob, {2, 0, 0, 0, 1, RNNP_SESSION_PORTABLE_OPS});
  EXPECT_EQ(4u, facts_of(&with).xnnpack);
  EXPECT_EQ(0u, facts_of(&with).xnnpack_refused);
  EXPECT_EQ(0u, facts_of(&without).xnnpack);
  for (Runner *r : {&with, &without}) {
    const std::vector<float> y = r->run(x);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(want[i], y[i], 1e-5);
  }
}

TEST(Xnnpack, CutsRowsAndThreadsDoNotChangeBits) {
  const Net n;
  const std::vector<float> x = random_floats(17 * 3 * kIn, 5);
  const std::vector<float> whole = Runner(n.blob, {3, 0, 0, 0, 1, RNNP_SESSION_ALL_XNNPACK}).run(x);
  for (size_t cut : {1, 4, 16}) EXPECT_EQ(whole, Runner(n.blob, {3, 0, 0, 0, 1, RNNP_SESSION_ALL_XNNPACK}).run(x, cut)) << cut;
  for (uint32_t threads : {2u, 3u})
    EXPECT_EQ(whole, Runner(n.blob, {3, 0, 0, 0, threads, RNNP_SESSION_ALL_XNNPACK}).run(x, 5)) << threads;
  for (size_t row = 0; row < 3; ++row) {
    std::vector<float> alone;
    for (size_t t = 0; t < 17; ++t) alone.insert(alone.end(), &x[(t * 3 + row) * kIn], &x[(t * 3 + row) * kIn] + kIn);
    const std::vector<float> y = Runner(n.blob, {1, 0, 0, 0, 1, RNNP_SESSION_ALL_XNNPACK}).run(alone);
    for (size_t t = 0; t < 17; ++t)
      for (size_t i = 0; i < 130; ++i) ASSERT_EQ(whole[(t * 3 + row) * 130 + i], y[t * 130 + i]);
  }
}

TEST(Pthreadpool, AdapterRunsTheSameBitsPinnedOrNot) {
  const Net n;
  const std::vector<float> x = random_floats(17 * kIn, 6);
  const std::vector<float> one = Runner(n.blob).run(x);
  AlignedBytes blob(n.blob);
  rnnp_model model;
  ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  for (size_t threads : {1u, 2u, 4u}) {
    pthreadpool_t pool = pthreadpool_create(threads);
    const std::vector<int32_t> cpus(threads, 0), bad(threads, 100000);
    rnnp_executor executor = RNNP_EXECUTOR_INIT;
    EXPECT_EQ(RNNP_E_ARG, rnnp_executor_from_pthreadpool(&executor, pool, bad.data()));
    ASSERT_EQ(RNNP_OK, rnnp_executor_from_pthreadpool(&executor, pool, threads == 4 ? cpus.data() : nullptr));
    rnnp_session_options o;
    rnnp_session_options_init(&o, sizeof o);
    o.executor = &executor;
    o.flags = RNNP_SESSION_ALL_THREADS;
    rnnp_memory need = RNNP_MEMORY_INIT;
    ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, &o, &need));
    AlignedBytes mem(need.session_bytes);
    rnnp_session *s = nullptr;
    ASSERT_EQ(RNNP_OK, rnnp_session_init(&s, &model, &o, mem.data(), mem.size()));
    std::vector<float> y(one.size());
    ASSERT_EQ(RNNP_OK, rnnp_run(s, 17, x.data(), y.data()));
    EXPECT_EQ(one, y) << threads;
    pthreadpool_destroy(pool);
  }
}

}  // namespace
