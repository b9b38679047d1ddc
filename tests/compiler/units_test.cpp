// units_test.cpp -- the compiler's parts one by one: views, memory placement, .npy, checksums, blob facts.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/compile.h"
#include "compiler/emit/blob_checksum.h"
#include "compiler/files/npy.h"
#include "compiler/ir/memory.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/view.h"
#include "compiler/onnx/problem.h"
#include "format/blob.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using namespace rnnp::compiler;

Atom symbol(Atom::Kind kind, int64_t size) {
  return Atom{kind, size, 0, -1};
}

TEST(View, ReshapeMovesSymbolsAndSplitsFeatures) {
  View view = dense_view(0, {1, 1, 12});
  view.axes[0] = {symbol(Atom::Kind::kTime, 7)};
  view.axes[1] = {symbol(Atom::Kind::kBatch, 5)};
  const View merged_view = reshape_view(view, {35, 3, 4});
  EXPECT_EQ(view_text(merged_view), "[steps*batch, 3, 4]");
  EXPECT_EQ(view_text(reshape_view(merged_view, {7, 5, 12})), "[steps, batch, 12]");
  EXPECT_TRUE(is_dense(reshape_view(merged_view, {7, 5, 12}), 12));
  EXPECT_THROW(reshape_view(view, {5, 7, 12}), Refusal);
  EXPECT_THROW(reshape_view(view, {7, 5, 8}), Refusal);
  EXPECT_THROW(reshape_view(view, {420, 2}), Refusal);
}

TEST(View, UnitSymbolsStayWhereTheyCan) {
  View view = dense_view(0, {1, 1, 6});
  view.axes[0] = {symbol(Atom::Kind::kTime, 1)};
  view.axes[1] = {symbol(Atom::Kind::kBatch, 1)};
  EXPECT_EQ(view_text(reshape_view(view, {1, 1, 2, 3})), "[steps, batch, 2, 3]");
  EXPECT_EQ(view_text(reshape_view(view, {1, 6})), "[steps*batch, 6]");
  EXPECT_EQ(view_text(reshape_view(view, {6})), "[6]");
}

TEST(View, SlicesComposeWithPermutations) {
  View view = dense_view(0, {4, 6});
  std::swap(view.axes[0], view.axes[1]);
  view = slice_axis(view, 0, 5, 3, -2);
  EXPECT_EQ(view.first, 5);
  EXPECT_EQ(features_of(view)[0].stride, -2);
  EXPECT_EQ(features_of(view)[1].stride, 6);
  EXPECT_FALSE(is_permutation(view, 24));
}

TEST(View, AxesLineUpUnderBroadcasting) {
  const Axis a = {Atom{Atom::Kind::kFeature, 6, 1, -1}},
             b = {Atom{Atom::Kind::kFeature, 2, 3, -1}, Atom{Atom::Kind::kFeature, 3, 1, -1}};
  Axis x, y;
  ASSERT_TRUE(align_axes(a, b, &x, &y));
  ASSERT_EQ(x.size(), 2u);
  EXPECT_EQ(x[0].stride, 3);
  EXPECT_EQ(x[1].stride, 1);
  x.clear();
  y.clear();
  EXPECT_FALSE(align_axes(a, {symbol(Atom::Kind::kTime, 6)}, &x, &y));
}

TEST(Memory, NothingOverlapsAndThePeakIsNearTheBound) {
  std::mt19937 random(3);
  double worst = 1;
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives;
    const uint32_t nodes = 5 + static_cast<uint32_t>(random() % 60);
    for (uint32_t n = 0; n < nodes; ++n) {
      const uint32_t reach = random() % 4 == 0 ? static_cast<uint32_t>(random() % 12) : 1;
      lives.push_back({n, 16 * (1 + static_cast<uint32_t>(random() % 64)), n, std::min(nodes, n + reach), 0});
    }
    const uint32_t bound = largest_live_set(lives), size = place_lifetimes(&lives);
    worst = std::max(worst, static_cast<double>(size) / bound);
    for (size_t i = 0; i < lives.size(); ++i) {
      ASSERT_LE(lives[i].offset + lives[i].elems, size);
      for (size_t k = 0; k < i; ++k) {
        if (lives[i].first > lives[k].last || lives[k].first > lives[i].last) continue;
        ASSERT_TRUE(lives[i].offset >= lives[k].offset + lives[k].elems || lives[k].offset >= lives[i].offset + lives[i].elems);
      }
    }
  }
  EXPECT_LE(worst, 1.1);
}

TEST(Npy, RoundTripAndRefusals) {
  Array array;
  array.shape = {2, 3};
  array.f32 = {1, -2, 3.5f, 0, 5, 6};
  const std::vector<uint8_t> bytes = format_npy(array);
  EXPECT_EQ((bytes.size() - 24) % 64, 0u);
  const Array back = parse_npy(bytes, "x");
  EXPECT_EQ(back.shape, array.shape);
  EXPECT_EQ(back.f32, array.f32);
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_THROW(parse_npy({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)}, "x"), IoError);
  for (size_t i = 0; i < bytes.size() - 24; ++i) {
    for (int flip : {0x01, 0x10, 0x80}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      try {
        parse_npy(damaged, "x");
      } catch (const IoError &) {
        continue;
      }
    }
  }
}

TEST(Crc32, KnownValue) {
  EXPECT_EQ(crc32_of("123456789", 9), 0xcbf43926u);
}

OnnxBuilder small_model() {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).weights("", 4, 1, 5, 6).output("Y").output("Y_h");
  b.node("LSTM", {"X", "W", "R", "B"}, {"Y", "Y_h"}, "lstm").with("hidden_size", 6);
  return b;
}

TEST(Blob, HeaderAndSections) {
  const auto model = check_model(small_model().proto);
  const std::vector<uint8_t> blob = compile_model(*model, "generic").blob;
  BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  EXPECT_EQ(h.magic, kBlobMagic);
  EXPECT_EQ(h.file_bytes, blob.size());
  EXPECT_EQ(h.flags, kBlobCausal);
  EXPECT_EQ(h.weights.offset % kBlobAlign, 0u);
  EXPECT_EQ(h.weights.offset + h.weights.bytes, blob.size());
  EXPECT_EQ(h.macs_per_step, 4u * 6u * (5u + 6u));
  EXPECT_EQ(h.states.bytes / sizeof(BlobState), 2u);
  EXPECT_EQ(h.sequence_pool_elems % 16, 0u);
}

TEST(Blob, ModelIdFollowsTheWeightsNotTheTarget) {
  OnnxBuilder b = small_model();
  const auto id = [](const onnx::ModelProto &proto, const char *target) {
    const auto model = check_model(proto);
    BlobHeader h;
    std::memcpy(&h, compile_model(*model, target).blob.data(), sizeof h);
    return h.model_id;
  };
  const uint64_t before = id(b.proto, "generic");
  EXPECT_EQ(before, id(b.proto, "cortex-m"));
  b.proto.mutable_graph()->mutable_initializer(0)->set_float_data(0, 9.0f);
  EXPECT_NE(before, id(b.proto, "generic"));
}

TEST(Blob, CompilingTwiceGivesTheSameBytes) {
  const auto model = check_model(small_model().proto);
  EXPECT_EQ(compile_model(*model, "avx2").blob, compile_model(*model, "avx2").blob);
}

TEST(Blob, UnknownTargetIsAUsageError) {
  const auto model = check_model(small_model().proto);
  EXPECT_THROW(compile_model(*model, "z80"), UsageError);
}

TEST(Passes, DeadNodesGo) {
  OnnxBuilder b = small_model();
  b.node("Relu", {"Y"}, {"unused"});
  const auto model = check_model(b.proto);
  EXPECT_EQ(compile_model(*model, "generic").graph.nodes.size(), 1u);
}

}  // namespace
}  // namespace rnnp::testing_support
