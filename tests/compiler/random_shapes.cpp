// random_shapes.cpp -- the moves of random_graph.h that put elements elsewhere: axes, parts, joins, indices, padding and
// repetition. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

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

bool slice(RandomGraph &g, const std::string &) {
  RandomValue x;
  if (!any_with_features(g, &x)) return false;
  const size_t axis = g.one_of(RandomGraph::axes(x, Role::kFeature));
  const int64_t size = x.dims[axis].size, step = g.opset < 10 ? 1 : 1 + g.below(2), first = g.below(size),
                count = 1 + g.below((size - first - 1) / step + 1);
  const bool backwards = g.opset >= 10 && g.coin();
  const int64_t last = first + (count - 1) * step;
  const int64_t end = backwards ? (first == 0 ? -size - 1 : first - 1) : std::min(last + 1, size);
  std::vector<RandomDim> dims = x.dims;
  dims[axis].size = count;
  const RandomValue y = g.result(x, dims, x.most, x.spread);
  cut(g, x.name, y.name, written(g, x, axis), backwards ? last : first, end, backwards ? -step : step);
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
  for (int64_t i = 0; i < count; ++i)
    places.push_back(g.opset < 11 ? g.below(x.dims[axis].size) : g.below(2 * x.dims[axis].size) - x.dims[axis].size);
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

}  // namespace

std::vector<RandomMove> shape_moves() {
  std::vector<RandomMove> moves;
  const auto add = [&](bool (*grow)(RandomGraph &, const std::string &), const std::vector<const char *> &ops, int64_t since = 7) {
    for (const char *op : ops) moves.push_back({op, since, grow});
  };
  add(transpose, {"Transpose", "Transpose"});
  add(reshape, {"Reshape", "Reshape"});
  add(unsqueeze, {"Unsqueeze"});
  add(squeeze, {"Squeeze"});
  add(slice, {"Slice", "Slice"});
  add(split, {"Split"});
  add(concat, {"Concat", "Concat"});
  add(gather, {"Gather", "Gather"});
  add(one_step, {"Gather"});
  add(pad, {"Pad"}, 11);
  add(tile, {"Tile"});
  add(expand, {"Expand"});
  return moves;
}

}  // namespace rnnp::testing_support
