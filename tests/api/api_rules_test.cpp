// api_rules_test.cpp -- rules of the header that no other test covers: executors that break their promise, instruction sets that
// build on others, non-finite inputs, the words for a refused call, memory of a live session, sizes and versions.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace api_rules_test {

constexpr uint32_t kIn = 4, kHidden = 8;

std::vector<uint8_t> lstm(uint32_t hidden = kHidden) {
  BlobBuilder b(1);
  RecurrentOptions o;
  o.hidden = hidden;
  b.add_output(b.add_recurrent(b.add_input(kIn), kIn, o));
  return b.build();
}

// The tasks of a region one after the other, or all but the last.
struct Broken {
  uint32_t threads, leave_out, waits = 0;

  static void parallel(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
    const Broken &self = *static_cast<Broken *>(ctx);
    for (uint32_t i = 0; i < self.threads - self.leave_out; ++i) task(arg, i);
  }
  static void wait(void *ctx, uint32_t) { ++static_cast<Broken *>(ctx)->waits; }
  rnnp_executor executor() { return {sizeof(rnnp_executor), threads, this, parallel, wait}; }
};

rnnp_status init_with(const rnnp_executor &executor, rnnp_session **session) {
  const AlignedBytes blob(lstm(64));
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
  o.executor = &executor;
  o.flags = RNNP_SESSION_ALL_THREADS;
  rnnp_memory need = RNNP_MEMORY_INIT;
  expect_ok(rnnp_session_memory(&model, &o, &need), "memory");
  AlignedBytes memory(need.session_bytes);
  return rnnp_session_init(session, &model, &o, memory.data(), memory.size());
}

TEST(Executor, ThatRunsOneTaskAfterTheOtherIsRefused) {
  for (const uint32_t leave_out : {0u, 1u}) {
    Broken broken{2, leave_out};
    rnnp_session *session = nullptr;
    EXPECT_EQ(RNNP_E_EXECUTOR, init_with(broken.executor(), &session));
    EXPECT_EQ(nullptr, session);
    EXPECT_LE(broken.waits, RNNP_EXECUTOR_TRIES);
    EXPECT_GT(broken.waits, 0u);
  }
}

TEST(Executor, ThatKeepsItsPromiseIsTaken) {
  ThreadTeam team(3);
  rnnp_session *session = nullptr;
  EXPECT_EQ(RNNP_OK, init_with(*team.executor(), &session));
  EXPECT_NE(nullptr, session);
}

// A hidden size of 64 has work for two threads: more than these are not used, and results are the same bits.
TEST(Executor, MoreThreadsThanHelpAreNotUsed) {
  const std::vector<uint8_t> blob = lstm(64);
  std::vector<float> x(40 * kIn);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  const std::vector<float> want = Runner(blob).run(x);
  for (const uint32_t threads : {2u, 3u, 5u}) {
    Options o;
    o.threads = threads;
    o.all_threads = false;
    Runner r(blob, o);
    rnnp_session_info info = RNNP_SESSION_INFO_INIT;
    EXPECT_EQ(RNNP_OK, rnnp_session_get_info(r.session(), &info));
    EXPECT_EQ(2u, info.threads);
    EXPECT_EQ(want, r.run(x));
  }
}

uint32_t isa_in_use(uint32_t allowed) {
  Options o;
  o.isa = allowed;
  Runner r(lstm(), o);
  rnnp_session_info info = RNNP_SESSION_INFO_INIT;
  EXPECT_EQ(RNNP_OK, rnnp_session_get_info(r.session(), &info));
  return info.isa;
}

TEST(Isa, ABitAllowsWhatItBuildsOn) {
  if (isa_in_use(RNNP_ISA_AVX2) == RNNP_ISA_AVX2) {
    EXPECT_NE(0u, isa_in_use(RNNP_ISA_AVX512) & (RNNP_ISA_AVX512 | RNNP_ISA_AVX2));
    EXPECT_EQ(isa_in_use(RNNP_ISA_AVX512), isa_in_use(RNNP_ISA_AVX512_VNNI));
    EXPECT_EQ(uint32_t{RNNP_ISA_AVX2}, isa_in_use(RNNP_ISA_AVX_VNNI));
  }
  EXPECT_EQ(0u, isa_in_use(RNNP_ISA_REFERENCE_ONLY));
}

TEST(Isa, EveryBitHasAName) {
  EXPECT_STREQ("reference", rnnp_isa_name(0));
  EXPECT_STREQ("unknown", rnnp_isa_name(1u << 30));
  EXPECT_STREQ("avx512_vnni", rnnp_isa_name(RNNP_ISA_AVX512_VNNI));
  const std::vector<uint32_t> bits = {
#define RNNPACK_ISA(set, bit, text, builds_on, flags, qemu, test) RNNP_ISA_##bit,
#include "base/isa.inc"
#undef RNNPACK_ISA
  };
  std::vector<std::string> names;
  for (size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(1u << i, bits[i]);
    for (const std::string &other : names) EXPECT_NE(other, rnnp_isa_name(bits[i]));
    names.emplace_back(rnnp_isa_name(bits[i]));
    EXPECT_NE("unknown", names.back());
  }
}

rnnp_io one_call(size_t steps, const rnnp_const_buffer *in, const rnnp_buffer *out) {
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = io.input_count = io.output_count = 1;
  io.inputs = in;
  io.outputs = out;
  return io;
}

TEST(CheckFinite, NanAndInfinityAreRefusedAndChangeNothing) {
  for (const float odd : {std::nanf(""), INFINITY, -INFINITY}) {
    for (const size_t place : {size_t{0}, size_t{2 * kIn + 3}}) {
      Runner r(lstm());
      std::vector<float> x(3 * kIn, 0.5f), y(3 * kHidden, -9.0f);
      x[place] = odd;
      const rnnp_const_buffer in = {x.data(), 0, 0};
      const rnnp_buffer out = {y.data(), 0, 0};
      rnnp_io io = one_call(3, &in, &out);
      io.flags = RNNP_RUN_CHECK_FINITE;
      const std::vector<uint8_t> before = r.save(0);
      EXPECT_EQ(RNNP_E_NOT_FINITE, rnnp_run_io(r.session(), &io));
      EXPECT_EQ(before, r.save(0));
      EXPECT_EQ(std::vector<float>(y.size(), -9.0f), y);
      EXPECT_NE(nullptr, std::strstr(rnnp_session_last_error(r.session()), "NaN"));
      x[place] = 3e38f;
      EXPECT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
    }
  }
}

TEST(LastError, NamesTheArgument) {
  Runner r(lstm());
  std::vector<float> x(3 * kIn, 0.5f), y(3 * kHidden);
  rnnp_const_buffer in = {x.data(), 0, 0};
  rnnp_buffer out = {y.data(), 0, 0};
  rnnp_io io = one_call(3, &in, &out);
  const auto error = [&] { return rnnp_run_io(r.session(), &io) == RNNP_OK ? "" : rnnp_session_last_error(r.session()); };
  EXPECT_STREQ("", rnnp_session_last_error(r.session()));
  const auto names = [&](const char *word) { EXPECT_NE(nullptr, std::strstr(error(), word)) << word; };
  in.data = nullptr;
  names("NULL");
  in.data = x.data();
  out.data = x.data();
  names("overlaps");
  out.data = y.data();
  in.row_stride_bytes = 8;
  names("stride");
  in.row_stride_bytes = 0;
  io.batch = 2;
  names("batch");
  io.batch = 1;
  io.flags = 1u << 20;
  names("flags");
  io.flags = 0;
  io.struct_bytes = 3;
  names("struct_bytes");
  io.struct_bytes = sizeof io;
  for (int way = 0; way < 3; ++way) {  // each is forgotten where the next call succeeds
    EXPECT_EQ(RNNP_E_ARG, rnnp_step(r.session(), nullptr, y.data()));
    EXPECT_NE(nullptr, std::strstr(rnnp_session_last_error(r.session()), "NULL"));
    EXPECT_EQ(RNNP_OK, way == 0   ? rnnp_step(r.session(), x.data(), y.data())
                       : way == 1 ? rnnp_run(r.session(), 3, x.data(), y.data())
                                  : rnnp_run_io(r.session(), &io));
    EXPECT_STREQ("", rnnp_session_last_error(r.session())) << way;
  }
  EXPECT_NE(nullptr, rnnp_session_last_error(nullptr));
}

// Without scratch a diagnosis beside a live session writes nothing; memory that an ended session left is scratch like any other.
TEST(Explain, WritesIntoScratchAlone) {
  const AlignedBytes blob(lstm());
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  rnnp_memory need = RNNP_MEMORY_INIT;
  expect_ok(rnnp_session_memory(&model, nullptr, &need), "memory");
  AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  expect_ok(rnnp_session_init(&session, &model, nullptr, memory.data(), memory.size()), "init");
  const std::vector<uint8_t> before(memory.data(), memory.data() + memory.size());
  EXPECT_EQ(RNNP_OK, rnnp_session_explain(&model, nullptr, nullptr, 0, &refusal));
  EXPECT_EQ(0, std::memcmp(before.data(), memory.data(), memory.size()));
  EXPECT_EQ(RNNP_OK, rnnp_session_explain(&model, nullptr, memory.data(), memory.size(), &refusal));
}

TEST(Memory, SizesAreMultiplesOfTheAlignment) {
  for (const uint32_t hidden : {1u, 7u, 64u, 100u}) {
    const AlignedBytes blob(lstm(hidden));
    rnnp_model model;
    expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
    rnnp_memory need = RNNP_MEMORY_INIT;
    expect_ok(rnnp_session_memory(&model, nullptr, &need), "memory");
    EXPECT_EQ(0u, need.session_bytes % need.alignment);
  }
}

TEST(Versions, BlobsOfOtherVersionsAreRefused) {
  std::vector<uint8_t> bytes = lstm();
  rnnp_model model;
  EXPECT_LE(rnnp_blob_version_min(), rnnp_blob_version_max());
  for (const uint32_t version : {rnnp_blob_version_min() - 1, rnnp_blob_version_max() + 1}) {
    std::memcpy(bytes.data() + 4, &version, sizeof version);
    const AlignedBytes blob(bytes);
    EXPECT_EQ(RNNP_E_BLOB_VERSION, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  }
}

}  // namespace api_rules_test
}  // namespace rnnp_test
