// random_moves.cpp -- the moves of random_graph.h: one function per family of operators. Those of layers are in
// random_layers.cpp, those of shapes in random_shapes.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

// |x| + 0.5: where a function has a pole at 0.
RandomValue positive(RandomGraph &g, const RandomValue &x) {
  const RandomValue absolute = g.result(x, x.dims, x.most), out = g.result(x, x.dims, x.most + 0.5);
  g.node("Abs", {x.name}, absolute);
  g.node("Add", {absolute.name, g.numbers({}, 0.5, 0.75)}, out);
  return out;
}

bool unary(RandomGraph &g, const std::string &op) {
  static const std::set<std::string> kJump = {"Floor", "Ceil", "Round", "Sign", "ThresholdedRelu"};
  static const std::set<std::string> kPositive = {"Log", "Sqrt", "Reciprocal"};
  static const std::set<std::string> kBounded = {"Tanh", "Sigmoid", "HardSigmoid", "Softsign", "Erf", "Sin", "Cos", "Sign"};
  RandomValue x;
  if (kJump.count(op)) {
    if (!g.find(is_spread, &x)) return false;
  } else {
    x = g.any();
  }
  if (op == "Exp" && x.most > 3) return false;
  if (kPositive.count(op)) x = positive(g, x);
  const double most = op == "Exp" ? 21 : kBounded.count(op) ? 1 : op == "Reciprocal" ? 2 : x.most + 1;
  const RandomValue y = g.result(x, x.dims, op == "Selu" ? 2 * most : most, op == "Neg" && x.spread);
  NodeBuilder node = g.node(op, {x.name}, y);
  if (op == "LeakyRelu" || op == "Elu" || op == "Celu") node.with("alpha", 0.1 + 0.1 * static_cast<double>(g.below(9)));
  if (op == "Gelu" && g.coin()) node.with("approximate", "tanh");
  g.keep(y);
  return true;
}

bool clip(RandomGraph &g, const std::string &op) {
  const RandomValue x = g.any(), y = g.result(x, x.dims, std::min(x.most, 2.0));
  g.node(op, {x.name, g.coin() ? g.numbers({}, -1, 0) : "", g.coin() ? g.numbers({}, 1, 2) : ""}, y);
  g.keep(y);
  return true;
}

bool same_value(RandomGraph &g, const std::string &op) {
  const RandomValue x = g.any(), y = g.result(x, x.dims, x.most, x.spread);
  NodeBuilder node = g.node(op, {x.name}, y);
  if (op == "Cast") node.with("to", static_cast<int>(onnx::TensorProto::FLOAT));
  g.keep(y);
  return true;
}

// A shape that broadcasts to the value along trailing axes.
std::vector<int64_t> fitting_shape(RandomGraph &g, const RandomValue &x) {
  std::vector<int64_t> shape;
  const size_t rank = static_cast<size_t>(g.below(static_cast<int64_t>(x.dims.size()) + 1));
  for (size_t i = x.dims.size() - rank; i < x.dims.size(); ++i) {
    shape.push_back(x.dims[i].role == Role::kFeature && g.coin() ? x.dims[i].size : 1);
  }
  return shape;
}

bool with_constant(RandomGraph &g, const std::string &op) {
  const RandomValue x = g.any();
  const bool flip = g.coin() && op != "Pow" && op != "PRelu";
  const double most = op == "Mul" ? 2 * x.most : op == "Div" ? (flip ? 4 : 2 * x.most) : op == "Pow" ? x.most * x.most : x.most + 2;
  if (most > 1000) return false;
  if (op == "Pow") {
    const RandomValue y = g.result(x, x.dims, most);
    g.node(op, {x.name, g.numbers({}, 2, 2)}, y);
    g.keep(g.squashed(y));
    return true;
  }
  const RandomValue a = op == "Div" && flip ? positive(g, x) : x;
  const std::string c = op == "Div" ? g.numbers(fitting_shape(g, x), 0.5, 2) : g.numbers(fitting_shape(g, x), -2, 2);
  const RandomValue y = g.result(x, x.dims, most, x.spread && op != "Min" && op != "Max" && op != "PRelu" && op != "Mul");
  if (flip)
    g.node(op, {c, a.name}, y);
  else
    g.node(op, {a.name, c}, y);
  g.keep(g.squashed(y));
  return true;
}

// The axes of two values side by side; empty when they do not broadcast.
std::vector<RandomDim> joined(const RandomValue &a, const RandomValue &b) {
  const RandomValue &longer = a.dims.size() >= b.dims.size() ? a : b, &other = a.dims.size() >= b.dims.size() ? b : a;
  std::vector<RandomDim> dims = longer.dims;
  const size_t skip = longer.dims.size() - other.dims.size();
  for (size_t i = 0; i < other.dims.size(); ++i) {
    RandomDim &dim = dims[skip + i];
    if (dim == other.dims[i] || other.dims[i] == feature(1)) continue;
    if (!(dim == feature(1))) return {};
    dim = other.dims[i];
  }
  // One time and one batch axis at most.
  for (Role role : {Role::kTime, Role::kBatch}) {
    if (std::count_if(dims.begin(), dims.end(), [&](const RandomDim &d) { return d.role == role; }) > 1) return {};
  }
  return dims;
}

bool with_value(RandomGraph &g, const std::string &op) {
  const RandomValue a = g.any();
  RandomValue b;
  if (!g.find([&](const RandomValue &v) { return !joined(a, v).empty(); }, &b)) return false;
  const std::vector<RandomDim> dims = joined(a, b);
  const double most = op == "Mul" ? a.most * b.most : op == "Div" ? 2 * a.most : a.most + b.most;
  const RandomValue y = g.result(a, dims, most);
  if (y.features() > kMostFeatures || most > 1000) return false;
  if (op == "Div") b = positive(g, b);
  g.node(op, {a.name, b.name}, y);
  g.keep(g.squashed(y));
  return true;
}

bool softmax(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const RandomValue y = g.result(x, x.dims, op == "Softmax" ? 1 : 2 * x.most + 5);
  g.node(op, {x.name}, y).with("axis", written(g, x, axis));
  g.keep(g.squashed(y));
  return true;
}

bool reduce(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  std::vector<bool> gone(x.dims.size(), false);
  std::vector<int64_t> axes;
  double count = 1;
  const auto take = [&](size_t axis) {
    if (gone[axis]) return;
    gone[axis] = true;
    axes.push_back(written(g, x, axis));
    if (x.dims[axis].role == Role::kFeature) count *= static_cast<double>(x.dims[axis].size);
  };
  take(g.one_of(RandomGraph::axes(x, Role::kFeature)));
  if (g.coin()) take(g.one_of(RandomGraph::axes(x, Role::kFeature)));
  if (g.below(4) == 0 && has_time(x)) take(RandomGraph::axes(x, Role::kTime)[0]);
  if (op == "ReduceProd" && std::pow(x.most, count) > 100) return false;
  if (op == "ReduceLogSum") x = positive(g, x);
  const bool keep = g.coin();
  std::vector<RandomDim> dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (!gone[i]) dims.push_back(x.dims[i]);
    if (gone[i] && keep) dims.push_back(feature(1));
  }
  if (dims.empty()) return false;
  const bool square = op == "ReduceSumSquare", average = op == "ReduceMean" || op == "ReduceMax" || op == "ReduceMin";
  const double most = square ? x.most * x.most * count * 7 : average ? x.most : op == "ReduceProd" ? 100 : x.most * count * 7;
  if (most > 1000) return false;
  const RandomValue y = g.result(x, dims, most);
  if (g.opset >= (op == "ReduceSum" ? 13 : 18))
    g.node(op, {x.name, g.ints(axes)}, y).with("keepdims", keep ? 1 : 0);
  else
    g.node(op, {x.name}, y).with("keepdims", keep ? 1 : 0).with("axes", axes);
  g.keep(g.squashed(y));
  return true;
}

bool layer_norm(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return v.dims.back().role == Role::kFeature; }, &x)) return false;
  size_t axis = x.dims.size() - 1;
  while (axis > 0 && x.dims[axis - 1].role == Role::kFeature && g.coin()) --axis;
  std::vector<int64_t> shape;
  for (size_t i = axis; i < x.dims.size(); ++i) shape.push_back(x.dims[i].size);
  const RandomValue y = g.result(x, x.dims, 8);
  std::vector<RandomDim> outer = x.dims;
  for (size_t i = axis; i < outer.size(); ++i) outer[i].size = 1;
  const RandomValue mean = g.result(x, outer, x.most);
  const bool moments = g.below(4) == 0;
  g.b.node(op, {x.name, g.numbers(shape, 0.5, 1.5), g.coin() ? g.weights(shape, 0.3) : ""},
           moments ? std::vector<std::string>{y.name, mean.name} : std::vector<std::string>{y.name})
      .with("axis", written(g, x, axis))
      .with("epsilon", 0.1);
  g.keep(y);
  if (moments) g.keep(mean);
  return true;
}

bool cum_sum(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis =
      g.below(6) == 0 && has_time(x) ? RandomGraph::axes(x, Role::kTime)[0] : g.one_of(RandomGraph::axes(x, Role::kFeature));
  const RandomValue y = g.result(x, x.dims, 8 * x.most);
  if (y.most > 1000) return false;
  const std::string at = g.fresh();
  g.b.constant_ints(at, {}, {written(g, x, axis)});
  g.node(op, {x.name, at}, y).with("exclusive", g.coin() ? 1 : 0).with("reverse", g.below(4) == 0 ? 1 : 0);
  g.keep(g.squashed(y));
  return true;
}

// A truth value of the shape of a spread value.
RandomValue condition(RandomGraph &g, const RandomValue &x) {
  static const std::vector<std::string> kOld = {"Greater", "Less"},
                                        kAll = {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
  const RandomValue out = g.result(x, x.dims, 1);
  const std::string c = g.numbers(fitting_shape(g, x), -0.7, 0.7);
  if (g.coin())
    g.node(g.one_of(g.opset >= 12 ? kAll : kOld), {x.name, c}, out);
  else
    g.node(g.one_of(g.opset >= 12 ? kAll : kOld), {c, x.name}, out);
  return out;
}

RandomValue truth_of(RandomGraph &g, const RandomValue &x) {
  RandomValue truth = condition(g, x);
  if (g.coin()) {
    const RandomValue second = condition(g, x), both = g.result(truth, x.dims, 1);
    g.node(g.one_of(std::vector<std::string>{"And", "Or", "Xor"}), {truth.name, second.name}, both);
    truth = both;
  }
  if (g.coin()) {
    const RandomValue transposed = g.result(truth, x.dims, 1);
    g.node("Not", {truth.name}, transposed);
    truth = transposed;
  }
  return truth;
}

bool where(RandomGraph &g, const std::string &op) {
  RandomValue x, other;
  if (!g.find(is_spread, &x)) return false;
  const RandomValue truth = truth_of(g, x);
  g.find([&](const RandomValue &v) { return !joined(x, v).empty(); }, &other);
  const RandomValue y = g.result(x, joined(x, other), std::max(2.0, other.most));
  if (y.features() > kMostFeatures) return false;
  const std::string c = g.numbers(fitting_shape(g, x), -1, 1);
  if (g.coin())
    g.node(op, {truth.name, other.name, c}, y);
  else
    g.node(op, {truth.name, c, other.name}, y);
  g.keep(y);
  return true;
}

// A truth value as 0 and 1.
bool truth_as_number(RandomGraph &g, const std::string &) {
  RandomValue x;
  if (!g.find(is_spread, &x)) return false;
  const RandomValue truth = truth_of(g, x), y = g.result(x, x.dims, 1);
  g.node("Cast", {truth.name}, y).with("to", static_cast<int>(onnx::TensorProto::FLOAT));
  g.keep(y);
  return true;
}

}  // namespace

std::vector<RandomMove> random_moves() {
  std::vector<RandomMove> moves = layer_moves();
  for (const RandomMove &move : shape_moves()) moves.push_back(move);
  const auto add = [&](bool (*grow)(RandomGraph &, const std::string &), const std::vector<const char *> &ops, int64_t since = 7) {
    for (const char *op : ops) moves.push_back({op, since, grow});
  };
  add(unary,
      {"Relu", "Tanh", "Sigmoid", "LeakyRelu",  "ThresholdedRelu", "HardSigmoid", "Elu", "Softsign", "Softplus", "Exp", "Log",
       "Sqrt", "Abs",  "Neg",     "Reciprocal", "Floor",           "Ceil",        "Erf", "Sign",     "Sin",      "Cos", "Selu"});
  add(unary, {"Round"}, 11);
  add(unary, {"Celu"}, 12);
  add(unary, {"HardSwish"}, 14);
  add(unary, {"Mish"}, 18);
  add(unary, {"Gelu"}, 20);
  add(clip, {"Clip"}, 11);
  add(same_value, {"Identity", "Cast", "Dropout"});
  add(with_constant, {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "PRelu"});
  add(with_value, {"Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean"});
  add(softmax, {"Softmax", "LogSoftmax"}, 13);
  add(reduce, {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSum", "ReduceLogSumExp"});
  add(layer_norm, {"LayerNormalization"}, 17);
  add(cum_sum, {"CumSum"}, 11);
  add(where, {"Where", "Where"});
  add(truth_as_number, {"Where"});
  return moves;
}

}  // namespace rnnp::testing_support
