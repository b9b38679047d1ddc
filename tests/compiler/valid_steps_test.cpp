// valid_steps_test.cpp -- the last valid step of each row, by GatherND and GatherElements at sequence lengths - 1: right for every
// length, 0 among them, and refused where the indices are for a part. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/files/files.h"
#include "onnx_builder.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::testing_support {
namespace valid_steps_test {

using Ints = std::vector<int64_t>;

constexpr int kIn = 3, kHidden = 4;

struct Form {
  bool elements, steps_first, layer_has_lengths, both_directions;
};

// A GRU over X and y, its results as [batch, steps, ...] or [steps, batch, ...].
OnnxBuilder layer(const Form &form) {
  OnnxBuilder b;
  const int64_t directions = form.both_directions ? 2 : 1;
  b.input("X", {"T", "N", kIn}).input("lengths", {"N"}, onnx::TensorProto::INT64).output("z");
  b.weights("", 3, directions, kIn, kHidden).constant_ints("flat", {3}, {0, 0, -1}).constant_ints("one", {1}, {1});
  b.node("Cast", {"lengths"}, {"lens"}).with("to", int64_t{onnx::TensorProto::INT32});
  b.node("GRU", {"X", "W", "R", "B", form.layer_has_lengths ? "lens" : ""}, {"y4", "H"})
      .with("hidden_size", kHidden)
      .with("direction", form.both_directions ? "bidirectional" : "forward");
  b.node("Transpose", {"y4"}, {"yt"}).with("perm", form.steps_first ? Ints{0, 2, 1, 3} : Ints{2, 0, 1, 3});
  b.node("Reshape", {"yt", "flat"}, {"y"});
  b.node("Sub", {"lengths", "one"}, {"last"});
  b.node("Shape", {"lengths"}, {"rows"});
  return b;
}

void by_pairs(OnnxBuilder *b, const Form &form, const std::string &count) {
  b->constant_ints("first", {}, {0}).constant_ints("step", {}, {1}).constant_ints("behind", {1}, {-1});
  b->node("Squeeze", {count}, {"n"});
  b->node("Range", {"first", "n", "step"}, {"each"});
  b->node("Unsqueeze", {"each", "behind"}, {"row"});
  b->node("Unsqueeze", {"last", "behind"}, {"at"});
  b->node("Concat", {form.steps_first ? "at" : "row", form.steps_first ? "row" : "at"}, {"pairs"}).with("axis", -1);
  b->node("GatherND", {"y", "pairs"}, {"z"});
}

void by_elements(OnnxBuilder *b, const Form &form, int64_t width) {
  b->constant_ints("column", {3}, form.steps_first ? Ints{1, -1, 1} : Ints{-1, 1, 1}).constant_ints("width", {1}, {width});
  b->constant_ints("time", {1}, {form.steps_first ? 0 : 1});
  b->node("Reshape", {"last", "column"}, {"at"});
  b->node("Concat", {form.steps_first ? "one" : "rows", form.steps_first ? "rows" : "one", "width"}, {"shape"}).with("axis", 0);
  b->node("Expand", {"at", "shape"}, {"places"});
  b->node("GatherElements", {"y", "places"}, {"z3"}).with("axis", form.steps_first ? 0 : 1);
  b->node("Squeeze", {"z3", "time"}, {"z"});
}

TEST(ValidSteps, TheLastOneOfEachRow) {
  for (int form = 0; form < 16; ++form) {
    SCOPED_TRACE(form);
    const Form of = {(form & 1) != 0, (form & 2) != 0, (form & 4) != 0, (form & 8) != 0};
    OnnxBuilder b = layer(of);
    if (of.elements)
      by_elements(&b, of, of.both_directions ? 2 * kHidden : kHidden);
    else
      by_pairs(&b, of, "rows");
    check_against_f64(b.proto, {6, 4}, lengths_of({3, 6, 1, 4}));
    check_against_f64(b.proto, {5, 3}, lengths_of({0, 5, 2}));
    check_against_f64(b.proto, {1, 2}, lengths_of({1, 0}));
    check_against_f64(b.proto, {4, 1}, lengths_of({4}));
  }
}

// What finds rows without steps is no state: in a second run of the session it knows nothing of the first one.
TEST(ValidSteps, AreThoseOfTheRunAlone) {
  OnnxBuilder b = layer({false, true, true, false});
  b.output("y").node("Identity", {"X"}, {"x"});
  const Form form = {false, true, true, false};
  by_pairs(&b, form, "rows");
  b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1)->set_input(0, "x");
  const std::vector<uint8_t> blob = compiler::compile_model(*compiler::check_model(b.proto), "generic").blob;
  compiler::AlignedBytes bytes(blob.size(), RNNP_BLOB_ALIGN);
  std::copy(blob.begin(), blob.end(), bytes.data());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, bytes.data(), blob.size(), 0), RNNP_OK);
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.max_batch = 1;
  options.max_steps = 2;
  rnnp_memory memory = RNNP_MEMORY_INIT;
  ASSERT_EQ(rnnp_session_memory(&model, &options, &memory), RNNP_OK);
  compiler::AlignedBytes work(memory.session_bytes, memory.alignment);
  rnnp_session *session = nullptr;
  ASSERT_EQ(rnnp_session_init(&session, &model, &options, work.data(), memory.session_bytes), RNNP_OK);
  const float x[2][kIn] = {{1, 2, 3}, {4, 5, 6}};
  for (const int32_t length : {1, 0, 2, 0}) {
    float z[kIn] = {}, y[2][kHidden];
    const rnnp_const_buffer in[] = {{x, 0, 0}, {&length, 0, 0}};
    const rnnp_buffer out[] = {{z, 0, 0}, {y, 0, 0}};
    rnnp_io io = RNNP_IO_INIT;
    io.batch = 1;
    io.steps = 2;
    io.input_count = 2;
    io.output_count = 2;
    io.inputs = in;
    io.outputs = out;
    ASSERT_EQ(rnnp_run_io(session, &io), RNNP_OK);
    EXPECT_EQ(z[0], x[length == 1 ? 0 : 1][0]) << length;
  }
}

// y[rows, lengths - 1] as TorchScript's exporter writes it: both axes as one, and the sizes of what is taken from the places' own.
void by_places(OnnxBuilder *b, bool steps_first, const std::string &size_of) {
  b->constant_ints("first", {}, {0})
      .constant_ints("step", {}, {1})
      .constant_ints("second", {}, {1})
      .constant_ints("behind", {1}, {2});
  b->constant_ints("any", {1}, {-1}).constant_ints("end", {1}, {3});
  b->node("Squeeze", {"rows"}, {"n"});
  b->node("Range", {"first", "n", "step"}, {"each"});
  b->node("Shape", {size_of}, {"sizes"});
  b->node("Gather", {"sizes", "second"}, {"size"});
  b->node("Slice", {"sizes", "behind", "end"}, {"features"});
  b->node("Flatten", {"y"}, {"flat_y"}).with("axis", 2);
  b->node("Mul", {steps_first ? "last" : "each", "size"}, {"scaled"});
  b->node("Add", {steps_first ? "each" : "last", "scaled"}, {"places"});
  b->node("Gather", {"flat_y", "places"}, {"taken"});
  b->node("Shape", {"places"}, {"count"});
  b->node("Concat", {"count", "features"}, {"shape"}).with("axis", 0);
  b->node("Reshape", {"taken", "shape"}, {"z"});
}

TEST(ValidSteps, ByPlacesInBothAxesAsOne) {
  for (const bool steps_first : {false, true}) {
    SCOPED_TRACE(steps_first);
    OnnxBuilder b = layer({false, steps_first, true, false});
    by_places(&b, steps_first, "y");
    check_against_f64(b.proto, {6, 4}, lengths_of({3, 6, 1, 4}));
    check_against_f64(b.proto, {5, 3}, lengths_of({0, 5, 2}));
  }
}

// Rows times another size are other places.
TEST(ValidSteps, ByPlacesWithAnotherSizeAreRefused) {
  OnnxBuilder b = layer({false, false, true, false});
  b.node("Transpose", {"y"}, {"turned"}).with("perm", Ints{1, 0, 2});
  by_places(&b, false, "turned");
  EXPECT_NE(refusal_of(b.proto), "");
}

// PyTorch's expand(-1, -1, features): -1 keeps a size.
TEST(ValidSteps, ByIndicesExpandedByMinusOne) {
  for (const bool steps_first : {false, true}) {
    SCOPED_TRACE(steps_first);
    OnnxBuilder b = layer({true, steps_first, true, false});
    b.constant_ints("column", {3}, steps_first ? Ints{1, -1, 1} : Ints{-1, 1, 1}).constant_ints("keep", {}, {-1});
    b.constant_ints("wanted", {3}, steps_first ? Ints{1, -1, kHidden} : Ints{-1, 1, kHidden}).constant_ints("sizes", {1}, {3});
    b.constant_ints("time", {1}, {steps_first ? 0 : 1});
    b.node("Reshape", {"last", "column"}, {"at"});
    b.node("Identity", {"wanted"}, {"wanted_now"});
    onnx::NodeProto &ones = b.node("ConstantOfShape", {"sizes"}, {"ones"}).proto();
    onnx::AttributeProto *one = ones.add_attribute();
    one->set_name("value");
    one->set_type(onnx::AttributeProto::TENSOR);
    one->mutable_t()->set_data_type(onnx::TensorProto::INT64);
    one->mutable_t()->add_dims(1);
    one->mutable_t()->add_int64_data(1);
    b.node("Mul", {"ones", "keep"}, {"kept"});
    b.node("Equal", {"wanted_now", "kept"}, {"is_kept"});
    b.node("Where", {"is_kept", "ones", "wanted_now"}, {"shape"});
    b.node("Expand", {"at", "shape"}, {"places"});
    b.node("GatherElements", {"y", "places"}, {"z3"}).with("axis", steps_first ? 0 : 1);
    b.node("Squeeze", {"z3", "time"}, {"z"});
    check_against_f64(b.proto, {6, 4}, lengths_of({3, 6, 1, 4}));
  }
}

// A file whose sizes are fixed has the rows as constants, and its blob is as open as without the picking.
TEST(ValidSteps, OfAFileOfFixedSizes) {
  for (const bool elements : {false, true}) {
    OnnxBuilder b;
    b.input("X", {6, 2, kIn}).input("lengths", {2}, onnx::TensorProto::INT64).output("z").weights("", 3, 1, kIn, kHidden);
    b.constant_ints("one", {1}, {1}).constant_ints("each", {2, 1}, {0, 1}).constant_ints("behind", {1}, {-1});
    b.constant_ints("column", {3}, {-1, 1, 1})
        .constant_ints("wanted", {3}, {1, 1, kHidden})
        .constant_ints("flat", {3}, {6, 2, kHidden});
    b.node("GRU", {"X", "W", "R", "B"}, {"y4", "H"}).with("hidden_size", kHidden);
    b.node("Reshape", {"y4", "flat"}, {"yf"});
    b.node("Transpose", {"yf"}, {"y"}).with("perm", Ints{1, 0, 2});
    b.node("Sub", {"lengths", "one"}, {"last"});
    if (elements) {
      b.node("Reshape", {"last", "column"}, {"at"});
      b.node("Expand", {"at", "wanted"}, {"places"});
      b.node("GatherElements", {"y", "places"}, {"z3"}).with("axis", 1);
      b.node("Squeeze", {"z3", "one"}, {"z"});
    } else {
      b.node("Unsqueeze", {"last", "behind"}, {"at"});
      b.node("Concat", {"each", "at"}, {"pairs"}).with("axis", -1);
      b.node("GatherND", {"y", "pairs"}, {"z"});
    }
    check_against_f64(b.proto, {6, 2}, lengths_of({3, 6}));
    check_against_f64(b.proto, {6, 2}, lengths_of({1, 5}));
  }
}

TEST(ValidSteps, OfAPartOfTheFeaturesAreRefused) {
  OnnxBuilder b = layer({true, false, true, false});
  by_elements(&b, {true, false, true, false}, 1);
  EXPECT_NE(refusal_of(b.proto), "");
}

// As many rows as there are steps is another number for most runs.
TEST(ValidSteps, OfAnotherNumberOfRowsAreRefused) {
  OnnxBuilder b = layer({false, false, true, false});
  b.node("Shape", {"X"}, {"sizes"}).with("end", int64_t{1});
  by_pairs(&b, {false, false, true, false}, "sizes");
  EXPECT_NE(refusal_of(b.proto), "");
}

TEST(ValidSteps, OfOtherStepsAreRefused) {
  OnnxBuilder b = layer({true, false, true, false});
  b.constant_ints("two", {1}, {2}).node("Sub", {"lengths", "two"}, {"before"});
  b.constant_ints("column", {3}, {-1, 1, 1}).constant_ints("width", {1}, {kHidden});
  b.node("Reshape", {"before", "column"}, {"at"});
  b.node("Concat", {"rows", "one", "width"}, {"shape"}).with("axis", 0);
  b.node("Expand", {"at", "shape"}, {"places"});
  b.node("GatherElements", {"y", "places"}, {"z"}).with("axis", 1);
  EXPECT_NE(refusal_of(b.proto), "");
}

}  // namespace valid_steps_test
}  // namespace rnnp::testing_support
