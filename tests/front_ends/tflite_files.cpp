// tflite_files.cpp -- Contract: tflite_files.h. SPDX-License-Identifier: Apache-2.0
#include "tflite_files.h"

#include <cmath>
#include <random>

namespace rnnp::testing_support {

using Code = TfliteCode;

namespace {

Floats random_floats(size_t count, float deviation, uint32_t seed) {
  std::mt19937 random(seed);
  Floats out(count);
  for (float &v : out) v = deviation * (static_cast<float>(random() % 20001) / 10000.0f - 1.0f);
  return out;
}

}  // namespace

FlatOut activation(int field, int which) {
  return FlatOut().number(field, static_cast<int8_t>(which));
}

LstmWeights lstm_weights(uint32_t seed) {
  LstmWeights out;
  for (size_t g = 0; g < 4; ++g) {
    out.w[g] = random_floats(kUnits * kInputs, 0.7f, seed + 10 * static_cast<uint32_t>(g));
    out.r[g] = random_floats(kUnits * kUnits, 0.7f, seed + 1 + 10 * static_cast<uint32_t>(g));
    out.b[g] = random_floats(kUnits, 0.5f, seed + 2 + 10 * static_cast<uint32_t>(g));
    if (g < 3) out.p[g] = random_floats(kUnits, 0.5f, seed + 3 + 10 * static_cast<uint32_t>(g));
  }
  return out;
}

std::vector<int32_t> lstm_operands(TfliteWriter *file, const LstmWeights &w, bool peepholes, bool coupled) {
  std::vector<int32_t> out;
  for (int g = 0; g < 4; ++g) out.push_back(coupled && g == 0 ? -1 : file->floats({kUnits, kInputs}, w.w[g]));
  for (int g = 0; g < 4; ++g) out.push_back(coupled && g == 0 ? -1 : file->floats({kUnits, kUnits}, w.r[g]));
  for (int g = 0; g < 3; ++g) out.push_back(!peepholes || (coupled && g == 0) ? -1 : file->floats({kUnits}, w.p[g]));
  for (int g = 0; g < 4; ++g) out.push_back(coupled && g == 0 ? -1 : file->floats({kUnits}, w.b[g]));
  return out;
}

std::string lstm_file(const LstmWeights &w, bool peepholes, bool coupled, const FlatOut &options, int left_out) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, kSteps, kInputs}), y = file.tensor("output", {1, kSteps, kUnits});
  std::vector<int32_t> operands = {x};
  for (const int32_t i : lstm_operands(&file, w, peepholes, coupled)) operands.push_back(i);
  operands.insert(operands.end(), {-1, -1, file.tensor("h", {1, kUnits}), file.tensor("c", {1, kUnits})});
  if (left_out >= 0) operands[static_cast<size_t>(left_out)] = -1;
  file.op(Code::kLstm, operands, {y}, options);
  file.graph_io({x}, {y});
  return file.file();
}

namespace {

Ints as_ints(const Floats &values, float scale) {
  Ints out;
  for (const float v : values) out.push_back(static_cast<int>(std::lround(v / scale)));
  return out;
}

// The body's tensors are those that a converter writes: list pieces before, at and behind the step.
void gru_body(TfliteWriter *file, const GruWeights &weights, const GruLoop &how) {
  file->begin_graph();
  const int rows = how.keeps_last ? 1 : kSteps;
  const int i = file->tensor("i", {}, TfliteType::kInt32), t = file->tensor("t", {}, TfliteType::kInt32),
            list = file->tensor("list", {rows, 1, kUnits}), h = file->tensor("h", {1, kUnits}),
            x = file->tensor("x", {kSteps, 1, kInputs});
  std::vector<int32_t> inputs = {i, t, list, h, x};
  const auto matrix = [&](int columns, const Floats &values) {
    const std::vector<int32_t> shape = {3 * kUnits, columns};
    if (how.type == TfliteType::kInt8) return file->int8s(shape, as_ints(values, how.scale), {{how.scale}});
    if (how.type == TfliteType::kFloat32) return file->floats(shape, values);
    inputs.push_back(file->tensor("matrix", shape));
    return inputs.back();
  };
  const int one = file->ints({1}, true), ni = file->tensor("ni", {}, TfliteType::kInt32),
            nt = file->tensor("nt", {}, TfliteType::kInt32);
  file->op(Code::kAdd, {i, one}, {ni});
  file->op(Code::kAdd, {t, one}, {nt});
  const int xt = file->tensor("xt", {1, kInputs}), a = file->tensor("a", {1, 3 * kUnits}), b = file->tensor("b", {1, 3 * kUnits});
  file->op(Code::kGather, {x, t}, {xt});
  file->op(Code::kFullyConnected, {xt, matrix(kInputs, weights.w), file->floats({3 * kUnits}, weights.bw)}, {a});
  file->op(Code::kFullyConnected, {h, matrix(kUnits, weights.r), file->floats({3 * kUnits}, weights.br)}, {b});
  const auto value = [&](const char *name) { return file->tensor(name, {1, kUnits}); };
  const int az = value("az"), ar = value("ar"), ah = value("ah"), bz = value("bz"), br = value("br"), bh = value("bh");
  file->op(Code::kSplit, {one, a}, {az, ar, ah}, FlatOut().number(0, int32_t{3}));
  file->op(Code::kSplit, {one, b}, {bz, br, bh}, FlatOut().number(0, int32_t{3}));
  const int zs = value("zs"), z = value("z"), rs = value("rs"), r = value("r"), rh = value("rh"), hs = value("hs"),
            hh = value("hh"), kept = value("kept"), less = value("less"), added = value("added"), next = value("next");
  file->op(Code::kAdd, {az, bz}, {zs});
  file->op(Code::kLogistic, {zs}, {z});
  file->op(Code::kAdd, {ar, br}, {rs});
  file->op(Code::kLogistic, {rs}, {r});
  file->op(Code::kMul, {r, bh}, {rh});
  file->op(Code::kAdd, {ah, rh}, {hs});
  file->op(Code::kTanh, {hs}, {hh});
  file->op(Code::kMul, {z, h}, {kept});
  file->op(Code::kSub, {file->floats({}, {1}), z}, {less});
  file->op(Code::kMul, {less, hh}, {added});
  file->op(Code::kAdd, {kept, added}, {next});
  const auto shaped = [&](int at) {
    const int out = file->tensor("index", {1}, TfliteType::kInt32);
    file->op(Code::kReshape, {at, file->ints({1})}, {out});
    return out;
  };
  const int size = file->tensor("size", {3}, TfliteType::kInt32), begin = file->tensor("begin", {3}, TfliteType::kInt32),
            before = file->tensor("before", {1, 1, kUnits}), behind = file->tensor("behind", {1, 1, kUnits}),
            row = file->tensor("row", {1, 1, kUnits}), made = file->tensor("made", {kSteps, 1, kUnits});
  file->op(Code::kReshape, {next, file->ints({1, 1, kUnits})}, {row});
  std::vector<int32_t> outputs = {ni, nt, row, next, x};
  if (!how.keeps_last) {
    file->op(Code::kConcatenation, {shaped(t), file->ints({-1, -1})}, {size});
    file->op(Code::kSlice, {list, file->ints({0, 0, 0}), size}, {before});
    file->op(Code::kConcatenation, {shaped(nt), file->ints({0, 0})}, {begin});
    file->op(Code::kSlice, {list, begin, file->ints({-1, -1, -1})}, {behind});
    file->op(Code::kConcatenation, {before, row, behind}, {made});
    outputs[2] = made;
  }
  outputs.insert(outputs.end(), inputs.begin() + 5, inputs.end());
  file->graph_io(inputs, outputs);
}

}  // namespace

std::string gru_loop(const GruWeights &weights, const GruLoop &how) {
  TfliteWriter file;
  const int rows = how.keeps_last ? 1 : kSteps;
  const int x = how.of_features ? file.tensor("input", {1, kSteps * kInputs}) : file.tensor("input", {1, kSteps, kInputs}),
            y = how.keeps_last ? file.tensor("output", {1, kUnits}) : file.tensor("output", {1, kSteps, kUnits}),
            xs = file.tensor("xs", {kSteps, 1, kInputs});
  file.op(Code::kReshape, {x, file.ints({kSteps, 1, kInputs})}, {xs});
  const int zero = file.ints({0}, true), list = file.floats({rows, 1, kUnits}, Floats(static_cast<size_t>(rows * kUnits))),
            h = file.floats({1, kUnits}, Floats(kUnits));
  std::vector<int32_t> operands = {zero, zero, list, h, xs}, results;
  std::vector<std::vector<int32_t>> shapes = {{}, {}, {rows, 1, kUnits}, {1, kUnits}, {kSteps, 1, kInputs}};
  for (const auto &matrix : {std::pair{kInputs, &weights.w}, std::pair{kUnits, &weights.r}}) {
    if (how.type != TfliteType::kFloat16) break;
    shapes.push_back({3 * kUnits, matrix.first});
    operands.push_back(file.tensor("matrix", shapes.back()));
    file.op(Code::kDequantize, {file.halves(shapes.back(), *matrix.second)}, {operands.back()});
  }
  for (const std::vector<int32_t> &shape : shapes) results.push_back(file.tensor("r", shape));
  file.op(Code::kWhile, operands, results, FlatOut().number(0, int32_t{1}).number(1, int32_t{2}));
  file.op(Code::kReshape, {results[2], how.keeps_last ? file.ints({1, kUnits}) : file.ints({1, kSteps, kUnits})}, {y});
  file.graph_io({x}, {y});
  file.begin_graph();
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(file.tensor("c", i < 2 ? std::vector<int32_t>() : std::vector<int32_t>{1},
                                 i < 2 ? TfliteType::kInt32 : TfliteType::kFloat32));
  const int less = file.tensor("less", {}, TfliteType::kBool);
  file.op(Code::kLess, {inputs[1], file.ints({how.trips}, true)}, {less});
  file.graph_io(inputs, {less});
  gru_body(&file, weights, how);
  return file.file();
}

Ints random_ints(size_t count, int most, uint32_t seed) {
  std::mt19937 random(seed);
  Ints out(count);
  for (int &v : out) v = static_cast<int>(random() % static_cast<uint32_t>(2 * most + 1)) - most;
  return out;
}

namespace {

FlatOut named(const char *name) {
  return FlatOut().text(0, "").text(1, name);
}

}  // namespace

std::string Int8Network::file() const {
  TfliteWriter file;
  const TfliteGrid in_grid = {{kInScale}, {kInZero}}, conv_grid = {{kConvScale}, {kConvZero}},
                   depthwise_grid = {{kDepthwiseScale}, {kDepthwiseZero}}, dense_grid = {{kDenseScale}, {kDenseZero}};
  const auto value = [&](const char *name, const std::vector<int32_t> &shape, const TfliteGrid &grid) {
    return file.tensor(name, shape, TfliteType::kInt8, grid);
  };
  const int x = value("input", {1, 1, 1, kDepth}, in_grid), before = value("before", {1, kTaps - 1, 1, kDepth}, in_grid),
            all = value("all", {1, kTaps, 1, kDepth}, in_grid), next = value("next", {1, kTaps - 1, 1, kDepth}, in_grid),
            a = value("a", {1, 1, 1, kChannels}, conv_grid), b = value("b", {1, 1, 1, kChannels}, depthwise_grid),
            y = value("output", {1, kResults}, dense_grid), p = value("probability", {1, kResults}, {{1.0f / 256}, {-128}}),
            handle = file.tensor("handle", {}, TfliteType::kResource);
  file.op(Code::kCallOnce, {}, {}, FlatOut().number(0, int32_t{1}));
  file.op(Code::kVarHandle, {}, {handle}, named("memory"));
  file.op(Code::kReadVariable, {handle}, {before});
  file.op(Code::kConcatenation, {before, x}, {all}, FlatOut().number(0, int32_t{1}));
  file.op(Code::kStridedSlice, {all, file.ints({0, 1, 0, 0}), file.ints({0, 0, 0, 0}), file.ints({1, 1, 1, 1})}, {next},
          FlatOut().number(0, int32_t{13}).number(1, int32_t{15}));
  file.op(Code::kAssignVariable, {handle, next}, {});
  file.op(Code::kConv,
          {all, file.int8s({kChannels, kTaps, 1, kDepth}, conv, {conv_scales, {}, 0}),
           file.int32s(conv_bias, bias_grid(kInScale, conv_scales))},
          {a}, FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}).number(3, int8_t{1}));
  file.op(Code::kDepthwiseConv,
          {a, file.int8s({1, 1, 1, kChannels}, depthwise, {depthwise_scales, {}, 3}),
           file.int32s(depthwise_bias, bias_grid(kConvScale, depthwise_scales))},
          {b}, FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}).number(3, int32_t{1}));
  file.op(Code::kFullyConnected,
          {b, file.int8s({kResults, kChannels}, dense, {dense_scales}),
           file.int32s(dense_bias, bias_grid(kDepthwiseScale, dense_scales))},
          {y});
  file.op(Code::kLogistic, {y}, {p});
  file.graph_io({x}, {y, p});
  file.begin_graph();
  const int other = file.tensor("handle", {}, TfliteType::kResource);
  file.op(Code::kVarHandle, {}, {other}, named("memory"));
  file.op(Code::kAssignVariable, {other, file.int8s({1, kTaps - 1, 1, kDepth}, start, in_grid)}, {});
  file.graph_io({}, {});
  return file.file();
}

}  // namespace rnnp::testing_support
