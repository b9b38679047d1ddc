// random_layers.cpp -- the moves of random_graph.h that add layers: products, recurrent ones, convolutions, pools and
// normalisations. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

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
  const bool transposed = g.coin();
  const std::string w =
      g.weights(transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 1 / std::sqrt(static_cast<double>(k)));
  const RandomValue y = g.result(x, {x.dims[0], feature(n)}, 2 * x.most + 1, x.spread);
  g.node(op, {x.name, w, g.weights({n}, 0.3)}, y).with("transB", transposed ? 1 : 0).with("alpha", 0.75);
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
  const RandomValue transposed = g.transposed(y, {0, 2, 1, 3});
  const RandomValue flat = g.result(y, {t, n, feature(directions * hidden)}, 1);
  g.node("Reshape", {transposed.name, g.ints({0, 0, -1})}, flat);
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
  cut(g, shape, head, 0, 0, 2);
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
  const bool transposed = op == "ConvTranspose";
  const int64_t extent = (kernel - 1) * dilation + 1;
  const int64_t size = transposed                         ? stride * (length - 1) + extent - before - after
                       : length + before + after < extent ? 0
                                                          : outputs_of(length, kernel, stride, dilation, before, after);
  if (size < 1) return false;
  const double deviation = 1 / std::sqrt(static_cast<double>(channels / group * kernel));
  const std::string w = g.weights(
      transposed ? std::vector<int64_t>{channels, maps / group, kernel} : std::vector<int64_t>{maps, channels / group, kernel},
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
  cut(g, longer.name, even.name, 2, first, first ? INT64_MAX : 1 - kernel);
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

std::vector<RandomMove> layer_moves() {
  std::vector<RandomMove> moves;
  const auto add = [&](bool (*grow)(RandomGraph &, const std::string &), const std::vector<const char *> &ops, int64_t since = 7) {
    for (const char *op : ops) moves.push_back({op, since, grow});
  };
  add(matmul, {"MatMul", "MatMul"});
  add(square_matmul, {"MatMul"});
  add(gemm, {"Gemm"});
  add(einsum, {"Einsum"}, 12);
  add(einsum_of_two, {"Einsum"}, 12);
  add(recurrent, {"RNN", "GRU", "LSTM"});
  add(conv_of_features, {"Conv", "ConvTranspose"});
  add(pool_of_features, {"AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"});
  add(norm_of_planes, {"BatchNormalization", "InstanceNormalization"});
  add(norm_of_planes, {"GroupNormalization"}, 18);
  add(over_time, {"Conv", "Conv", "AveragePool", "MaxPool"});
  add(uneven_time, {"Conv", "ConvTranspose"});
  add(uneven_time, {"Pad"}, 11);
  add(conv_2d, {"Conv", "Conv"});
  return moves;
}

}  // namespace rnnp::testing_support
