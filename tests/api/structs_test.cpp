// structs_test.cpp -- structs that grow: callers whose header is older or newer than the library. The sizes here are written out,
// not taken from today's header. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>

#include "support/session_fixture.h"

namespace structs_test {

using namespace rnnp_test;

std::vector<uint8_t> dense() {
  BlobBuilder b(1);
  b.add_output(b.add_dense(b.add_input(4), 4, 3));
  return b.build();
}

// Today's struct inside a larger one.
template <class T>
struct Newer {
  T known;
  uint8_t more[16];
};

struct Open {
  AlignedBytes blob{dense()};
  rnnp_model model;
  Open() { expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open"); }
};

TEST(Structs, InitialiserWritesNoMoreThanTheCallerHas) {
  for (size_t bytes = 0; bytes <= sizeof(rnnp_session_options) + 16; ++bytes) {
    std::vector<uint8_t> memory(sizeof(rnnp_session_options) + 32, 0xAA);
    rnnp_session_options *o = reinterpret_cast<rnnp_session_options *>(memory.data());
    rnnp_session_options_init(o, bytes);
    for (size_t i = bytes < 4 ? 0 : bytes; i < memory.size(); ++i) ASSERT_EQ(0xAA, memory[i]) << bytes << " bytes, at " << i;
    if (bytes >= 8) {
      EXPECT_EQ(bytes, o->struct_bytes);
      EXPECT_EQ(1u, o->max_batch);
    }
  }
  rnnp_session_options_init(nullptr, sizeof(rnnp_session_options));
}

TEST(Structs, AnOlderCallersOptionsHaveDefaultsForTheRest) {
  Open m;
  rnnp_session_options o;
  rnnp_memory whole = RNNP_MEMORY_INIT, shorter = RNNP_MEMORY_INIT;
  rnnp_session_options_init(&o, sizeof o);
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&m.model, &o, &whole));
  std::memset(reinterpret_cast<uint8_t *>(&o) + 8, 0xFF, sizeof o - 8);  // what lies behind an older struct
  for (const uint32_t bytes : {8u, 9u}) {
    o.struct_bytes = bytes;
    ASSERT_EQ(RNNP_OK, rnnp_session_memory(&m.model, &o, &shorter)) << bytes;
    EXPECT_EQ(whole.session_bytes, shorter.session_bytes);
  }
  for (const uint32_t bytes : {0u, 4u, 7u, 5000u, UINT32_MAX}) {
    o.struct_bytes = bytes;
    EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, &o, &shorter)) << bytes;
  }
}

TEST(Structs, ANewerCallersUnknownMembersMustBeZero) {
  Open m;
  Newer<rnnp_session_options> o = {};
  rnnp_session_options_init(&o.known, sizeof o);
  rnnp_memory need = RNNP_MEMORY_INIT;
  EXPECT_EQ(RNNP_OK, rnnp_session_memory(&m.model, &o.known, &need));
  o.more[15] = 1;
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, &o.known, &need));

  Runner r(dense());
  std::vector<float> x(4), y(3, -5.0f);
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out = {y.data(), 0, 0};
  Newer<rnnp_io> io = {RNNP_IO_INIT, {}};
  io.known.struct_bytes = sizeof io;
  io.known.steps = io.known.batch = io.known.input_count = io.known.output_count = 1;
  io.known.inputs = &in;
  io.known.outputs = &out;
  io.more[0] = 1;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &io.known));
  EXPECT_EQ(-5.0f, y[0]);
  io.more[0] = 0;
  EXPECT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io.known));
}

TEST(Structs, FactsFillWhatTheCallerHasAndZeroWhatTheLibraryDoesNotKnow) {
  Open m;
  Newer<rnnp_model_info> f;
  for (const uint32_t bytes : {4u, 12u, uint32_t(sizeof f.known), uint32_t(sizeof f)}) {
    std::memset(static_cast<void *>(&f), 0xAA, sizeof f);
    f.known.struct_bytes = bytes;
    ASSERT_EQ(RNNP_OK, rnnp_model_get_info(&m.model, &f.known));
    EXPECT_EQ(bytes, f.known.struct_bytes);
    if (bytes >= 12) {
      EXPECT_EQ(64u, f.known.blob_align);
    }
    const uint8_t *all = reinterpret_cast<const uint8_t *>(&f);
    for (size_t i = bytes; i < sizeof f; ++i) ASSERT_EQ(0xAA, all[i]) << i;
    if (bytes == sizeof f) {
      EXPECT_EQ(0, f.more[0] | f.more[15]);
    }
  }
  f.known.struct_bytes = UINT32_MAX;
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_info(&m.model, &f.known));
}

TEST(Structs, MemoryFillsWhatTheCallerHas) {
  Open m;
  rnnp_memory whole = RNNP_MEMORY_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&m.model, nullptr, &whole));
  Newer<rnnp_memory> need;
  for (const uint32_t bytes : {8u, uint32_t(offsetof(rnnp_memory, state_bytes)), uint32_t(sizeof need)}) {
    std::memset(static_cast<void *>(&need), 0xAA, sizeof need);
    need.known.struct_bytes = bytes;
    ASSERT_EQ(RNNP_OK, rnnp_session_memory(&m.model, nullptr, &need.known));
    EXPECT_EQ(whole.alignment, need.known.alignment);
    const uint8_t *all = reinterpret_cast<const uint8_t *>(&need);
    for (size_t i = bytes; i < sizeof need; ++i) ASSERT_EQ(0xAA, all[i]) << i;
    if (bytes == sizeof need) {
      EXPECT_EQ(0, need.more[0] | need.more[15]);
    }
  }
  need.known.struct_bytes = 0;
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, nullptr, &need.known));
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, nullptr, nullptr));
}

TEST(Structs, ANewerExecutorsUnknownMembersMustBeZero) {
  Open m;
  ThreadTeam team(2);
  Newer<rnnp_executor> e = {*team.executor(), {}};
  e.known.struct_bytes = sizeof e;
  rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
  o.executor = &e.known;
  rnnp_memory need = RNNP_MEMORY_INIT;
  EXPECT_EQ(RNNP_OK, rnnp_session_memory(&m.model, &o, &need));
  e.more[7] = 1;
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, &o, &need));
  e.known.struct_bytes = offsetof(rnnp_executor, wait);
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_memory(&m.model, &o, &need));
}

TEST(Structs, BuffersOfANewerCallerAreFartherApart) {
  BlobBuilder b(1);
  const uint32_t x0 = b.add_input(4), x1 = b.add_input(4, "x1");
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {4}, {1}, {1}};
  b.add_output(b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {x0, x1}, 4, true));
  Runner r(b.build());
  const float x[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  std::vector<float> y(4, -5.0f);
  Newer<rnnp_const_buffer> in[2] = {{{x[0], 0, 0}, {}}, {{x[1], 0, 0}, {}}};
  Newer<rnnp_buffer> out = {};
  out.known.data = y.data();
  rnnp_io io = RNNP_IO_INIT;
  io.steps = io.batch = io.output_count = 1;
  io.input_count = 2;
  io.inputs = &in[0].known;
  io.outputs = &out.known;
  const auto refused = [&] {
    EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &io));
    EXPECT_EQ(std::vector<float>(4, -5.0f), y);
  };
  io.buffer_bytes = 0;
  refused();
  io.buffer_bytes = sizeof(rnnp_buffer) - 1;
  refused();
  io.buffer_bytes = UINT32_MAX;
  refused();
  io.buffer_bytes = sizeof in[0];
  in[1].more[0] = 1;
  refused();
  in[1].more[0] = 0;
  out.more[15] = 1;
  refused();
  out.more[15] = 0;
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
  EXPECT_EQ((std::vector<float>{11, 22, 33, 44}), y);
}

TEST(Structs, NoCacheIsNotTheSameAsNotKnown) {
  BlobBuilder b(1);
  RecurrentOptions lstm;
  lstm.hidden = 64;
  b.add_output(b.add_recurrent(b.add_input(64), 64, lstm));
  AlignedBytes blob(b.build());
  rnnp_model model;
  ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  rnnp_session_options o;
  rnnp_memory none = RNNP_MEMORY_INIT, large = RNNP_MEMORY_INIT;
  rnnp_session_options_init(&o, sizeof o);
  o.l1d_bytes = o.l2_bytes = o.l3_bytes = RNNP_CACHE_NONE;
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, &o, &none));
  o.l1d_bytes = 32 << 10;
  o.l2_bytes = o.l3_bytes = 4 << 20;
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, &o, &large));
  EXPECT_LT(none.session_bytes, large.session_bytes);
}

}  // namespace structs_test
