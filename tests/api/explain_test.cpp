// explain_test.cpp -- rnnp_session_explain answers what rnnp_session_init answers, and says which node and why.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "rnnpack/registry.h"
#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace rnnp_test {
namespace {

using rnnp::OpKind;

std::vector<uint8_t> dense_gru(uint32_t hidden = 8) {
  BlobBuilder b(1);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = hidden;
  b.add_output(b.add_recurrent(b.add_dense(b.add_input(8), 8, 8), 8, gru));
  return b.build();
}

struct Asked {
  AlignedBytes blob;
  rnnp_model model = {};
  rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;

  explicit Asked(const std::vector<uint8_t> &bytes) : blob(bytes) {
    expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  }
  // The status of all three: they agree.
  rnnp_status ask(const rnnp_registry *registry = &rnnp_default_registry) {
    rnnp_memory need = RNNP_MEMORY_INIT;
    rnnp_session *session = nullptr;
    AlignedBytes mem(1 << 20);
    const rnnp_status status = rnnp_session_explain_with(registry, &model, &options, nullptr, 0, &refusal);
    EXPECT_EQ(status, refusal.status);
    EXPECT_EQ(status, rnnp_session_memory_with(registry, &model, &options, &need));
    EXPECT_EQ(status, rnnp_session_init_with(registry, &session, &model, &options, mem.data(), mem.size()));
    EXPECT_EQ(status == RNNP_OK, session != nullptr);
    EXPECT_STRNE("", refusal.reason);
    return status;
  }
};

TEST(Explain, NothingIsInTheWayOfWhatRuns) {
  Asked a(dense_gru());
  EXPECT_EQ(RNNP_OK, a.ask());
  EXPECT_EQ(RNNP_NO_NODE, a.refusal.node);
  EXPECT_STREQ("", a.refusal.op);
  EXPECT_STREQ("", a.refusal.node_name);
  EXPECT_EQ(RNNP_OK, rnnp_session_explain(&a.model, nullptr, nullptr, 0, &a.refusal));
}

TEST(Explain, EachOptionHasAReasonOfItsOwn) {
  std::set<std::string> reasons;
  const auto refused = [&](rnnp_status want, auto change) {
    Asked a(dense_gru());
    change(&a.options);
    EXPECT_EQ(want, a.ask());
    EXPECT_EQ(RNNP_NO_NODE, a.refusal.node);
    EXPECT_TRUE(reasons.insert(a.refusal.reason).second) << a.refusal.reason;
  };
  static const rnnp_executor no_threads = {sizeof(rnnp_executor), 0, nullptr, nullptr, nullptr};
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->struct_bytes = 0; });
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->max_batch = 0; });
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->max_steps = UINT32_MAX; });
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->chunk_steps = UINT32_MAX; });
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->flags = 1u << 30; });
  refused(RNNP_E_ARG, [](rnnp_session_options *o) { o->executor = &no_threads; });
  refused(RNNP_OK, [](rnnp_session_options *) {});

  BlobBuilder b(1);
  RecurrentOptions reverse;
  reverse.reverse = true;
  b.add_output(b.add_recurrent(b.add_input(8), 8, reverse));
  Asked whole(b.build());
  EXPECT_EQ(RNNP_E_NOT_CAUSAL, whole.ask());
  EXPECT_TRUE(reasons.insert(whole.refusal.reason).second);

  rnnp_model closed = {};
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_explain(&closed, nullptr, nullptr, 0, &whole.refusal));
  EXPECT_TRUE(reasons.insert(whole.refusal.reason).second);
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_explain_with(nullptr, &whole.model, nullptr, nullptr, 0, &whole.refusal));
  EXPECT_TRUE(reasons.insert(whole.refusal.reason).second);
  EXPECT_EQ(RNNP_E_ARG, rnnp_session_explain(&whole.model, nullptr, nullptr, 0, nullptr));
}

TEST(Explain, AFixedBatchIsNamed) {
  BlobTables t(dense_gru());
  t.header.fixed_batch = 3;
  Asked a(t.bytes());
  EXPECT_EQ(RNNP_E_SHAPE, a.ask());
  EXPECT_EQ(3u, a.refusal.needed);
  a.options.max_batch = 3;
  EXPECT_EQ(RNNP_OK, a.ask());
}

TEST(Explain, MemoryThatWouldDoIsNamed) {
  Asked a(dense_gru());
  rnnp_memory need = RNNP_MEMORY_INIT;
  expect_ok(rnnp_session_memory(&a.model, &a.options, &need), "memory");
  AlignedBytes mem(need.session_bytes + 8);
  const auto explain = [&](size_t offset, size_t bytes) {
    rnnp_session *session = nullptr;
    const rnnp_status status = rnnp_session_explain(&a.model, &a.options, mem.data() + offset, bytes, &a.refusal);
    EXPECT_EQ(status, rnnp_session_init(&session, &a.model, &a.options, mem.data() + offset, bytes));
    return status;
  };
  EXPECT_EQ(RNNP_E_SMALL_MEMORY, explain(0, need.session_bytes - 1));
  EXPECT_EQ(need.session_bytes, a.refusal.needed);
  EXPECT_EQ(RNNP_E_ALIGN, explain(8, need.session_bytes));
  EXPECT_EQ(need.alignment, a.refusal.needed);
  EXPECT_EQ(RNNP_OK, explain(0, need.session_bytes));
}

// Which of `list` is without `left_out`.
template <class T>
std::vector<const T *> without(std::vector<const T *> list, const T *left_out) {
  list.erase(std::remove(list.begin(), list.end(), left_out), list.end());
  return list;
}

TEST(Explain, ANodeWithoutOperatorOrKernelIsNamed) {
  const rnnp_registry &all = rnnp_default_registry;
  const std::vector<const rnnp_op *> ops(all.ops, all.ops + all.op_count);
  const std::vector<const rnnp_kernel_group *> groups = {&rnnp_kernels_gemm_f32_nr16, &rnnp_kernels_act_f32};
  Asked a(dense_gru());
  const std::vector<const rnnp_op *> fewer = without(ops, &rnnp_op_recurrent);
  rnnp_registry r = {sizeof r, static_cast<uint32_t>(fewer.size()), all.kernel_count, fewer.data(), all.kernels, all.check,
                     nullptr};
  EXPECT_EQ(RNNP_E_UNSUPPORTED, a.ask(&r));
  EXPECT_EQ(1u, a.refusal.node);
  EXPECT_STREQ("GRU", a.refusal.op);
  const std::string no_operator = a.refusal.reason;
  r = {sizeof r, all.op_count, static_cast<uint32_t>(groups.size()), all.ops, groups.data(), all.check, nullptr};
  EXPECT_EQ(RNNP_E_LAYOUT, a.ask(&r));
  EXPECT_EQ(1u, a.refusal.node);
  EXPECT_NE(no_operator, a.refusal.reason);
}

TEST(Explain, AnOperatorThatDeclinesIsNotAMissingOne) {
  BlobBuilder b(1);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {4}, {1}, {1}};
  const uint32_t x = b.add_input(4);
  b.add_output(b.add_node(OpKind::kBinary, &add, sizeof add, {x, x}, 4, true));
  Asked a(b.build());
  rnnp_registry r = rnnp_default_registry;
  r.op_count = 1;
  const rnnp_op *op = &rnnp_op_compare;  // takes the other nodes of the kind
  r.ops = &op;
  EXPECT_EQ(RNNP_E_UNSUPPORTED, a.ask(&r));
  const std::string declines = a.refusal.reason;
  op = &rnnp_op_softmax;
  EXPECT_EQ(RNNP_E_UNSUPPORTED, a.ask(&r));
  EXPECT_NE(declines, a.refusal.reason);
}

TEST(Explain, MalformedNodesAreNamed) {
  const auto refused = [](rnnp_status want, uint32_t node, const char *op, auto change) {
    BlobTables t(dense_gru());
    change(&t);
    Asked a(t.bytes());
    EXPECT_EQ(want, a.ask());
    EXPECT_EQ(node, a.refusal.node);
    EXPECT_STREQ(op, a.refusal.op);
    return std::string(a.refusal.reason);
  };
  const std::string unknown = refused(RNNP_E_UNSUPPORTED, 0, "unknown", [](BlobTables *t) { t->nodes[0].op = 4711; });
  const std::string damaged = refused(RNNP_E_BLOB_CORRUPT, 0, "Dense", [](BlobTables *t) { t->nodes[0].attr_bytes = 4; });
  EXPECT_NE(unknown, damaged);
}

TEST(Explain, ValuesInOneAnothersMemoryAreNamedWhereThereIsMemoryToSeeIt) {
  BlobBuilder b(1);
  const uint32_t x = b.add_input(4), first = b.add_dense(x, 4, 4), second = b.add_dense(x, 4, 4);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {4}, {1}, {1}};
  b.add_output(b.add_node(OpKind::kBinary, &add, sizeof add, {first, second}, 4, true));
  BlobTables t(b.build());
  t.values[second].location = t.values[first].location;
  Asked a(t.bytes());
  AlignedBytes mem(1 << 16);
  EXPECT_EQ(RNNP_OK, rnnp_session_explain(&a.model, nullptr, nullptr, 0, &a.refusal));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, rnnp_session_explain(&a.model, nullptr, mem.data(), mem.size(), &a.refusal));
  EXPECT_EQ(1u, a.refusal.node);
  EXPECT_STREQ("Dense", a.refusal.op);
}

}  // namespace
}  // namespace rnnp_test
