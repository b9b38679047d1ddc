// decoders_test.cpp -- what is proposed for one step of an attention decoder, and for encoder and decoder of two lengths.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace decoders_test {

constexpr int kWords = 11, kWide = 4, kHidden = 6, kSource = 5;
using Ints = std::vector<int64_t>;

void declare(OnnxBuilder *b, const std::string &name, const std::vector<Dim> &shape) {
  b->output(name);
  auto *type = b->proto.mutable_graph()->mutable_output(b->proto.graph().output_size() - 1)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const Dim &dim : shape) {
    auto *to = type->mutable_shape()->add_dim();
    dim.value > 0 ? to->set_dim_value(dim.value) : to->set_dim_param(dim.name);
  }
}

// Scores of the memory [batch, source, units] from the state, a context, and a GRU of one step from it and the word.
OnnxBuilder decoder(const Dim &source) {
  OnnxBuilder b;
  b.input("word", {"N", kWide}).input("h", {1, "N", kHidden}).input("memory", {"N", source, kHidden});
  declare(&b, "logits", {"N", 1, kWords});
  declare(&b, "h_next", {1, "N", kHidden});
  b.random("Q", {kHidden, kHidden}).random("L", {2 * kHidden, kWords}).weights("", 3, 1, kWide + kHidden, kHidden);
  b.constant_ints("zero", {}, {0}).constant_ints("one", {1}, {1}).constant_ints("front", {1}, {0});
  b.node("Gather", {"h", "zero"}, {"top"}).with("axis", 0);
  b.node("MatMul", {"top", "Q"}, {"q"});
  b.node("Unsqueeze", {"q", "one"}, {"query"});
  b.node("Transpose", {"memory"}, {"keys"}).with("perm", Ints{0, 2, 1});
  b.node("MatMul", {"query", "keys"}, {"scores"});
  b.node("Softmax", {"scores"}, {"p"}).with("axis", -1);
  b.node("MatMul", {"p", "memory"}, {"context"});
  b.node("Unsqueeze", {"word", "one"}, {"word_step"});
  b.node("Concat", {"word_step", "context"}, {"both"}).with("axis", -1);
  b.node("Transpose", {"both"}, {"x"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"x", "W", "R", "B", "", "h"}, {"y4", "h_next"}).with("hidden_size", kHidden).with("linear_before_reset", 1);
  b.node("Squeeze", {"y4", "one"}, {"y"});
  b.node("Transpose", {"y"}, {"y_row"}).with("perm", Ints{1, 0, 2});
  b.node("Concat", {"y_row", "context"}, {"all"}).with("axis", -1);
  b.node("MatMul", {"all", "L"}, {"logits"});
  return b;
}

TEST(Decoders, WhatIsMissingIsProposed) {
  const std::string open = refusal_of(decoder("S").proto);
  EXPECT_NE(open.find("try: --dim S=SIZE"), std::string::npos) << open;
  std::string notes;
  for (const std::string &note : compiler::compile_graph(*compiler::check_model(decoder(kSource).proto), {}).notes) notes += note;
  EXPECT_NE(notes.find("--state h=h_next"), std::string::npos) << notes;
}

OnnxBuilder encoder_decoder() {
  OnnxBuilder b;
  b.input("x", {"S", "N", kWide}).input("y", {"U", "N", kWide}).output("Y");
  b.weights("e", 3, 1, kWide, kHidden).weights("d", 3, 1, kWide, kHidden);
  b.node("GRU", {"x", "eW", "eR", "eB"}, {"", "last"}).with("hidden_size", kHidden);
  b.node("GRU", {"y", "dW", "dR", "dB", "", "last"}, {"Y"}).with("hidden_size", kHidden);
  return b;
}

TEST(Decoders, OfTwoOpenLengthsEitherMayBeFixed) {
  const std::string text = refusal_of(encoder_decoder().proto);
  EXPECT_NE(text.find("layers run along it and along"), std::string::npos) << text;
  EXPECT_NE(text.find("--dim U=SIZE"), std::string::npos) << text;
  EXPECT_NE(text.find("--dim S=SIZE"), std::string::npos) << text;
  for (const char *fixed : {"U", "S"}) {
    SCOPED_TRACE(fixed);
    compiler::Specialisation wanted;
    wanted.dims[fixed] = 4;
    check_against_f64(encoder_decoder().proto, {7, 3}, {}, 1e-5, wanted);
  }
}

// Each half takes its own number of steps; the encoder's result is the decoder's start.
TEST(Decoders, OfTwoOpenLengthsEachMayBeABlobOfItsOwn) {
  compiler::Specialisation encoder, decoder;
  encoder.cut.to = {"last"};
  decoder.cut.from["last"] = "1,N,6";
  check_against_f64(encoder_decoder().proto, {7, 3}, {}, 1e-5, encoder);
  check_against_f64(encoder_decoder().proto, {5, 3}, {}, 1e-5, decoder);
}

TEST(Decoders, TheTwoBlobsAreProposed) {
  const std::string text = refusal_of(encoder_decoder().proto);
  EXPECT_NE(text.find("or two blobs, --to last and --from last=1,N,6"), std::string::npos) << text;
}

TEST(Decoders, AProjectionIsNamedWhereItIsRefused) {
  OnnxBuilder b;
  b.input("x", {"T", 2, kWide}).output("Y").output("C");
  b.weights("", 4, 1, kWide, kHidden);
  b.constant("c", {1, 2, 10}, std::vector<float>(20, 0.0f)).constant("h", {1, 2, kHidden}, std::vector<float>(2 * kHidden, 0.0f));
  b.node("LSTM", {"x", "W", "R", "B", "", "h", "c"}, {"Y", "", "C"}).with("hidden_size", kHidden);
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("proj_size"), std::string::npos) << text;
}

}  // namespace decoders_test
}  // namespace rnnp::testing_support
