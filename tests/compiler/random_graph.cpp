// random_graph.cpp -- Contract: random_graph.h.
// SPDX-License-Identifier: Apache-2.0
#include "random_graph.h"

#include <algorithm>

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

}  // namespace rnnp::testing_support
