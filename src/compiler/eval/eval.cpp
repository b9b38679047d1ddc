// eval.cpp -- the operator table and the walk over a graph. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compiler/eval/range_watch.h"
#include "compiler/eval/roundings.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {

const Tensor &EvalCall::input(size_t i) const {
  if (!has(i)) throw Refusal("input " + std::to_string(i) + " is missing");
  return *in[i];
}

bool EvalCall::wants(size_t i) const {
  return i < static_cast<size_t>(node.output_size()) && !node.output(static_cast<int>(i)).empty();
}

void EvalCall::give(size_t i, Tensor value) {
  if (i < out.size()) out[i] = std::move(value);
}

namespace {

const std::vector<EvalRow> *const kTables[] = {&kEvalMath,   &kEvalUnary,     &kEvalLogic,    &kEvalShape,  &kEvalIndex,
                                               &kEvalLinear, &kEvalConv,      &kEvalPool,     &kEvalReduce, &kEvalNorm,
                                               &kEvalEinsum, &kEvalRecurrent, &kEvalQuantize, &kEvalPlace};

}  // namespace

EvalFn find_eval(const std::string &op_type) {
  for (const auto *table : kTables) {
    for (const EvalRow &row : *table) {
      if (op_type == row.op_type) return row.function;
    }
  }
  return nullptr;
}

std::vector<std::string> eval_operators() {
  std::vector<std::string> names;
  for (const auto *table : kTables) {
    for (const EvalRow &row : *table) names.emplace_back(row.op_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Tensor> eval_node(const OnnxNode &node, int64_t opset, const std::vector<const Tensor *> &in) {
  const EvalFn function = find_eval(node.op_type());
  if (!function) throw Refusal("the operator is not supported");
  check_attributes(node, opset);
  EvalCall call{node, Attributes(node), opset, in, std::vector<Tensor>(static_cast<size_t>(node.output_size()))};
  for (const Tensor *tensor : in) Budget::charge_operations(tensor ? static_cast<double>(tensor->size()) : 0);
  function(call);
  // A tensor that was never given has no element, not even the one of a scalar.
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (call.wants(i) && call.out[i].data.empty() && call.out[i].shape.empty())
      throw Refusal("its output " + std::to_string(i) + " is not supported");
  }
  return std::move(call.out);
}

namespace {

// One walk over a graph and the branches it takes. Names made in a branch hide those outside until its end.
class Walk {
 public:
  explicit Walk(int64_t opset) : opset_(opset) {}

  std::map<std::string, std::shared_ptr<const Tensor>> known;

  void run(const OnnxNode &node, const EvalInstead &instead = {}) {
    const auto refusal = refusal_of([&] {
      if (node.op_type() == "If")
        branch(node);
      else if (node.op_type() == "Loop")
        loop(node);
      else if (node.op_type() == "Scan")
        scan(node);
      else
        compute(node, instead);
    });
    if (!refusal) return;
    Problems problems;
    problems.add(node_title(node), node.op_type(), *refusal);
    problems.raise();
  }

 private:
  std::shared_ptr<const Tensor> value_of(const std::string &name) const {
    const auto found = known.find(name);
    if (found == known.end()) throw Refusal("its input " + quote(name) + " has no value");
    return found->second;
  }

  void compute(const OnnxNode &node, const EvalInstead &instead) {
    std::vector<const Tensor *> in;
    for (const std::string &name : node.input()) in.push_back(name.empty() ? nullptr : value_of(name).get());
    std::optional<std::vector<Tensor>> given = instead ? instead(node, in) : std::nullopt;
    std::vector<Tensor> out = given ? std::move(*given) : eval_node(node, opset_, in);
    if (RangeWatch::is_on()) watch(node, in, out);
    if (Roundings::are_on() && !given) round_all(&out);
    for (size_t i = 0; i < out.size(); ++i) {
      const std::string &name = node.output(static_cast<int>(i));
      if (!name.empty()) known[name] = std::make_shared<const Tensor>(std::move(out[i]));
    }
  }

  static void round_all(std::vector<Tensor> *out) {
    for (Tensor &tensor : *out) {
      if (tensor.elem != Elem::kFloat || tensor.data.size() == 0) continue;
      for (double *v = tensor.data.data(), *end = v + tensor.data.size(); v != end; ++v) *v = Roundings::of(*v);
    }
  }

  static bool has_infinity(const Tensor &tensor) {
    return std::any_of(tensor.data.begin(), tensor.data.end(), [](double v) { return std::isinf(v); });
  }

  // An infinity of finite numbers lies beyond f64.
  static void watch(const OnnxNode &node, const std::vector<const Tensor *> &in, const std::vector<Tensor> &out) {
    bool made_infinity = false;
    for (const Tensor &tensor : out) {
      if (tensor.elem != Elem::kFloat) continue;
      for (const double v : tensor.data) RangeWatch::see(v);
      made_infinity = made_infinity || has_infinity(tensor);
    }
    const auto has_one = [](const Tensor *tensor) { return tensor != nullptr && has_infinity(*tensor); };
    if (made_infinity && std::none_of(in.begin(), in.end(), has_one)) RangeWatch::see(std::numeric_limits<double>::max());
    RangeWatch::end_node("node " + quote(node_title(node)) + " (" + node.op_type() + ")");
  }

  void branch(const OnnxNode &node) {
    check_attributes(node, opset_);
    if (node.input_size() != 1) throw Refusal("it needs one condition");
    const OnnxGraph &graph = taken_branch(node, *value_of(node.input(0)));
    const Values results = inside(graph, {});
    for (size_t i = 0; i < results.size(); ++i) known[node.output(static_cast<int>(i))] = results[i];
  }

  using Value = std::shared_ptr<const Tensor>;
  using Values = std::vector<Value>;

  // A graph's outputs with `given` as its inputs; names made in it hide those outside until its end.
  Values inside(const OnnxGraph &graph, const Values &given) {
    std::map<std::string, Value> hidden;
    std::vector<std::string> made = names_made(graph);
    for (const OnnxValue &input : graph.input()) made.push_back(input.name());
    for (const std::string &name : made) {
      const auto found = known.find(name);
      if (found != known.end()) hidden.insert(*found);
    }
    for (const OnnxTensor &constant : graph.initializer()) known[constant.name()] = constant.tensor();
    for (size_t i = 0; i < given.size(); ++i) known[graph.input(static_cast<int>(i)).name()] = given[i];
    for (const OnnxNode &inner : graph.node()) run(inner);
    Values results;
    for (const OnnxValue &output : graph.output()) results.push_back(value_of(output.name()));
    for (const std::string &name : made) known.erase(name);
    for (auto &outer : hidden) known[outer.first] = std::move(outer.second);
    return results;
  }

  const OnnxGraph &body_of(const OnnxNode &node) const {
    check_attributes(node, opset_);
    const OnnxAttribute *attribute = Attributes(node).find("body");
    if (attribute == nullptr) throw Refusal("attribute 'body' is missing");
    return attribute->g();
  }

  static Tensor stacked(const Values &parts) {
    if (parts.empty()) throw Refusal("it makes a sequence of no steps");
    Shape shape = parts[0]->shape;
    shape.insert(shape.begin(), static_cast<int64_t>(parts.size()));
    Tensor out(parts[0]->elem, shape);
    auto at = out.data.begin();
    for (const Value &part : parts) {
      if (part->shape != parts[0]->shape) throw Refusal("a step's result differs in shape from the one before");
      at = std::copy(part->data.begin(), part->data.end(), at);
    }
    return out;
  }

  // What the body carries on and what it adds to sequences, handed out as the node's outputs.
  void finish(const OnnxNode &node, const Values &carried, const std::vector<Values> &made) {
    if (static_cast<size_t>(node.output_size()) > carried.size() + made.size()) throw Refusal("it has too many outputs");
    for (int i = 0; i < node.output_size(); ++i) {
      const size_t k = static_cast<size_t>(i);
      if (node.output(i).empty()) continue;
      known[node.output(i)] = k < carried.size() ? carried[k] : std::make_shared<const Tensor>(stacked(made[k - carried.size()]));
    }
  }

  static double one_number(const Tensor &tensor, const char *what) {
    if (tensor.size() != 1)
      throw Refusal(std::string("its ") + what + " has shape " + shape_text(tensor.shape) + "; accepted: one element");
    return tensor.data[0];
  }

  void loop(const OnnxNode &node) {
    const OnnxGraph &body = body_of(node);
    const int count = node.input_size() - 2;
    if (count < 0 || body.input_size() != count + 2 || body.output_size() < count + 1) throw Refusal("its body does not fit it");
    const int64_t most = node.input(0).empty() ? INT64_MAX : to_int(one_number(*value_of(node.input(0)), "number of trips"));
    Tensor always(Elem::kBool, {});
    always.data[0] = 1;
    Value go = node.input(1).empty() ? std::make_shared<const Tensor>(std::move(always)) : value_of(node.input(1));
    bool on = one_number(*go, "condition") != 0;
    Values carried;
    for (int i = 0; i < count; ++i) carried.push_back(value_of(node.input(i + 2)));
    std::vector<Values> made(static_cast<size_t>(body.output_size() - count - 1));
    for (int64_t step = 0; step < most && on; ++step) {
      Tensor number(Elem::kInt, {});
      number.data[0] = static_cast<double>(step);
      Values given = {std::make_shared<const Tensor>(std::move(number)), go};
      given.insert(given.end(), carried.begin(), carried.end());
      const Values results = inside(body, given);
      go = results[0];
      on = one_number(*go, "condition") != 0;
      std::copy(results.begin() + 1, results.begin() + 1 + count, carried.begin());
      for (size_t i = 0; i < made.size(); ++i) made[i].push_back(results[i + 1 + static_cast<size_t>(count)]);
    }
    finish(node, carried, made);
  }

  void scan(const OnnxNode &node) {
    const OnnxGraph &body = body_of(node);
    const Attributes a(node);
    const int64_t count = a.integer("num_scan_inputs", 0);
    if (count < 1 || count > node.input_size())
      throw Refusal("attribute 'num_scan_inputs' is " + std::to_string(count) + ", its inputs are " +
                    std::to_string(node.input_size()));
    const int64_t states = node.input_size() - count;
    for (const char *name : {"scan_input_axes", "scan_output_axes"}) {
      const std::vector<int64_t> given = a.integers(name);
      if (std::any_of(given.begin(), given.end(), [](int64_t v) { return v != 0; }))
        throw Refusal("attribute '" + std::string(name) + "' is not 0; accepted: the first axis");
    }
    const std::vector<int64_t> read = a.integers("scan_input_directions"), written = a.integers("scan_output_directions");
    const auto backwards = [](const std::vector<int64_t> &directions, size_t i) {
      return i < directions.size() && directions[i] == 1;
    };
    if (body.input_size() != node.input_size() || body.output_size() < states) throw Refusal("its body does not fit it");
    Values carried, sequences;
    for (int i = 0; i < node.input_size(); ++i) (i < states ? carried : sequences).push_back(value_of(node.input(i)));
    std::vector<Values> made(static_cast<size_t>(body.output_size() - states));
    const int64_t steps = sequences[0]->rank() == 0 ? 0 : sequences[0]->shape[0];
    for (int64_t step = 0; step < steps; ++step) {
      Values given = carried;
      for (size_t i = 0; i < sequences.size(); ++i)
        given.push_back(part(*sequences[i], backwards(read, i) ? steps - 1 - step : step, steps));
      const Values results = inside(body, given);
      std::copy(results.begin(), results.begin() + states, carried.begin());
      for (size_t i = 0; i < made.size(); ++i) made[i].push_back(results[i + static_cast<size_t>(states)]);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      if (backwards(written, i)) std::reverse(made[i].begin(), made[i].end());
    }
    finish(node, carried, made);
  }

  static Value part(const Tensor &whole, int64_t step, int64_t steps) {
    if (whole.rank() == 0 || whole.shape[0] != steps) throw Refusal("its sequences differ in their numbers of steps");
    Tensor out(whole.elem, Shape(whole.shape.begin() + 1, whole.shape.end()));
    std::copy_n(whole.data.begin() + step * out.size(), out.size(), out.data.begin());
    return std::make_shared<const Tensor>(std::move(out));
  }

  int64_t opset_;
};

}  // namespace

namespace {

// The library takes every number as float32; the graph computes with what its file says.
Tensor as_declared(Tensor value, int elem_type) {
  switch (elem_type) {
    case kOnnxFloat:
    case kOnnxFloat16:
    case kOnnxDouble:
    case kOnnxBfloat16:
      value.elem = Elem::kFloat;
      break;
    case kOnnxBool:
      value.elem = Elem::kBool;
      for (double &v : value.data) v = v != 0 ? 1 : 0;
      break;
    default:
      value.elem = Elem::kInt;
      for (double &v : value.data) v = static_cast<double>(to_int(v));
  }
  return value;
}

// For each node the names that none behind it reads, so that large graphs do not keep every value.
std::vector<std::vector<std::string>> read_for_the_last_time(const OnnxModel &model) {
  std::vector<std::vector<std::string>> out(model.nodes.size());
  std::set<std::string> seen(model.outputs.begin(), model.outputs.end());
  for (size_t n = model.nodes.size(); n-- > 0;) {
    std::vector<std::string> names = names_read(*model.nodes[n]);
    names.insert(names.end(), model.nodes[n]->output().begin(), model.nodes[n]->output().end());
    for (const std::string &name : names) {
      if (seen.insert(name).second) out[n].push_back(name);
    }
  }
  return out;
}

}  // namespace

std::map<std::string, Tensor> eval_graph(const OnnxModel &model, const std::map<std::string, Tensor> &inputs,
                                         const Progress &progress, const EvalInstead &instead) {
  int64_t given = 0;
  for (const auto &input : inputs) given += input.second.size();
  const Budget budget("evaluating it", evaluation_limits(model.file_bytes, given));
  Walk walk(model.opset);
  walk.known = model.constants;
  const auto is_declared = [&](const std::string &name) {
    return std::any_of(model.inputs.begin(), model.inputs.end(), [&](const DeclaredInput &input) { return input.name == name; });
  };
  for (const auto &input : inputs) {
    if (!is_declared(input.first)) walk.known[input.first] = std::make_shared<const Tensor>(input.second);
  }
  for (const DeclaredInput &input : model.inputs) {
    const auto brought = inputs.find(input.name);
    const auto found = walk.known.find(input.name);
    if (brought == inputs.end() && found == walk.known.end()) continue;
    const Tensor &value = brought != inputs.end() ? brought->second : *found->second;
    walk.known[input.name] = std::make_shared<const Tensor>(as_declared(value, input.elem_type));
  }
  const std::vector<std::vector<std::string>> last_read = read_for_the_last_time(model);
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    walk.run(*model.nodes[n], instead);
    for (const std::string &name : last_read[n]) walk.known.erase(name);
    if (progress) progress(n + 1, model.nodes.size());
  }
  std::map<std::string, Tensor> outputs;
  for (const std::string &name : model.outputs) {
    const auto found = walk.known.find(name);
    if (found == walk.known.end()) throw ModelError("output " + quote(name) + " has no value");
    outputs[name] = *found->second;
  }
  return outputs;
}

void check_work(int64_t outer, int64_t m, int64_t n, int64_t k) {
  constexpr double kMostProducts = 1e11;
  const double products = static_cast<double>(outer) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (products > kMostProducts) throw Refusal("a product of these sizes is too much work on the host");
  Budget::charge_operations(products);
}

Shape broadcast_shape(const Shape &a, const Shape &b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) throw Refusal("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast");
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Shape broadcast_strides(const Shape &from, const Shape &to) {
  const Shape dense = dense_strides(from);
  Shape out(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[from.size() - 1 - i] != 1) out[to.size() - 1 - i] = dense[from.size() - 1 - i];
  }
  return out;
}

}  // namespace rnnp::compiler
