// random_graph.cpp -- Contract: random_graph.h.
// SPDX-License-Identifier: Apache-2.0
#include "random_graph.h"

#include <algorithm>

#include "compiler/import/builder.h"

namespace rnnp::testing_support {

int64_t RandomValue::features() const {
  int64_t count = 1;
  for (const RandomDim &dim : dims) count *= dim.role == Role::kFeature ? dim.size : 1;
  return count;
}

RandomGraph::RandomGraph(uint32_t seed, int64_t opset_) : b(opset_, seed), opset(opset_), random_(seed) {}

int64_t RandomGraph::below(int64_t count) {
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
}

std::string RandomGraph::fresh() {
  return "v" + std::to_string(next_++);
}

RandomValue RandomGraph::any() {
  return one_of(values);
}

bool RandomGraph::find(const std::function<bool(const RandomValue &)> &fits, RandomValue *out) {
  std::vector<RandomValue> those;
  std::copy_if(values.begin(), values.end(), std::back_inserter(those), fits);
  if (those.empty()) return false;
  *out = one_of(those);
  return true;
}

std::vector<size_t> RandomGraph::axes(const RandomValue &value, Role role) {
  std::vector<size_t> out;
  for (size_t i = 0; i < value.dims.size(); ++i) {
    if (value.dims[i].role == role) out.push_back(i);
  }
  return out;
}

std::string RandomGraph::ints(const std::vector<int64_t> &data) {
  const std::string name = fresh();
  b.constant_ints(name, {static_cast<int64_t>(data.size())}, data);
  return name;
}

std::string RandomGraph::weights(const std::vector<int64_t> &shape, double deviation) {
  const std::string name = fresh();
  b.random(name, shape, deviation);
  return name;
}

std::string RandomGraph::numbers(const std::vector<int64_t> &shape, double low, double high) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i)
    data.push_back(static_cast<float>(low + (high - low) * static_cast<double>(below(1000)) / 1000));
  const std::string name = fresh();
  b.constant(name, shape, data);
  return name;
}

RandomValue RandomGraph::result(const RandomValue &like, std::vector<RandomDim> dims, double most, bool spread) {
  RandomValue out = like;
  out.name = fresh();
  out.dims = std::move(dims);
  out.most = most;
  out.spread = spread;
  return out;
}

RandomValue RandomGraph::transposed(const RandomValue &value, const std::vector<size_t> &order) {
  std::vector<RandomDim> dims;
  std::vector<int64_t> perm;
  for (size_t axis : order) {
    dims.push_back(value.dims[axis]);
    perm.push_back(static_cast<int64_t>(axis));
  }
  RandomValue out = result(value, dims, value.most, value.spread);
  node("Transpose", {value.name}, out).with("perm", perm);
  return out;
}

RandomValue RandomGraph::arranged(const RandomValue &value, const std::vector<Role> &lead, bool merge_features) {
  std::vector<size_t> order;
  for (Role role : lead) order.push_back(axes(value, role)[0]);
  for (size_t axis : axes(value, Role::kFeature)) order.push_back(axis);
  RandomValue out = transposed(value, order);
  if (!merge_features) return out;
  std::vector<RandomDim> dims(out.dims.begin(), out.dims.begin() + static_cast<std::ptrdiff_t>(lead.size()));
  std::vector<int64_t> shape(lead.size(), 0);
  shape.push_back(value.features());
  dims.push_back({Role::kFeature, value.features()});
  const RandomValue merged = result(out, dims, out.most, out.spread);
  node("Reshape", {out.name, ints(shape)}, merged);
  return merged;
}

RandomValue RandomGraph::squashed(const RandomValue &value) {
  if (value.most <= 30) return value;
  const RandomValue out = result(value, value.dims, 1);
  node("Tanh", {value.name}, out);
  return out;
}

std::string RandomGraph::text() const {
  std::string out = "opset " + std::to_string(opset) + "\n";
  for (const onnx::NodeProto &node : b.proto.graph().node()) {
    for (const std::string &name : node.output()) out += name + " ";
    out += "= " + node.op_type() + "(";
    for (const std::string &name : node.input()) out += name + " ";
    out += ")";
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      out += " " + attribute.name() + "=";
      if (attribute.type() == onnx::AttributeProto::INT) out += std::to_string(attribute.i());
      if (attribute.type() == onnx::AttributeProto::FLOAT) out += std::to_string(static_cast<double>(attribute.f()));
      if (attribute.type() == onnx::AttributeProto::STRING) out += attribute.s();
      for (int64_t v : attribute.ints()) out += std::to_string(v) + ",";
    }
    out += "\n";
  }
  for (const onnx::TensorProto &tensor : b.proto.graph().initializer()) {
    out += tensor.name() + " [";
    for (int64_t dim : tensor.dims()) out += std::to_string(dim) + " ";
    out += "]";
    for (int64_t v : tensor.int64_data()) out += " " + std::to_string(v);
    out += "\n";
  }
  return out;
}

onnx::ModelProto RandomGraph::with_outputs(const std::vector<std::string> &names) const {
  OnnxBuilder out = b;
  for (const std::string &name : names) out.output(name);
  return out.proto;
}

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

// Steps are newer than attributes.
void cut(RandomGraph &g, const std::string &in, const std::string &out, int64_t axis, int64_t first, int64_t end, int64_t step) {
  if (g.opset < 10) {
    g.b.node("Slice", {in}, {out})
        .with("starts", std::vector<int64_t>{first})
        .with("ends", std::vector<int64_t>{end})
        .with("axes", std::vector<int64_t>{axis});
    return;
  }
  g.b.node("Slice", {in, g.ints({first}), g.ints({end}), g.ints({axis}), g.ints({step})}, {out});
}

namespace {

const RandomDim kTimeDim{Role::kTime, 0}, kBatchDim{Role::kBatch, 0};

// The first layer: a GRU that says which axes are time and batch, or without one the guess that the first axis is the batch.
void add_first(RandomGraph *graph, int64_t features) {
  if (graph->below(6) == 0) {
    graph->b.input("X", {"N", "T", features});
    graph->keep({"X", {kBatchDim, kTimeDim, {Role::kFeature, features}}, 4, true});
    graph->b.node("Tanh", {"X"}, {"firstY"});
    graph->keep({"firstY", {kBatchDim, kTimeDim, {Role::kFeature, features}}, 1, false});
    return;
  }
  const bool batch_first = graph->below(3) == 0, fixed = graph->below(4) == 0, lengths = graph->below(5) == 0;
  const Dim time = fixed ? Dim(7) : Dim("T"), batch = fixed ? Dim(3) : Dim("N");
  graph->b.input("X", batch_first ? std::vector<Dim>{batch, time, features} : std::vector<Dim>{time, batch, features});
  if (lengths) graph->b.input("L", {batch}, onnx::TensorProto::INT32);
  const RandomDim feature{Role::kFeature, features};
  RandomValue x{"X", {kTimeDim, kBatchDim, feature}, 4, true};
  if (batch_first) {
    std::swap(x.dims[0], x.dims[1]);
    graph->keep(x);
    x = graph->transposed(x, {1, 0, 2});
  }
  graph->keep(x);
  graph->b.weights("first", 3, 1, features, 4);
  graph->b.node("GRU", {x.name, "firstW", "firstR", "firstB", lengths ? "L" : ""}, {"firstY"}).with("hidden_size", 4);
  graph->keep({"firstY", {kTimeDim, {Role::kFeature, 1}, kBatchDim, {Role::kFeature, 4}}, 1, false});
}

RandomGraph first_graph(uint32_t seed) {
  static const std::vector<int64_t> kOpsets = {9, 11, 13, 17, 18, 20, 21, 22};
  RandomGraph graph(seed, kOpsets[seed % kOpsets.size()]);
  add_first(&graph, 2 + graph.below(6));
  if (graph.below(4) == 0 && graph.values.back().dims[0].role == Role::kTime) {
    graph.b.input("R", {graph.b.proto.graph().input(0).type().tensor_type().shape().dim(1).has_dim_value() ? Dim(3) : Dim("N"), 3});
    graph.keep({"R", {kBatchDim, {Role::kFeature, 3}}, 4, true});
  }
  return graph;
}

}  // namespace

RandomGraph generated_graph(uint32_t seed, const std::function<void(const char *op, const std::string &refusal)> &tell) {
  static const std::vector<RandomMove> kMoves = random_moves();
  RandomGraph graph = first_graph(seed);
  const int64_t moves = 3 + graph.below(8);
  for (int64_t done = 0, tries = 0; done < moves && tries < 60; ++tries) {
    const RandomMove &move = graph.one_of(kMoves);
    if (graph.opset < move.since || !compiler::find_import(move.op)) continue;
    const onnx::ModelProto before = graph.b.proto;
    const std::vector<RandomValue> values = graph.values;
    if (!move.grow(graph, move.op)) {
      graph.b.proto = before;
      continue;
    }
    const std::string refusal = refusal_of(graph.with_outputs({"firstY", graph.values.back().name}));
    if (tell) tell(move.op, refusal);
    if (refusal.empty()) {
      ++done;
      continue;
    }
    graph.b.proto = before;
    graph.values = values;
  }
  return graph;
}

}  // namespace rnnp::testing_support
