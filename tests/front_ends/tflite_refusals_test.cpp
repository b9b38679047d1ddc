// tflite_refusals_test.cpp -- damaged, newer and unsupported TensorFlow Lite files: each is refused with what is wrong with it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "model_of.h"
#include "tflite_files.h"

namespace rnnp::testing_support {
namespace {

using Code = TfliteCode;

std::string dense_file(uint32_t version = 3) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 2});
  file.op(Code::kFullyConnected, {x, file.floats({2, 4}, random_numbers(8, 1, 1)), file.floats({2}, {1, 2})}, {y},
          FlatOut().number(0, int8_t{1}));
  file.graph_io({x}, {y});
  return file.file(version);
}

std::string of_one_operator(int code, const std::string &custom = "") {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 4});
  file.op(code, {x}, {y}, {}, custom);
  file.graph_io({x}, {y});
  return file.file();
}

void expect_refused(const std::string &file, const std::string &reason) {
  const std::string refusal = refusal_of_file(file);
  EXPECT_NE(refusal.find(reason), std::string::npos) << "refused with: " << refusal;
}

TEST(TfliteRefusals, NameWhatIsWrong) {
  EXPECT_EQ(refusal_of_file(dense_file()), "");
  expect_refused(dense_file(4), "version 4");
  expect_refused(of_one_operator(131), "RFFT2D");
  expect_refused(of_one_operator(500), "operator 500");
  expect_refused(of_one_operator(Code::kCustom, "MyOp"), "CUSTOM 'MyOp'");
  std::string newer = dense_file();
  newer[7] = '4';
  expect_refused(newer, "another version");
}

TEST(TfliteRefusals, OfTensorsThatAreNotAsLongAsTheirShapes) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 2});
  file.op(Code::kFullyConnected, {x, file.floats({2, 4}, random_numbers(7, 1, 1))}, {y});
  file.graph_io({x}, {y});
  expect_refused(file.file(), "is float32 of shape [2, 4] and has 28 bytes");
}

TEST(TfliteRefusals, OfScalesThatFitNoAxis) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 2});
  file.op(Code::kFullyConnected, {x, file.int8s({2, 4}, std::vector<int>(8, 1), {{0.5f, 0.5f, 0.5f}})}, {y});
  file.graph_io({x}, {y});
  expect_refused(file.file(), "with 3 scales");
}

TEST(TfliteRefusals, OfEveryTruncatedFile) {
  const std::string file = dense_file();
  for (size_t size = 8; size + 3 < file.size(); size += 4) {
    const std::string refusal = refusal_of_file(file.substr(0, size));
    EXPECT_NE(refusal.find("truncated or damaged"), std::string::npos) << size << " bytes: " << refusal;
  }
}

TEST(TfliteRefusals, OfOptionsThatANewerFileHas) {
  for (const int field : {1, 4}) {
    TfliteWriter file;
    const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 4});
    file.op(Code::kAdd, {x, x}, {y}, FlatOut().number(field, uint8_t{1}));
    file.graph_io({x}, {y});
    const std::string refusal = refusal_of_file(file.file());
    EXPECT_EQ(refusal.find("its option 4 is not known") != std::string::npos, field == 4) << refusal;
  }
}

std::string clipped_lstm(int act, float clip, int left_out = -1) {
  return lstm_file(lstm_weights(1), false, false, activation(0, act).number(1, clip), left_out);
}

// The converter writes 10 for layers of Keras, which cut nothing off.
TEST(TfliteRefusals, OfCellsThatAreCutOff) {
  constexpr int kTanh = 4, kRelu = 1;
  expect_refused(clipped_lstm(kTanh, 3), "its cell is cut off at 3");
  expect_refused(clipped_lstm(kRelu, 10), "its cell is cut off at 10");
  const auto notes = compiled_of(clipped_lstm(kTanh, 10)).graph.notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("cuts LSTM cells off at 10"), std::string::npos) << notes[0];
  EXPECT_TRUE(compiled_of(clipped_lstm(kTanh, 0)).graph.notes.empty());
}

TEST(TfliteRefusals, OfGatesThatAreLeftOutButTheInputGate) {
  constexpr int kTanh = 4, kForgetGate = 2;
  expect_refused(clipped_lstm(kTanh, 0, kForgetGate), "operand 2 is left out");
}

TEST(TfliteRefusals, OfWhatStandsAmongDealtSteps) {
  for (const bool is_output : {false, true}) {
    TfliteWriter file;
    const int x = file.tensor("input", {1, 4, 1}), dealt = file.tensor("dealt", {2, 2, 1}), y = file.tensor("output", {2, 2, 1});
    file.op(Code::kSpaceToBatch, {x, file.ints({2}), file.ints({0, 0})}, {dealt});
    if (!is_output) file.op(Code::kAdd, {dealt, dealt}, {y});
    file.graph_io({x}, {is_output ? dealt : y});
    expect_refused(file.file(), "it stands between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND");
  }
}

TEST(TfliteRefusals, OfLoopsThatCarryTooMuch) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 4});
  file.op(Code::kWhile, std::vector<int32_t>(65, x), std::vector<int32_t>(65, y),
          FlatOut().number(0, int32_t{0}).number(1, int32_t{0}));
  file.graph_io({x}, {y});
  expect_refused(file.file(), "it carries 65 tensors");
}

// Whether they run, nobody knows; so what they assign is kept nowhere.
TEST(TfliteRefusals, OfVariablesInBranchesAndLoops) {
  for (const auto &[code, is_given] :
       {std::pair{Code::kIf, false}, {Code::kIf, true}, {Code::kWhile, false}, {Code::kWhile, true}}) {
    TfliteWriter file;
    const int x = file.tensor("input", {1, 4}), y = file.tensor("output", {1, 4}),
              handle = file.tensor("handle", {}, TfliteType::kResource);
    file.op(Code::kVarHandle, {}, {handle}, FlatOut().text(1, "memory"));
    const std::vector<int32_t> given = is_given ? std::vector<int32_t>{x, handle} : std::vector<int32_t>{x};
    std::vector<int32_t> operands = given;
    if (code == Code::kIf) operands.insert(operands.begin(), file.tensor("yes", {}, TfliteType::kBool, {}, std::string(1, 1)));
    file.op(code, operands, {y}, FlatOut().number(0, int32_t{1}).number(1, int32_t{1}));
    file.graph_io({x}, {y});
    file.begin_graph();
    const int a = file.tensor("a", {1, 4}), before = file.tensor("before", {1, 4}), sum = file.tensor("sum", {1, 4}),
              inner = file.tensor("handle", {}, TfliteType::kResource);
    if (!is_given) file.op(Code::kVarHandle, {}, {inner}, FlatOut().text(1, "memory"));
    file.op(Code::kReadVariable, {inner}, {before});
    file.op(Code::kAdd, {a, before}, {sum});
    file.op(Code::kAssignVariable, {inner, sum}, {});
    file.graph_io(is_given ? std::vector<int32_t>{a, inner} : std::vector<int32_t>{a}, {sum});
    expect_refused(file.file(), "subgraph 1, which it runs, has a variable");
  }
}

// Whatever the bytes are, the file compiles or is refused.
TEST(TfliteRefusals, OrNothingOfChangedBytes) {
  std::mt19937 random(1);
  const std::string good = dense_file();
  for (int i = 0; i < 400; ++i) {
    std::string file = good;
    for (uint32_t k = 0; k <= random() % 3; ++k)
      file[8 + random() % (file.size() - 8)] = static_cast<char>(random() % 4 == 0 ? random() % 256 : random() % 9);
    refusal_of_file(file);
  }
}

TEST(TfliteRefusals, OfTablesThatNameTheSameBytesAgainAndAgain) {
  FlatOut model, graph;
  graph.vector(1, std::vector<int32_t>(1000, 0)).tables(0, {FlatOut()});
  std::vector<FlatOut> graphs(400);
  graphs[0] = graph;
  std::string file = model.number(0, uint32_t{3}).tables(1, {}).tables(2, graphs).tables(4, {FlatOut()}).file("TFL3");
  // All offsets of the list of subgraphs lead to the first one.
  const auto number = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, &file[at], 4);
    return value;
  };
  for (size_t list = 8; list + 4 * 401 < file.size(); list += 4) {
    if (number(list) != 400) continue;
    const size_t first = list + 4 + number(list + 4);
    for (size_t i = 0; i < 400; ++i) {
      const uint32_t offset = static_cast<uint32_t>(first - (list + 4 + 4 * i));
      std::memcpy(&file[list + 4 + 4 * i], &offset, 4);
    }
    break;
  }
  EXPECT_LT(file.size(), 20000u);
  expect_refused(file, "again and again");
}

}  // namespace
}  // namespace rnnp::testing_support
