// budget_test.cpp -- small files that ask for much: the bytes that are live at once and the elements that are computed stay within
// the model's budget, counted by the allocator of this program and by the budget itself; the refusal names the node.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/budget.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/job/compile_job.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"
#include "temporary_file.h"

namespace {

std::atomic<int64_t> live_bytes{0}, peak_bytes{0}, allocations{0};

void *counted(size_t size) noexcept {
  void *p = std::malloc(size ? size : 1);
  if (!p) return nullptr;
  const int64_t now = live_bytes += static_cast<int64_t>(malloc_usable_size(p));
  for (int64_t peak = peak_bytes; now > peak && !peak_bytes.compare_exchange_weak(peak, now);) {
  }
  ++allocations;
  return p;
}

void *counted_or_throw(size_t size) {
  void *p = counted(size);
  if (!p) throw std::bad_alloc();
  return p;
}

void uncounted(void *p) {
  if (p) live_bytes -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void *operator new(size_t size) {
  return counted_or_throw(size);
}
void *operator new[](size_t size) {
  return counted_or_throw(size);
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return counted(size);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return counted(size);
}
void operator delete(void *p) noexcept {
  uncounted(p);
}
void operator delete[](void *p) noexcept {
  uncounted(p);
}
void operator delete(void *p, const std::nothrow_t &) noexcept {
  uncounted(p);
}
void operator delete[](void *p, const std::nothrow_t &) noexcept {
  uncounted(p);
}
void operator delete(void *p, size_t) noexcept {
  uncounted(p);
}
void operator delete[](void *p, size_t) noexcept {
  uncounted(p);
}

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kMiB = int64_t{1} << 20;
// Two readings at a time, each a budget of doubles and some working space.
constexpr int64_t kMostBytes = 400 * kMiB;

struct Cost {
  std::string refusal;
  int64_t bytes = 0, allocations = 0, elements = 0;
  double operations = 0;
};

Cost cost_of(const onnx::ModelProto &proto) {
  const std::string file = proto.SerializeAsString();
  Cost cost;
  compiler::most_counted(true);
  const int64_t before = live_bytes, made = allocations;
  peak_bytes = before;
  try {
    compiler::compile_model(*compiler::parse_model(file.data(), file.size()), "generic");
  } catch (const std::runtime_error &error) {
    cost.refusal = error.what();
  }
  cost.bytes = peak_bytes - before;
  cost.allocations = allocations - made;
  cost.elements = compiler::most_counted(false).elements;
  cost.operations = compiler::most_counted(true).operations;
  return cost;
}

// Within the budget of a small file; the refusal holds all of `parts`.
void expect_bounded(const OnnxBuilder &b, const std::vector<std::string> &parts) {
  const int64_t file = static_cast<int64_t>(b.proto.ByteSizeLong());
  const Cost cost = cost_of(b.proto);
  const compiler::BudgetLimits limits = compiler::reading_limits(file);
  EXPECT_LE(cost.bytes, kMostBytes + 64 * file);
  EXPECT_LE(cost.elements, limits.elements);
  EXPECT_LE(cost.operations, limits.operations);
  for (const std::string &part : parts) EXPECT_NE(cost.refusal.find(part), std::string::npos) << cost.refusal.substr(0, 500);
}

// x + the constant "big", whose making is what costs.
OnnxBuilder wants_constant() {
  OnnxBuilder b;
  b.input("x", {"N", 1}).output("y").constant_ints("flat", {1}, {-1}).constant_ints("all", {1}, {0});
  return b;
}

void read_constant(OnnxBuilder *b, const std::string &big) {
  b->node("ReduceMax", {big}, {"most"}).with("keepdims", 0);
  b->node("Add", {"x", "most"}, {"y"});
}

TEST(Budget, ChainsThatDoubleAConstant) {
  for (const std::string op : {"Tile", "Concat", "Expand", "Pad"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b = wants_constant();
    b.constant("v0", {1, 1}, {1}).constant_ints("twice", {2}, {1, 2});
    std::string last = "v0";
    for (int i = 1; i <= 40; ++i) {
      const std::string next = "v" + std::to_string(i);
      const int64_t size = int64_t{1} << std::min(i, 30);
      b.constant_ints("shape" + next, {2}, {1, size}).constant_ints("pads" + next, {4}, {0, 0, 0, size / 2});
      if (op == "Tile") b.node(op, {last, "twice"}, {next}, next);
      if (op == "Concat") b.node(op, {last, last}, {next}, next).with("axis", 1);
      if (op == "Expand") b.node(op, {"v0", "shape" + next}, {next}, next);
      if (op == "Pad") b.node(op, {last, "pads" + next}, {next}, next);
      last = next;
    }
    read_constant(&b, last);
    expect_bounded(b, {"node 'v2", "(" + op + ")", "budget", "elements"});
  }
}

TEST(Budget, TheSameLargeConstantAgainAndAgain) {
  OnnxBuilder b = wants_constant();
  b.constant_ints("shape", {1}, {int64_t{1} << 23});
  for (int i = 0; i < 16; ++i) b.node("ConstantOfShape", {"shape"}, {"big" + std::to_string(i)}, "make" + std::to_string(i));
  read_constant(&b, "big15");
  expect_bounded(b, {"'make2' (ConstantOfShape)", "budget of this model"});
}

TEST(Budget, CopiesOfAStoredConstant) {
  OnnxBuilder b = wants_constant();
  b.random("stored", {int64_t{1} << 20});
  for (int i = 0; i < 200; ++i) b.node("Identity", {"stored"}, {"copy" + std::to_string(i)}, "again" + std::to_string(i));
  read_constant(&b, "copy199");
  expect_bounded(b, {"(Identity)", "budget"});
  OnnxBuilder layers;
  layers.input("X", {"T", "N", 4}).weights("", 4, 1, 4, 256);
  for (int i = 0; i < 600; ++i) {
    const std::string y = "y" + std::to_string(i);
    layers.output(y).node("LSTM", {"X", "W", "R", "B"}, {y}, "layer" + std::to_string(i)).with("hidden_size", 256);
  }
  expect_bounded(layers, {"(LSTM)", "budget"});
}

// Counted before it is done: nothing this large is computed here.
TEST(Budget, WorkWithoutMemory) {
  const compiler::Tensor m(compiler::Elem::kFloat, {300, 300});
  // Products by their terms, all others by what they read.
  const std::vector<std::pair<const char *, double>> kinds = {{"MatMul", 2e7}, {"Gemm", 2e7}, {"ReduceMax", 1e5}, {"Neg", 1e5}};
  for (const auto &kind : kinds) {
    const bool product = kind.second > 1e6;
    const compiler::Budget small("evaluating it", {1 << 24, kind.second});
    compiler::OnnxNode node;
    node.set_op_type(kind.first);
    node.add_output("y");
    const std::vector<const compiler::Tensor *> in(product ? 2 : 1, &m);
    int done = 0;
    try {
      for (; done < 3; ++done) compiler::eval_node(node, 17, in);
    } catch (const compiler::Refusal &refusal) {
      EXPECT_NE(std::string(refusal.what()).find("operations"), std::string::npos) << refusal.what();
    }
    EXPECT_EQ(done, product ? 0 : 1) << kind.first;
  }
}

TEST(Budget, SizesThatAreOnlyClaimed) {
  for (const int64_t size : {int64_t{1} << 20, int64_t{1} << 28, int64_t{1} << 40, INT64_MAX}) {
    OnnxBuilder b = wants_constant();
    onnx::TensorProto *claim = b.proto.mutable_graph()->add_initializer();
    claim->set_name("claim");
    claim->set_data_type(onnx::TensorProto::FLOAT);
    claim->add_dims(size);
    claim->set_raw_data("0123456789abcdef");
    read_constant(&b, "claim");
    const Cost cost = cost_of(b.proto);
    EXPECT_NE(cost.refusal.find("'claim'"), std::string::npos) << cost.refusal;
    EXPECT_LE(cost.bytes, 4 * kMiB);
  }
  OnnxBuilder wide;
  wide.input("x", {"T", "N", int64_t{1} << 30}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_LE(cost_of(wide.proto).bytes, 4 * kMiB);
  // A length that goes past the end of the file.
  std::string file = wants_constant().proto.SerializeAsString() + std::string("\x3a\xff\xff\xff\xff\x07", 6);
  const int64_t before = live_bytes;
  peak_bytes = before;
  EXPECT_THROW(compiler::parse_model(file.data(), file.size()), compiler::ModelError);
  EXPECT_LE(peak_bytes - before, 4 * kMiB);
}

TEST(Budget, ManyAxes) {
  OnnxBuilder b;
  b.input("x", {"N", 1}).output("y").constant_ints("shape", {5000}, Ints(5000, 1));
  b.node("Reshape", {"x", "shape"}, {"v0"}, "unfold");
  for (int i = 1; i < 500; ++i) b.node("Relu", {"v" + std::to_string(i - 1)}, {"v" + std::to_string(i)});
  b.node("Relu", {"v499"}, {"y"});
  expect_bounded(b, {"'unfold' (Reshape)", "accepted: up to 64"});
  EXPECT_LE(cost_of(b.proto).bytes, 16 * kMiB);
  OnnxBuilder tiles;  // each repeat is a part of the axis
  tiles.input("x", {"N", 1}).output("y").constant_ints("twice", {2}, {1, 2});
  for (int i = 1; i < 2000; ++i)
    tiles.node("Tile", {i == 1 ? "x" : "v" + std::to_string(i - 1), "twice"}, {"v" + std::to_string(i)});
  tiles.node("ReduceMax", {"v1999"}, {"y"}).with("keepdims", 1);
  EXPECT_LE(cost_of(tiles.proto).bytes, 64 * kMiB);
}

TEST(Budget, BranchesInBranches) {
  OnnxBuilder relu;
  relu.output("z0").node("Relu", {"x"}, {"z0"});
  const onnx::GraphProto leaf = relu.proto.graph();
  onnx::GraphProto inner = leaf;
  for (int depth = 1; depth < 12; ++depth) {
    OnnxBuilder level;
    const std::string out = "z" + std::to_string(depth);
    level.output(out).node("If", {"yes"}, {out}).with("then_branch", inner).with("else_branch", leaf);
    inner = level.proto.graph();
  }
  OnnxBuilder b;
  b.input("x", {"N", 4}).output("y").constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL);
  b.node("If", {"yes"}, {"y"}).with("then_branch", inner).with("else_branch", leaf);
  const Cost cost = cost_of(b.proto);
  EXPECT_LE(cost.bytes, 64 * kMiB + 200 * static_cast<int64_t>(b.proto.ByteSizeLong()));
}

// Twice the nodes, not more than about twice the allocations and bytes.
TEST(Budget, GrowsWithTheFileAlone) {
  const auto model = [](const std::string &kind, int nodes) {
    OnnxBuilder b;
    b.input("x", {"N", 8}).output("y").constant("c", {8}, {1, 2, 3, 4, 5, 6, 7, 8});
    std::string last = "x";
    for (int i = 0; i < nodes; ++i) {
      const std::string next = i + 1 == nodes ? "y" : "v" + std::to_string(i);
      if (kind == "unary") b.node("Tanh", {last}, {next});
      if (kind == "binary") b.node("Max", {last, "c"}, {next});
      if (kind == "unknown") b.node("Nosuch" + std::to_string(i), {"x"}, {next});
      if (kind == "constants" && i + 1 < nodes) b.node("Neg", {i == 0 ? "c" : last}, {next});
      if (kind == "constants" && i + 1 == nodes) b.node("Add", {"x", last}, {next});
      last = next;
    }
    return b;
  };
  for (const std::string kind : {"unary", "binary", "unknown", "constants"}) {
    SCOPED_TRACE(kind);
    const Cost once = cost_of(model(kind, 500).proto), twice = cost_of(model(kind, 1000).proto);
    EXPECT_LE(twice.allocations, once.allocations * 5 / 2);
    EXPECT_LE(twice.bytes, once.bytes * 5 / 2);
    EXPECT_LE(twice.elements, once.elements * 5 / 2 + 16);
  }
}

// Of a whole compile with its check: the file, its numbers as it has them, the blob; never a copy more. Half-sized numbers are made
// floats, so that what counts is the blob.
void expect_small(const std::string &path, int64_t file) {
  compiler::CompileArguments how;
  how.model = path;
  std::string notes;
  const int64_t before = live_bytes;
  peak_bytes = before;
  const compiler::CompileResult made =
      compiler::run_compile(how, nullptr, 0, {[&](compiler::MessageKind, const std::string &text) { notes += text; }});
  EXPECT_EQ(notes.find("not checked"), std::string::npos) << notes;
  const int64_t blob = static_cast<int64_t>(made.files.back().bytes.size());
  const double ratio = static_cast<double>(peak_bytes - before) / static_cast<double>(file);
  testing::Test::RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(peak_bytes - before, 3 * std::max(file, blob) + 3 * kMiB) << "of " << file << " bytes, the blob has " << blob;
}

void expect_small(const OnnxBuilder &b) {
  const std::string bytes = b.proto.SerializeAsString();
  const TemporaryFile file("weights.onnx", {bytes.begin(), bytes.end()});
  expect_small(file.path(), static_cast<int64_t>(bytes.size()));
}

TEST(Budget, CompilesWithinThreeTimesTheFile) {
  constexpr int64_t kInputs = 256, kHidden = 768;
  for (const std::string op : {"LSTM", "GRU", "RNN"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"T", "N", kInputs}).output("Y").weights("", op == "LSTM" ? 4 : op == "GRU" ? 3 : 1, 1, kInputs, kHidden);
    b.node(op, {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
    expect_small(b);
  }
  for (const std::string op : {"MatMul", "Gemm", "Einsum"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"N", 1024}).output("Y").random("W", {1024, 2048});
    auto node = b.node(op, {"X", "W"}, {"Y"});
    if (op == "Einsum") node.with("equation", "ni,io->no");
    expect_small(b);
  }
  OnnxBuilder b;
  b.input("X", {"N", 256, "T"}).output("Y").random("W", {1024, 256, 7}).node("Conv", {"X", "W"}, {"Y"}).with("pads", Ints{3, 3});
  expect_small(b);
}

TEST(Budget, CompilesAModelOfOthersWithinThreeTimesItsFile) {
  const char *folder = std::getenv("RNNPACK_MODELS_DIR");
  if (folder == nullptr) GTEST_SKIP() << "RNNPACK_MODELS_DIR is not set";
  const std::string path = std::string(folder) + "/nsnet2/nsnet2_rebuilt.onnx";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  ASSERT_TRUE(file) << path;
  expect_small(path, static_cast<int64_t>(file.tellg()));
}

TEST(Budget, IsUsedUpForGood) {
  const compiler::Budget budget("counting", {100, 10});
  compiler::Budget::charge_elements(60);
  EXPECT_THROW(compiler::Budget::charge_elements(41), compiler::Refusal);
  compiler::Budget::charge_elements(40);
  EXPECT_THROW(compiler::Tensor(compiler::Elem::kFloat, {1}), compiler::Refusal);
  EXPECT_TRUE(compiler::Budget::afford_operations(10));
  EXPECT_FALSE(compiler::Budget::afford_operations(1));
  EXPECT_THROW(compiler::Budget::charge_operations(1), compiler::Refusal);
  {
    const compiler::Budget inner("counting apart", {5, 5});
    EXPECT_NO_THROW(compiler::Tensor(compiler::Elem::kFloat, {5}));
  }
  EXPECT_EQ(budget.elements(), 100);
}

}  // namespace
}  // namespace rnnp::testing_support
