// fuse_linear.cpp -- what follows a dense node or a convolution and works on each of its outputs alone goes into it: constants
// that are multiplied or added, then an activation. Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"

namespace rnnp::compiler {
namespace {

bool is_linear(const Node &node) {
  return node.op == OpKind::kDense || node.op == OpKind::kConv;
}

BlobActivation &activation_of(Node *node) {
  return node->op == OpKind::kDense ? std::get<Dense>(node->attr).act : std::get<Conv>(node->attr).shape.act;
}

// Who makes each value, kept up to date while nodes are taken in.
class LinearMakers {
 public:
  explicit LinearMakers(Graph *graph) : made_by_(graph->values.size()), uses_(use_counts(*graph)) {
    for (Node &node : graph->nodes) {
      for (uint32_t value : node.out) {
        if (value != kNone) made_by_[value].push_back(&node);
      }
    }
  }

  // The nodes without activation that alone make a value for its one reader: one, or the phases of a transposed convolution.
  std::vector<Node *> of(uint32_t value) const {
    if (uses_[value] != 1) return {};
    const std::vector<Node *> &makers = made_by_[value];
    const bool fit = std::all_of(makers.begin(), makers.end(), [](Node *node) {
      return is_linear(*node) && activation_of(node).act == static_cast<uint32_t>(Act::kIdentity);
    });
    return fit ? makers : std::vector<Node *>();
  }

  void take_over(const std::vector<Node *> &makers, Node *absorbed) {
    for (Node *maker : makers) maker->out[0] = absorbed->out[0];
    made_by_[absorbed->out[0]] = makers;
    absorbed->out[0] = kNone;
    absorbed->in.clear();
  }

 private:
  std::vector<std::vector<Node *>> made_by_;
  const std::vector<uint32_t> uses_;
};

// Elements of a row are [blocks][repeats][units]: unit u of block b has one set of weights, all repeats share it.
struct Units {
  uint64_t blocks, repeats, units;
};

Units units_of(const Node &node, uint32_t elems) {
  if (node.op == OpKind::kDense) {
    const Dense &d = std::get<Dense>(node.attr);
    return {d.matrices, d.groups / d.matrices, d.output_size};
  }
  const Conv &conv = std::get<Conv>(node.attr);
  const uint32_t outputs = conv.outputs();
  if (conv.shape.y_plane != 0) return {outputs, conv.shape.y_plane, 1};
  return {1, elems / outputs, outputs};
}

// The other operand as one number per unit; false when it differs between repeats or the value is not read in order.
bool numbers_of(const AttrBinary &attr, bool value_is_a, const std::vector<float> &constant, const Units &u,
                std::vector<float> *numbers) {
  const uint32_t *mine = value_is_a ? attr.a_stride : attr.b_stride, *other = value_is_a ? attr.b_stride : attr.a_stride;
  uint64_t total = 1;
  for (uint32_t i = attr.rank; i-- > 0;) {
    if (attr.dims[i] != 1 && mine[i] != total) return false;
    total *= attr.dims[i];
  }
  if (total != u.blocks * u.repeats * u.units) return false;
  if (!Budget::afford_operations(static_cast<double>(total))) return false;
  numbers->assign(u.blocks * u.units, 0.0f);
  for (uint64_t n = 0; n < total; ++n) {
    uint64_t rest = n, at = 0;
    for (uint32_t i = attr.rank; i-- > 0;) {
      at += rest % attr.dims[i] * other[i];
      rest /= attr.dims[i];
    }
    const uint64_t block = n / (u.repeats * u.units), repeat = n / u.units % u.repeats;
    float &to = (*numbers)[block * u.units + n % u.units];
    if (repeat == 0) to = constant[at];
    if (!(to == constant[at])) return false;
  }
  return true;
}

struct LinearWeights {
  std::vector<float> *w, *bias;
  Storage *storage;
};

template <class Layer>
LinearWeights linear_weights(Layer *layer) {
  return {&layer->w, &layer->bias, &layer->storage};
}
LinearWeights linear_weights(Node *node) {
  return node->op == OpKind::kDense ? linear_weights(&std::get<Dense>(node->attr)) : linear_weights(&std::get<Conv>(node->attr));
}

// Integers stay what they are times another scale; numbers of 16 bits become others.
template <class Apply>
void scale_storage(Storage *storage, size_t rows, Apply apply) {
  if (storage->scales.empty()) {
    storage->type = DType::kF32;
    return;
  }
  const size_t groups = storage->scales.size() / rows, depth = storage->rounded.size() / rows;
  for (size_t i = 0; i < storage->scales.size(); ++i) {
    float &to = storage->scales[i];
    apply(to, i / groups);
    to = std::isfinite(to) ? std::fabs(to) : 0.0f;
  }
  for (size_t i = 0; i < storage->rounded.size(); ++i) apply(storage->rounded[i], i / depth);
}

void scale(Node *node, const std::vector<float> &numbers, bool divide) {
  const LinearWeights of = linear_weights(node);
  const size_t depth = of.w->size() / numbers.size();
  const auto apply = [&](float &v, float by) { v = divide ? v / by : v * by; };
  scale_storage(of.storage, numbers.size(), [&](float &v, size_t row) { apply(v, numbers[row]); });
  for (size_t i = 0; i < of.w->size(); ++i) apply((*of.w)[i], numbers[i / depth]);
  for (size_t i = 0; i < of.bias->size(); ++i) apply((*of.bias)[i], numbers[i]);
}

void add(Node *node, const std::vector<float> &numbers, float sign) {
  std::vector<float> &bias = *linear_weights(node).bias;
  bias.resize(numbers.size(), 0.0f);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] += sign * numbers[i];
}

// A sum times infinity is infinite, the sum of its parts times infinity may be none; what overflows is none of f32's numbers.
bool stays_finite(Node *node, Binary op, const std::vector<float> &numbers) {
  const bool scales = op == Binary::kMul || op == Binary::kDiv;
  const LinearWeights of = linear_weights(node);
  const size_t depth = of.w->size() / numbers.size();
  const auto is_lost = [&](float v, float by) {
    const float made = op == Binary::kMul ? v * by : op == Binary::kDiv ? v / by : v + (op == Binary::kSub ? -by : by);
    return std::isfinite(v) && std::isfinite(by) && !std::isfinite(made);
  };
  for (size_t u = 0; u < numbers.size(); ++u) {
    if (scales && !std::isfinite(numbers[u])) return false;
    if (!of.bias->empty() && is_lost((*of.bias)[u], numbers[u])) return false;
  }
  for (size_t i = 0; scales && i < of.w->size(); ++i) {
    if (is_lost((*of.w)[i], numbers[i / depth])) return false;
  }
  return true;
}

void apply(Node *node, Binary op, const std::vector<float> &numbers) {
  if (op == Binary::kMul || op == Binary::kDiv) {
    scale(node, numbers, op == Binary::kDiv);
  } else {
    add(node, numbers, op == Binary::kSub ? -1.0f : 1.0f);
  }
}

void drop_emptied(Graph *graph) {
  auto &nodes = graph->nodes;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [](const Node &node) { return node.in.empty() && node.out[0] == kNone; }),
              nodes.end());
}

bool fuse_binary(const Graph &graph, Node *node, LinearMakers *all) {
  const AttrBinary &attr = std::get<AttrBinary>(node->attr);
  const Binary op = static_cast<Binary>(attr.op);
  const bool commutes = op == Binary::kAdd || op == Binary::kMul;
  if (!commutes && op != Binary::kSub && op != Binary::kDiv) return false;
  for (size_t side = 0; side < (commutes ? 2u : 1u); ++side) {
    const Value &constant = graph.values[node->in[1 - side]];
    if (constant.kind != ValueKind::kConst || constant.dtype != DType::kF32) continue;
    const std::vector<Node *> makers = all->of(node->in[side]);
    const uint32_t elems = graph.values[node->in[side]].elems;
    if (makers.empty() || graph.values[node->out[0]].elems != elems) continue;
    std::vector<float> numbers;
    if (!numbers_of(attr, side == 0, constant.f32, units_of(*makers[0], elems), &numbers)) continue;
    if (!std::all_of(makers.begin(), makers.end(), [&](Node *maker) { return stays_finite(maker, op, numbers); })) return false;
    for (Node *maker : makers) apply(maker, op, numbers);
    all->take_over(makers, node);
    return true;
  }
  return false;
}

}  // namespace

void fuse_linear_constants(Graph *graph) {
  // Nodes are in order, so a chain is taken from its front.
  for (bool changed = true; changed;) {
    changed = false;
    LinearMakers all(graph);
    for (Node &node : graph->nodes) changed = (node.op == OpKind::kBinary && fuse_binary(*graph, &node, &all)) || changed;
    drop_emptied(graph);
  }
}

void fuse_linear_activation(Graph *graph) {
  LinearMakers all(graph);
  for (Node &node : graph->nodes) {
    if (node.op != OpKind::kUnary || !has_kernel(std::get<AttrUnary>(node.attr).act)) continue;
    const std::vector<Node *> makers = all.of(node.in[0]);
    if (makers.empty()) continue;
    for (Node *maker : makers) activation_of(maker) = std::get<AttrUnary>(node.attr).act;
    all.take_over(makers, &node);
  }
  drop_emptied(graph);
}

}  // namespace rnnp::compiler
