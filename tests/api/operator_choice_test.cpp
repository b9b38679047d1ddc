// operator_choice_test.cpp -- operators of one kind: each node has one of them, whatever the order they are listed in, and a status
// about the node is final. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rnnpack/registry.h"
#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace operator_choice_test {

using namespace rnnp_test;
using rnnp::OpKind;

#define RNNP_NAME_(name) &rnnp_kernels_##name,
const rnnp_kernel_group *const kKernels[] = {RNNP_FOR_EACH_KERNEL_GROUP(RNNP_NAME_)};
#undef RNNP_NAME_

rnnp_registry registry_of(const std::vector<const rnnp_op *> &ops, const rnnp_check *check, const void *blob) {
  return {sizeof(rnnp_registry),
          static_cast<uint32_t>(ops.size()),
          sizeof kKernels / sizeof kKernels[0],
          ops.data(),
          kKernels,
          check,
          blob};
}

rnnp_status measure(const BlobTables &t, const std::vector<const rnnp_op *> &ops) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) return status;
  const rnnp_registry registry = registry_of(ops, &rnnp_check_dataflow, nullptr);
  rnnp_memory memory = RNNP_MEMORY_INIT;
  return rnnp_session_memory_with(&registry, &model, nullptr, &memory);
}

BlobTables unary(rnnp::Act act) {
  BlobBuilder b(1);
  const rnnp::AttrUnary a = {{uint32_t(act), 0, 0}};
  b.add_output(b.add_node(OpKind::kUnary, &a, sizeof a, {b.add_input(5)}, 5, true));
  return BlobTables(b.build());
}

BlobTables binary(rnnp::Binary op) {
  BlobBuilder b(1);
  const rnnp::AttrBinary a = {uint32_t(op), 1, {5}, {1}, {1}};
  const uint32_t x = b.add_input(5);
  b.add_output(b.add_node(OpKind::kBinary, &a, sizeof a, {x, x}, 5, true));
  return BlobTables(b.build());
}

// Five channels: each by itself, or all of them into each.
BlobTables conv(bool depthwise) {
  rnnp::AttrConv a = {};
  a.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {5, 5, 1}, 0, {5, 5}};
  a.time_taps = a.time_dilation = 1;
  a.groups = depthwise ? 5 : 1;
  a.in_channels = a.out_channels = depthwise ? 1 : 5;
  BlobBuilder b(1);
  const uint32_t x = b.add_input(5);
  b.add_output(depthwise ? b.add_depthwise(x, a, 5) : b.add_conv(x, a, 5));
  return BlobTables(b.build());
}

// Two steps, of one window or of two.
BlobTables steps(uint32_t windows) {
  rnnp::AttrConv a = {};
  a.window = {{1, 2}, {1, windows}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {10, 5, 1}, 0, {10, 5}};
  a.time_taps = 2;
  a.time_dilation = a.groups = 1;
  a.lead = 1;
  a.in_channels = a.out_channels = 5;
  BlobBuilder b(1);
  const uint32_t x = b.add_input(10);
  b.add_output(b.add_conv(x, a, 5 * windows));
  return BlobTables(b.build());
}

// Windows of 3 x 3 of planes, their weights as they are or as points of F(2x2, 3x3).
BlobTables planes(bool points) {
  rnnp::AttrConv a = {};
  a.window = {{3, 4}, {1, 2}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, 0, {4, 1, 12}, 0, {2, 1}};
  a.time_taps = a.time_dilation = a.groups = 1;
  a.in_channels = a.out_channels = 2;
  a.y_plane = 2;
  BlobBuilder b(1);
  const uint32_t x = b.add_input(24);
  b.add_output(points ? b.add_winograd(x, a, 4) : b.add_conv(x, a, 4));
  return BlobTables(b.build());
}

// One window of three columns at two steps, its weights as they are or as points of F(2, 3).
BlobTables lines(bool points) {
  rnnp::AttrConv a = {};
  a.window = {{1, 3}, {1, 1}, {1, 3}, {1, 1}, {1, 1}, {0, 0}, 0, {6, 2, 1}, 0, {2, 2}};
  a.time_taps = 2;
  a.time_dilation = a.groups = a.lead = 1;
  a.in_channels = a.out_channels = 2;
  BlobBuilder b(1);
  const uint32_t x = b.add_input(6);
  b.add_output(points ? b.add_winograd(x, a, 2) : b.add_conv(x, a, 2));
  return BlobTables(b.build());
}

// A node of a kind's first operator and one of its second.
struct Kind {
  const char *name;
  const rnnp_op *op[2];
  BlobTables blob[2];
};

std::vector<Kind> kinds() {
  return {{"unary", {&rnnp_op_unary, &rnnp_op_unary_without_kernel}, {unary(rnnp::Act::kTanh), unary(rnnp::Act::kErf)}},
          {"binary", {&rnnp_op_binary, &rnnp_op_compare}, {binary(rnnp::Binary::kAdd), binary(rnnp::Binary::kLess)}},
          {"conv", {&rnnp_op_conv, &rnnp_op_depthwise}, {conv(false), conv(true)}},
          {"steps", {&rnnp_op_conv, &rnnp_op_conv_taps}, {steps(2), steps(1)}}};
}

TEST(OperatorChoice, ANodeHasOneOperatorInWhateverOrderTheyAreListed) {
  std::vector<Kind> all = kinds();
  all.push_back({"planes", {&rnnp_op_conv_nchw, &rnnp_op_conv_winograd}, {planes(false), planes(true)}});
  all.push_back({"lines", {&rnnp_op_conv_taps, &rnnp_op_conv_winograd}, {lines(false), lines(true)}});
  for (const Kind &k : all) {
    for (int i = 0; i < 2; ++i) {
      SCOPED_TRACE(std::string(k.name) + (i == 0 ? ", first" : ", second"));
      EXPECT_EQ(RNNP_OK, measure(k.blob[i], {k.op[i]}));
      EXPECT_EQ(RNNP_OK, measure(k.blob[i], {k.op[0], k.op[1]}));
      EXPECT_EQ(RNNP_OK, measure(k.blob[i], {k.op[1], k.op[0]}));
      EXPECT_EQ(RNNP_E_UNSUPPORTED, measure(k.blob[i], {k.op[1 - i]}));
      EXPECT_EQ(RNNP_E_UNSUPPORTED, measure(k.blob[i], {&rnnp_op_softmax}));
    }
  }
}

// What is wrong with a node is not asked of the next operator of the kind.
TEST(OperatorChoice, ABrokenNodeIsCorruptAndNotUnsupported) {
  for (Kind &k : kinds()) {
    for (int i = 0; i < 2; ++i) {
      SCOPED_TRACE(std::string(k.name) + (i == 0 ? ", first" : ", second"));
      BlobTables cut = k.blob[i], operand = k.blob[i];
      cut.nodes[0].attr_bytes = 4;
      operand.args[operand.nodes[0].input_first] = rnnp::kNone;
      for (const BlobTables &t : {cut, operand}) {
        EXPECT_EQ(RNNP_E_BLOB_CORRUPT, measure(t, {k.op[0], k.op[1]}));
        EXPECT_EQ(RNNP_E_BLOB_CORRUPT, measure(t, {k.op[1], k.op[0]}));
      }
    }
  }
  for (const uint32_t act : {uint32_t(rnnp::kLastAct) + 1, 0xffffffffu})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, measure(unary(rnnp::Act(act)), {&rnnp_op_unary, &rnnp_op_unary_without_kernel}));
  for (const uint32_t op : {uint32_t(rnnp::Binary::kPRelu) + 1, 0xffffffffu})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, measure(binary(rnnp::Binary(op)), {&rnnp_op_binary, &rnnp_op_compare}));
}

// A node that is refused is refused before its numbers are planned with, whatever stands before it.
TEST(OperatorChoice, AKindThatNobodyKnowsIsUnsupported) {
  BlobTables t = unary(rnnp::Act::kTanh);
  t.nodes[0].op = 99;
  EXPECT_EQ(RNNP_E_UNSUPPORTED, measure(t, {&rnnp_op_unary, &rnnp_op_unary_without_kernel}));
}

TEST(OperatorChoice, ARegistryWithoutTheCheckIsForItsOwnBlobAlone) {
  const AlignedBytes own(unary(rnnp::Act::kTanh).bytes()), other(unary(rnnp::Act::kTanh).bytes());
  const std::vector<const rnnp_op *> ops = {&rnnp_op_unary};
  const rnnp_registry bound = registry_of(ops, nullptr, own.data()), free = registry_of(ops, &rnnp_check_dataflow, own.data()),
                      neither = registry_of(ops, nullptr, nullptr);
  for (const AlignedBytes *blob : {&own, &other}) {
    rnnp_model model;
    ASSERT_EQ(rnnp_model_open(&model, blob->data(), blob->size(), 0), RNNP_OK);
    rnnp_memory memory = RNNP_MEMORY_INIT;
    EXPECT_EQ(rnnp_session_memory_with(&bound, &model, nullptr, &memory), blob == &own ? RNNP_OK : RNNP_E_ARG);
    EXPECT_EQ(rnnp_session_memory_with(&neither, &model, nullptr, &memory), RNNP_E_ARG);
    ASSERT_EQ(rnnp_session_memory_with(&free, &model, nullptr, &memory), RNNP_OK);
    AlignedBytes storage(memory.session_bytes);
    rnnp_session *session = nullptr;
    EXPECT_EQ(rnnp_session_init_with(&free, &session, &model, nullptr, storage.data(), storage.size()), RNNP_OK);
    rnnp_refusal refusal = RNNP_REFUSAL_INIT;
    EXPECT_EQ(rnnp_session_explain_with(&bound, &model, nullptr, nullptr, 0, &refusal), blob == &own ? RNNP_OK : RNNP_E_ARG);
    EXPECT_EQ(std::string(refusal.reason).find("the one it was written with") != std::string::npos, blob == &other);
  }
}

// A registry that comes with a blob opens it without the checks, and its operators may leave theirs out; with any other blob they
// run nothing, even where the registry checks how values flow.
TEST(OperatorChoice, AnUncheckedOperatorRunsTheRegistrysBlobAlone) {
  const AlignedBytes own(unary(rnnp::Act::kTanh).bytes()), other(unary(rnnp::Act::kTanh).bytes());
  const std::vector<const rnnp_op *> ops = {&rnnp_op_unary_unchecked};
  for (const rnnp_check *check : {static_cast<const rnnp_check *>(nullptr), &rnnp_check_dataflow}) {
    const rnnp_registry registry = registry_of(ops, check, own.data());
    rnnp_model model;
    ASSERT_EQ(rnnp_model_open_with(&registry, &model), RNNP_OK);
    rnnp_memory memory = RNNP_MEMORY_INIT;
    ASSERT_EQ(rnnp_session_memory_with(&registry, &model, nullptr, &memory), RNNP_OK);
    AlignedBytes storage(memory.session_bytes);
    rnnp_session *session = nullptr;
    ASSERT_EQ(rnnp_session_init_with(&registry, &session, &model, nullptr, storage.data(), storage.size()), RNNP_OK);
    rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
    ASSERT_EQ(rnnp_model_get_info(&model, &facts), RNNP_OK);
    EXPECT_EQ(facts.blob_bytes, own.size());
    ASSERT_EQ(rnnp_model_open(&model, other.data(), other.size(), 0), RNNP_OK);
    EXPECT_EQ(rnnp_session_memory_with(&registry, &model, nullptr, &memory), RNNP_E_ARG);
  }
}

// An emitted registry may name any of them.
TEST(OperatorChoice, EveryOperatorHasAnUncheckedVariant) {
#define RNNP_PAIR_(name) {&rnnp_op_##name, &rnnp_op_##name##_unchecked},
  const std::pair<const rnnp_op *, const rnnp_op *> variants[] = {RNNP_FOR_EACH_OP(RNNP_PAIR_)};
#undef RNNP_PAIR_
  for (const auto &variant : variants) EXPECT_NE(variant.first, variant.second);
}

TEST(OperatorChoice, ABlobOfAnotherLibraryDoesNotOpenWithARegistry) {
  const AlignedBytes own(unary(rnnp::Act::kTanh).bytes());
  const std::vector<const rnnp_op *> ops = {&rnnp_op_unary_unchecked};
  rnnp_model model;
  const rnnp_registry registry = registry_of(ops, nullptr, own.data()), none = registry_of(ops, &rnnp_check_dataflow, nullptr),
                      askew = registry_of(ops, nullptr, own.data() + 4);
  EXPECT_EQ(rnnp_model_open_with(&registry, nullptr), RNNP_E_ARG);
  EXPECT_EQ(rnnp_model_open_with(nullptr, &model), RNNP_E_ARG);
  EXPECT_EQ(rnnp_model_open_with(&none, &model), RNNP_E_ARG);
  EXPECT_EQ(rnnp_model_open_with(&askew, &model), RNNP_E_ALIGN);
  for (const size_t byte : {offsetof(rnnp::BlobHeader, magic), offsetof(rnnp::BlobHeader, version)}) {
    AlignedBytes changed(unary(rnnp::Act::kTanh).bytes());
    changed.data()[byte] ^= 0x40;
    const rnnp_registry theirs = registry_of(ops, nullptr, changed.data());
    EXPECT_EQ(rnnp_model_open_with(&theirs, &model), byte == 0 ? RNNP_E_BLOB_MAGIC : RNNP_E_BLOB_VERSION);
  }
}

}  // namespace operator_choice_test
