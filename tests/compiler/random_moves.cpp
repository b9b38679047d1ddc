// random_moves.cpp -- the moves of random_graph.h: one function per family of operators.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

constexpr int64_t kMostFeatures = 96;

RandomDim feature(int64_t size) {
  return {Role::kFeature, size};
}

bool has_features(const RandomValue &value) {
  return !RandomGraph::axes(value, Role::kFeature).empty();
}
bool is_spread(const RandomValue &value) {
  return value.spread;
}
bool has_time(const RandomValue &value) {
  return !RandomGraph::axes(value, Role::kTime).empty();
}
bool has_batch(const RandomValue &value) {
  return !RandomGraph::axes(value, Role::kBatch).empty();
}

bool any_with_features(RandomGraph &g, RandomValue *out) {
  return g.find(has_features, out);
}

// As it is written in ONNX: a negative axis half of the time.
int64_t written(RandomGraph &g, const RandomValue &x, size_t axis) {
  return static_cast<int64_t>(axis) - (g.coin() ? static_cast<int64_t>(x.dims.size()) : 0);
}

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

bool transpose(RandomGraph &g, const std::string &) {
  const RandomValue x = g.any();
  std::vector<size_t> order(x.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[static_cast<size_t>(g.below(static_cast<int64_t>(i)))]);
  g.keep(g.transposed(x, order));
  return true;
}

// Features in other axes; time and batch stay in front.
bool reshape(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto in_order = [](const RandomValue &v) {
    const auto roles = RandomGraph::axes(v, Role::kFeature);
    return !roles.empty() && roles[0] + roles.size() == v.dims.size();
  };
  if (!g.find(in_order, &x)) return false;
  const size_t lead = RandomGraph::axes(x, Role::kFeature)[0];
  std::vector<RandomDim> dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(lead));
  std::vector<int64_t> shape(lead, 0);
  int64_t rest = x.features();
  for (int64_t factor : {2, 3, 5}) {
    if (rest % factor != 0 || g.coin()) continue;
    shape.push_back(factor);
    dims.push_back(feature(factor));
    rest /= factor;
  }
  shape.push_back(g.coin() ? -1 : rest);
  dims.push_back(feature(rest));
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  g.node(op, {x.name, g.ints(shape)}, y);
  g.keep(y);
  return true;
}

bool unsqueeze(RandomGraph &g, const std::string &op) {
  const RandomValue x = g.any();
  if (x.dims.size() > 4) return false;
  const int64_t at = g.below(static_cast<int64_t>(x.dims.size()) + 1);
  std::vector<RandomDim> dims = x.dims;
  dims.insert(dims.begin() + at, feature(1));
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  if (g.opset >= 13)
    g.node(op, {x.name, g.ints({at})}, y);
  else
    g.node(op, {x.name}, y).with("axes", std::vector<int64_t>{at});
  g.keep(y);
  return true;
}

bool squeeze(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto one = [](const RandomValue &v) {
    return std::count(v.dims.begin(), v.dims.end(), feature(1)) != 0 && v.dims.size() > 1;
  };
  if (!g.find(one, &x)) return false;
  std::vector<RandomDim> dims = x.dims;
  const auto at = std::find(dims.begin(), dims.end(), feature(1));
  const int64_t axis = at - dims.begin();
  dims.erase(at);
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  if (g.opset >= 13)
    g.node(op, {x.name, g.ints({axis})}, y);
  else
    g.node(op, {x.name}, y).with("axes", std::vector<int64_t>{axis});
  g.keep(y);
  return true;
}

bool slice(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const int64_t size = x.dims[axis].size, step = 1 + g.below(2), first = g.below(size),
                count = 1 + g.below((size - first - 1) / step + 1);
  const bool backwards = g.coin();
  const int64_t last = first + (count - 1) * step;
  const int64_t end = backwards ? (first == 0 ? -size - 1 : first - 1) : std::min(last + 1, size);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size = count;
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  g.node(op,
         {x.name, g.ints({backwards ? last : first}), g.ints({end}), g.ints({written(g, x, axis)}),
          g.ints({backwards ? -step : step})},
         y);
  g.keep(y);
  return true;
}

bool split(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const int64_t size = x.dims[axis].size;
  if (size < 2) return false;
  const int64_t head = 1 + g.below(size - 1);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size = head;
  const RandomValue first = g.result(x, dims, x.most, x.spread);
  dims[axis].size = size - head;
  const RandomValue second = g.result(x, dims, x.most, x.spread);
  if (g.opset >= 13)
    g.b.node(op, {x.name, g.ints({head, size - head})}, {first.name, second.name}).with("axis", written(g, x, axis));
  else
    g.b.node(op, {x.name}, {first.name, second.name})
        .with("axis", static_cast<int64_t>(axis))
        .with("split", std::vector<int64_t>{head, size - head});
  g.keep(first);
  g.keep(second);
  return true;
}

bool concat(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  RandomValue other;
  const auto fits = [&](const RandomValue &v) {
    if (v.dims.size() != x.dims.size() || v.dims[axis].role != Role::kFeature) return false;
    std::vector<RandomDim> dims = v.dims;
    dims[axis] = x.dims[axis];
    return dims == x.dims;
  };
  g.find(fits, &other);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size += other.dims[axis].size;
  const RandomValue y = g.result(x, dims, std::max(x.most, other.most), x.spread && other.spread);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, other.name}, y).with("axis", written(g, x, axis));
  g.keep(y);
  return true;
}

bool gather(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const int64_t rank = g.below(3);
  std::vector<int64_t> shape, places;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(1 + g.below(3));
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
  for (int64_t i = 0; i < count; ++i) places.push_back(g.below(2 * x.dims[axis].size) - x.dims[axis].size);
  std::vector<RandomDim> dims = x.dims;
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis)) - dims.begin();
  for (size_t i = shape.size(); i-- > 0;) dims.insert(dims.begin() + at, feature(shape[i]));
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  if (y.features() > kMostFeatures || dims.size() > 5) return false;
  const std::string index = g.fresh();
  g.b.constant_ints(index, shape, places);
  g.node(op, {x.name, index}, y).with("axis", written(g, x, axis));
  g.keep(y);
  return true;
}

// The last or the first step.
bool one_step(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find(has_time, &x)) return false;
  const size_t axis = RandomGraph::axes(x, Role::kTime)[0];
  std::vector<RandomDim> dims = x.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  const std::string index = g.fresh();
  g.b.constant_ints(index, {}, {g.below(4) == 0 ? 0 : -1});
  g.node(op, {x.name, index}, y).with("axis", static_cast<int64_t>(axis));
  g.keep(y);
  return true;
}

bool matmul(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const bool left = g.below(4) == 0;
  const auto fits = [&](const RandomValue &v) {
    const size_t rank = v.dims.size();
    return rank >= 2 && v.dims[rank - (left ? 2 : 1)].role == Role::kFeature;
  };
  if (!g.find(fits, &x)) return false;
  const size_t axis = x.dims.size() - (left ? 2 : 1);
  const int64_t k = x.dims[axis].size, n = 1 + g.below(7);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size = n;
  const RandomValue y = g.result(x, dims, 2 * x.most, x.spread);
  if (y.features() > kMostFeatures) return false;
  const std::string w =
      g.weights(left ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 1 / std::sqrt(static_cast<double>(k)));
  if (left)
    g.node(op, {w, x.name}, y);
  else
    g.node(op, {x.name, w}, y);
  g.keep(g.squashed(y));
  return true;
}

// x times its own transpose.
bool square_matmul(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto fits = [](const RandomValue &v) {
    const size_t rank = v.dims.size();
    return rank >= 3 && v.dims[rank - 1].role == Role::kFeature && v.dims[rank - 2].role == Role::kFeature;
  };
  if (!g.find(fits, &x)) return false;
  std::vector<size_t> order(x.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  std::vector<RandomDim> dims = x.dims;
  dims.back() = dims[dims.size() - 2];
  const double most = x.most * x.most * static_cast<double>(x.dims.back().size);
  if (most > 1000) return false;
  const RandomValue other = g.transposed(x, order), y = g.result(x, dims, most);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, other.name}, y);
  g.keep(g.squashed(y));
  return true;
}

bool gemm(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto fits = [](const RandomValue &v) {
    return v.dims.size() == 2 && v.dims[0].role != Role::kFeature && v.dims[1].role == Role::kFeature;
  };
  if (!g.find(fits, &x)) return false;
  const int64_t k = x.dims[1].size, n = 1 + g.below(7);
  const bool turned = g.coin();
  const std::string w =
      g.weights(turned ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 1 / std::sqrt(static_cast<double>(k)));
  const RandomValue y = g.result(x, {x.dims[0], feature(n)}, 2 * x.most + 1, x.spread);
  g.node(op, {x.name, w, g.weights({n}, 0.3)}, y).with("transB", turned ? 1 : 0).with("alpha", 0.75);
  g.keep(g.squashed(y));
  return true;
}

bool einsum(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const int64_t k = x.dims[axis].size, n = 1 + g.below(5);
  std::string in, out;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    in += static_cast<char>('a' + i);
    out += i == axis ? 'z' : static_cast<char>('a' + i);
  }
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size = n;
  if (g.coin()) {
    std::reverse(out.begin(), out.end());
    std::reverse(dims.begin(), dims.end());
  }
  const RandomValue y = g.result(x, dims, 2 * x.most, x.spread);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, g.weights({k, n}, 1 / std::sqrt(static_cast<double>(k)))}, y)
      .with("equation", (in + "," + static_cast<char>('a' + axis) + "z->" + out).c_str());
  g.keep(g.squashed(y));
  return true;
}

// Every row of x with every other, within a step.
bool einsum_of_two(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto fits = [](const RandomValue &v) { return RandomGraph::axes(v, Role::kFeature).size() >= 2; };
  if (!g.find(fits, &x)) return false;
  const auto features = RandomGraph::axes(x, Role::kFeature);
  const size_t summed = g.one_of(features), kept = features[0] == summed ? features[1] : features[0];
  std::string first, second, out;
  std::vector<RandomDim> dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    first += static_cast<char>('a' + i);
    second += i == kept ? 'z' : static_cast<char>('a' + i);
    if (i == summed) continue;
    out += static_cast<char>('a' + i);
    dims.push_back(x.dims[i]);
  }
  out += 'z';
  dims.push_back(x.dims[kept]);
  const RandomValue y = g.result(x, dims, x.most * x.most * static_cast<double>(x.dims[summed].size));
  if (y.features() > kMostFeatures || y.most > 1000) return false;
  g.node(op, {x.name, x.name}, y).with("equation", (first + "," + second + "->" + out).c_str());
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
  if (g.below(8) == 0 && has_time(x)) take(RandomGraph::axes(x, Role::kTime)[0]);
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

bool pad(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const std::string mode =
      g.one_of(std::vector<std::string>{"constant", "constant", "edge", "reflect", g.opset >= 19 ? "wrap" : "edge"});
  const size_t rank = x.dims.size();
  std::vector<int64_t> pads(2 * rank, 0);
  std::vector<RandomDim> dims = x.dims;
  for (size_t axis : RandomGraph::axes(x, Role::kFeature)) {
    const int64_t limit = mode == "reflect" || mode == "wrap" ? std::min<int64_t>(dims[axis].size, 3) : 3;
    pads[axis] = g.below(limit);
    pads[rank + axis] = g.below(limit);
    if (dims[axis].size > 2 && g.below(6) == 0) pads[axis] = -1;
    dims[axis].size += pads[axis] + pads[rank + axis];
  }
  const RandomValue y = g.result(x, dims, x.most);
  if (y.features() > kMostFeatures) return false;
  std::vector<std::string> in = {x.name, g.ints(pads)};
  if (mode == "constant" && g.coin()) in.push_back(g.numbers({}, -1, 1));
  g.node(op, in, y).with("mode", mode.c_str());
  g.keep(y);
  return true;
}

bool tile(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  std::vector<int64_t> repeats(x.dims.size(), 1);
  repeats[axis] = 1 + g.below(3);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size *= repeats[axis];
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, g.ints(repeats)}, y);
  g.keep(y);
  return true;
}

bool expand(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return std::count(v.dims.begin(), v.dims.end(), feature(1)) != 0; }, &x)) return false;
  std::vector<int64_t> shape(x.dims.size(), 1);
  std::vector<RandomDim> dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == feature(1) && g.coin()) dims[i].size = shape[i] = 1 + g.below(4);
  }
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, g.ints(shape)}, y);
  g.keep(y);
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
    const RandomValue turned = g.result(truth, x.dims, 1);
    g.node("Not", {truth.name}, turned);
    truth = turned;
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

bool recurrent(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return has_time(v) && has_batch(v) && has_features(v); }, &x)) return false;
  const RandomValue in = g.arranged(x, {Role::kTime, Role::kBatch}, true);
  const int64_t gates = op == "RNN" ? 1 : op == "GRU" ? 3 : 4, hidden = 1 + g.below(7), inputs = in.dims[2].size;
  const int64_t kind = g.below(6);  // mostly forward: another direction needs the whole sequence
  const int64_t directions = kind == 0 ? 2 : 1;
  const std::string prefix = g.fresh();
  g.b.weights(prefix, gates, directions, inputs, hidden);
  const RandomDim t{Role::kTime, 0}, n{Role::kBatch, 0};
  const RandomValue y = g.result(in, {t, feature(directions), n, feature(hidden)}, 1);
  const bool state = g.below(4) == 0;
  const RandomValue last = g.result(in, {feature(directions), n, feature(hidden)}, 1);
  std::vector<std::string> outputs = {y.name};
  if (state) outputs.push_back(last.name);
  NodeBuilder node = g.b.node(op, {in.name, prefix + "W", prefix + "R", prefix + "B"}, outputs);
  node.with("hidden_size", hidden);
  if (kind < 2) node.with("direction", kind == 0 ? "bidirectional" : "reverse");
  if (op == "GRU") node.with("linear_before_reset", g.coin() ? 1 : 0);
  const RandomValue turned = g.transposed(y, {0, 2, 1, 3});
  const RandomValue flat = g.result(y, {t, n, feature(directions * hidden)}, 1);
  g.node("Reshape", {turned.name, g.ints({0, 0, -1})}, flat);
  g.keep(flat);
  if (state) g.keep(last);
  return true;
}

// Work on [steps * batch, channels, features]: the value as that, and back.
RandomValue merged(RandomGraph &g, const RandomValue &x, int64_t channels, int64_t length) {
  const RandomValue out = g.result(x, {{Role::kBatch, 0}, feature(channels), feature(length)}, x.most, x.spread);
  g.node("Reshape", {x.name, g.ints({-1, channels, length})}, out);
  return out;
}

RandomValue parted(RandomGraph &g, const RandomValue &like, const RandomValue &x, int64_t channels, int64_t length) {
  const std::string shape = g.fresh(), head = g.fresh(), target = g.fresh();
  g.b.node("Shape", {like.name}, {shape});
  g.b.node("Slice", {shape, g.ints({0}), g.ints({2}), g.ints({0})}, {head});
  g.b.node("Concat", {head, g.ints({channels, length})}, {target}).with("axis", 0);
  const RandomValue out = g.result(x, {{Role::kTime, 0}, {Role::kBatch, 0}, feature(channels), feature(length)}, x.most);
  g.node("Reshape", {x.name, target}, out);
  return out;
}

// [T, N, C, L] of some value, or false.
bool planes(RandomGraph &g, RandomValue *tn, RandomValue *rows, int64_t *channels, int64_t *length) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return has_time(v) && has_batch(v) && has_features(v); }, &x)) return false;
  *tn = g.arranged(x, {Role::kTime, Role::kBatch}, true);
  const int64_t count = x.features();
  *channels = count % 2 == 0 ? 2 : count % 3 == 0 ? 3 : 1;
  *length = count / *channels;
  *rows = merged(g, *tn, *channels, *length);
  return true;
}

int64_t outputs_of(int64_t length, int64_t kernel, int64_t stride, int64_t dilation, int64_t before, int64_t after) {
  return (length + before + after - (kernel - 1) * dilation - 1) / stride + 1;
}

bool conv_of_features(RandomGraph &g, const std::string &op) {
  RandomValue tn, x;
  int64_t channels, length;
  if (!planes(g, &tn, &x, &channels, &length)) return false;
  const int64_t kernel = 1 + g.below(3), stride = 1 + g.below(2), dilation = 1 + g.below(2), before = g.below(3),
                after = g.below(3);
  const int64_t group = g.coin() ? channels : 1, maps = group * (1 + g.below(3));
  const bool turned = op == "ConvTranspose";
  const int64_t extent = (kernel - 1) * dilation + 1;
  const int64_t size = turned                             ? stride * (length - 1) + extent - before - after
                       : length + before + after < extent ? 0
                                                          : outputs_of(length, kernel, stride, dilation, before, after);
  if (size < 1) return false;
  const double deviation = 1 / std::sqrt(static_cast<double>(channels / group * kernel));
  const std::string w = g.weights(
      turned ? std::vector<int64_t>{channels, maps / group, kernel} : std::vector<int64_t>{maps, channels / group, kernel},
      deviation);
  const RandomValue y = g.result(x, {{Role::kBatch, 0}, feature(maps), feature(size)}, 2 * x.most + 1, false);
  if (y.features() > kMostFeatures) return false;
  g.node(op, {x.name, w, g.weights({maps}, 0.3)}, y)
      .with("strides", std::vector<int64_t>{stride})
      .with("dilations", std::vector<int64_t>{dilation})
      .with("pads", std::vector<int64_t>{before, after})
      .with("group", group);
  g.keep(g.squashed(parted(g, tn, y, maps, size)));
  return true;
}

bool pool_of_features(RandomGraph &g, const std::string &op) {
  RandomValue tn, x;
  int64_t channels, length;
  if (!planes(g, &tn, &x, &channels, &length)) return false;
  const bool global = op == "GlobalAveragePool" || op == "GlobalMaxPool";
  const int64_t kernel = 1 + g.below(3), stride = 1 + g.below(2), before = g.below(kernel), after = g.below(kernel);
  if (length + before + after < kernel) return false;
  const int64_t size = global ? 1 : outputs_of(length, kernel, stride, 1, before, after);
  const RandomValue y = g.result(x, {{Role::kBatch, 0}, feature(channels), feature(size)}, x.most);
  NodeBuilder node = g.node(op, {x.name}, y);
  if (!global) {
    node.with("kernel_shape", std::vector<int64_t>{kernel})
        .with("strides", std::vector<int64_t>{stride})
        .with("pads", std::vector<int64_t>{before, after});
    if (op == "AveragePool") node.with("count_include_pad", g.coin() ? 1 : 0);
  }
  g.keep(parted(g, tn, y, channels, size));
  return true;
}

bool norm_of_planes(RandomGraph &g, const std::string &op) {
  RandomValue tn, x;
  int64_t channels, length;
  if (!planes(g, &tn, &x, &channels, &length)) return false;
  const RandomValue y = g.result(x, x.dims, op == "BatchNormalization" ? 2 * x.most + 2 : 8);
  const int64_t groups = g.coin() ? channels : 1, parts = op == "GroupNormalization" && g.opset < 21 ? groups : channels;
  std::vector<std::string> in = {x.name, g.numbers({parts}, 0.5, 1.5), g.weights({parts}, 0.3)};
  if (op == "BatchNormalization") in.insert(in.end(), {g.weights({channels}, 0.3), g.numbers({channels}, 0.5, 2)});
  NodeBuilder node = g.node(op, in, y);
  node.with("epsilon", 0.1);
  if (op == "GroupNormalization") node.with("num_groups", groups);
  g.keep(g.squashed(parted(g, tn, y, channels, length)));
  return true;
}

// [N, C, T]: windows that end at the present step, and a few that look ahead.
bool over_time(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return has_time(v) && has_batch(v) && has_features(v); }, &x)) return false;
  const RandomValue rows = g.arranged(x, {Role::kTime, Role::kBatch}, true), in = g.transposed(rows, {1, 2, 0});
  const bool pooled = op != "Conv";
  const int64_t channels = x.features(), kernel = 1 + g.below(3), dilation = pooled ? 1 : 1 + g.below(2),
                span = (kernel - 1) * dilation;
  const int64_t after = g.below(5) == 0 ? span / 2 : 0;
  const int64_t group = g.coin() ? channels : 1, maps = pooled ? channels : group * (1 + g.below(2));
  const RandomValue y = g.result(in, {in.dims[0], feature(maps), in.dims[2]}, pooled ? x.most : 2 * x.most + 1);
  if (y.features() > kMostFeatures) return false;
  const std::vector<int64_t> pads = {span - after, after};
  if (pooled) {
    g.node(op, {in.name}, y).with("kernel_shape", std::vector<int64_t>{kernel}).with("pads", pads);
  } else {
    const std::string w =
        g.weights({maps, channels / group, kernel}, 1 / std::sqrt(static_cast<double>(channels / group * kernel)));
    g.node(op, {in.name, w, g.weights({maps}, 0.3)}, y)
        .with("pads", pads)
        .with("dilations", std::vector<int64_t>{dilation})
        .with("group", group);
  }
  g.keep(g.squashed(y));
  return true;
}

// [N, C, T] made longer or shorter on the way and even again: padding before a convolution, a cut behind it, a transposed one.
bool uneven_time(RandomGraph &g, const std::string &op) {
  RandomValue x;
  if (!g.find([](const RandomValue &v) { return has_time(v) && has_batch(v) && has_features(v); }, &x)) return false;
  const RandomValue rows = g.arranged(x, {Role::kTime, Role::kBatch}, true), in = g.transposed(rows, {1, 2, 0});
  const int64_t channels = x.features(), kernel = 2 + g.below(2), maps = 1 + g.below(4);
  RandomValue from = in;
  const std::string w =
      g.weights(op == "ConvTranspose" ? std::vector<int64_t>{channels, maps, kernel} : std::vector<int64_t>{maps, channels, kernel},
                1 / std::sqrt(static_cast<double>(channels * kernel)));
  const RandomValue longer = g.result(in, {in.dims[0], feature(maps), in.dims[2]}, 2 * x.most + 1);
  if (op == "Pad") {
    from = g.result(in, in.dims, in.most);
    g.node("Pad", {in.name, g.ints({0, 0, kernel - 1, 0, 0, 0})}, from);
    g.node("Conv", {from.name, w, g.weights({maps}, 0.3)}, longer);
    g.keep(g.squashed(longer));
    return true;
  }
  NodeBuilder node = g.node(op, {in.name, w, g.weights({maps}, 0.3)}, longer);
  if (op == "Conv") node.with("pads", std::vector<int64_t>{kernel - 1, kernel - 1});
  const int64_t first = g.below(4) == 0 ? kernel - 1 : 0;
  const RandomValue even = g.result(longer, longer.dims, longer.most);
  g.node("Slice", {longer.name, g.ints({first}), g.ints({first ? INT64_MAX : 1 - kernel}), g.ints({2})}, even);
  g.keep(g.squashed(even));
  return true;
}

// [N, C, T, L]: a convolution over time and features.
bool conv_2d(RandomGraph &g, const std::string &op) {
  RandomValue x;
  const auto fits = [](const RandomValue &v) {
    return has_time(v) && has_batch(v) && RandomGraph::axes(v, Role::kFeature).size() == 2;
  };
  if (!g.find(fits, &x)) return false;
  const RandomValue rows = g.arranged(x, {Role::kBatch, Role::kTime}, false), in = g.transposed(rows, {0, 2, 1, 3});
  const int64_t channels = in.dims[1].size, length = in.dims[3].size;
  const int64_t steps = 1 + g.below(3), kernel = 1 + g.below(3), stride = 1 + g.below(2), before = g.below(2), after = g.below(2);
  if (length + before + after < kernel) return false;
  const int64_t group = g.coin() ? channels : 1, maps = group * (1 + g.below(2)),
                size = outputs_of(length, kernel, stride, 1, before, after);
  const RandomValue y = g.result(in, {in.dims[0], feature(maps), in.dims[2], feature(size)}, 2 * x.most + 1);
  if (y.features() > kMostFeatures) return false;
  const std::string w =
      g.weights({maps, channels / group, steps, kernel}, 1 / std::sqrt(static_cast<double>(channels / group * steps * kernel)));
  g.node(op, {in.name, w, g.weights({maps}, 0.3)}, y)
      .with("pads", std::vector<int64_t>{steps - 1, before, 0, after})
      .with("strides", std::vector<int64_t>{1, stride})
      .with("group", group);
  g.keep(g.squashed(y));
  return true;
}

}  // namespace

std::vector<RandomMove> random_moves() {
  std::vector<RandomMove> moves;
  const auto add = [&](bool (*grow)(RandomGraph &, const std::string &), const std::vector<const char *> &ops, int64_t since = 7) {
    for (const char *op : ops) moves.push_back({op, since, grow});
  };
  add(unary, {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu",  "Softsign", "Softplus", "Exp",
              "Log",  "Sqrt", "Abs",     "Neg",       "Reciprocal",      "Floor",       "Ceil", "Erf",      "Sign",     "Round",
              "Sin",  "Cos",  "Selu"});
  add(unary, {"Celu"}, 12);
  add(unary, {"HardSwish"}, 14);
  add(unary, {"Mish"}, 18);
  add(unary, {"Gelu"}, 20);
  add(clip, {"Clip"});
  add(same_value, {"Identity", "Cast", "Dropout"});
  add(with_constant, {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "PRelu"});
  add(with_value, {"Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean"});
  add(transpose, {"Transpose", "Transpose"});
  add(reshape, {"Reshape", "Reshape"});
  add(unsqueeze, {"Unsqueeze"});
  add(squeeze, {"Squeeze"});
  add(slice, {"Slice", "Slice"});
  add(split, {"Split"});
  add(concat, {"Concat", "Concat"});
  add(gather, {"Gather", "Gather"});
  add(one_step, {"Gather"});
  add(matmul, {"MatMul", "MatMul"});
  add(square_matmul, {"MatMul"});
  add(gemm, {"Gemm"});
  add(einsum, {"Einsum"}, 12);
  add(einsum_of_two, {"Einsum"}, 12);
  add(softmax, {"Softmax", "LogSoftmax"}, 13);
  add(reduce, {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSum", "ReduceLogSumExp"});
  add(layer_norm, {"LayerNormalization"}, 17);
  add(cum_sum, {"CumSum"});
  add(pad, {"Pad"});
  add(tile, {"Tile"});
  add(expand, {"Expand"});
  add(where, {"Where", "Where"});
  add(truth_as_number, {"Where"});
  add(recurrent, {"RNN", "GRU", "LSTM"});
  add(conv_of_features, {"Conv", "ConvTranspose"});
  add(pool_of_features, {"AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"});
  add(norm_of_planes, {"BatchNormalization", "InstanceNormalization"});
  add(norm_of_planes, {"GroupNormalization"}, 18);
  add(over_time, {"Conv", "Conv", "AveragePool", "MaxPool"});
  add(uneven_time, {"Conv", "ConvTranspose", "Pad"});
  add(conv_2d, {"Conv", "Conv"});
  return moves;
}

}  // namespace rnnp::testing_support
