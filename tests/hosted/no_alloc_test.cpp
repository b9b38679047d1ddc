// no_alloc_test.cpp -- counts every allocation of the process between open and the last run, with XNNPACK and threads: there are
// none. The pool and cpuinfo's tables are the caller's and the platform's; they exist before the count begins.
// SPDX-License-Identifier: Apache-2.0
#include <cpuinfo.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "rnnpack/executor_pthreadpool.h"
#include "support/session_fixture.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

static std::atomic<long> allocations{0};

extern "C" {
void *malloc(size_t n) {
  return ++allocations, __libc_malloc(n);
}
void *calloc(size_t n, size_t m) {
  return ++allocations, __libc_calloc(n, m);
}
void *realloc(void *p, size_t n) {
  return ++allocations, __libc_realloc(p, n);
}
void *memalign(size_t a, size_t n) {
  return ++allocations, __libc_memalign(a, n);
}
void *aligned_alloc(size_t a, size_t n) {
  return ++allocations, __libc_memalign(a, n);
}
int posix_memalign(void **p, size_t a, size_t n) {
  ++allocations;
  *p = __libc_memalign(a, n);
  return *p != nullptr ? 0 : ENOMEM;
}
}

namespace {

using namespace rnnp_test;

TEST(NoAllocation, TheCounterCounts) {
  const long before = allocations;
  void *volatile p = std::malloc(8);
  std::free(p);
  EXPECT_GT(allocations, before);
}

TEST(NoAllocation, FromOpenToRunWithXnnpackAndThreads) {
  BlobBuilder b(9);
  RecurrentOptions o;
  o.hidden = 96;
  const uint32_t x = b.add_input(100);
  const uint32_t wide = b.add_dense(x, 100, 300, rnnp::Act::kRelu);
  b.add_output(b.add_dense(b.add_recurrent(wide, 300, o), 96, 130));
  const AlignedBytes blob(b.build());
  AlignedBytes mem(16 << 20);
  const std::vector<float> in = random_floats(40 * 100, 1);
  std::vector<float> out(40 * 130);
  pthreadpool_t pool = pthreadpool_create(2);
  rnnp_executor executor = RNNP_EXECUTOR_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_executor_from_pthreadpool(&executor, pool, nullptr));
  ASSERT_TRUE(cpuinfo_initialize());
  std::vector<uint8_t> state(1 << 16);

  const long before = allocations;
  rnnp_model model;
  rnnp_session_options options;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session *s = nullptr;
  rnnp_session_options_init(&options, sizeof options);
  options.executor = &executor;
  options.flags = RNNP_SESSION_ALL_THREADS | RNNP_SESSION_ALL_XNNPACK;
  rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), RNNP_OPEN_CHECK_WEIGHTS);
  if (status == RNNP_OK) status = rnnp_session_memory(&model, &options, &need);
  if (status == RNNP_OK) status = rnnp_session_init(&s, &model, &options, mem.data(), mem.size());
  if (status == RNNP_OK) status = rnnp_run(s, 40, in.data(), out.data());
  for (int i = 0; i < 40 && status == RNNP_OK; ++i) status = rnnp_step(s, in.data(), out.data());
  if (status == RNNP_OK) status = rnnp_state_save(s, 0, state.data(), state.size());
  if (status == RNNP_OK) status = rnnp_state_load(s, 0, state.data(), need.state_bytes);
  const long after = allocations;

  EXPECT_EQ(RNNP_OK, status);
  EXPECT_EQ(0, after - before);
  rnnp_session_info f = RNNP_SESSION_INFO_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_session_get_info(s, &f));
  EXPECT_EQ(2u, f.xnnpack);
  EXPECT_EQ(2u, f.threads);
  pthreadpool_destroy(pool);
}

}  // namespace
