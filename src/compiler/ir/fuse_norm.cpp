// fuse_norm.cpp -- normalisations that an exporter wrote out as means, squares and roots become one norm node. Contract: passes.h.
// Looked for from the root backwards: sqrt(mean(d d) + epsilon) with d = x - mean(x), or x itself, or the same variance as a
// difference of moments; then d / root, scale and bias.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"

namespace rnnp::compiler {
namespace {

bool same_attr(const Attr &a, const Attr &b) {
  if (a.index() != b.index()) return false;
  const auto plain = [&](auto *x, auto *y) { return x && y && std::memcmp(x, y, sizeof *x) == 0; };
  return plain(std::get_if<AttrUnary>(&a), std::get_if<AttrUnary>(&b)) ||
         plain(std::get_if<AttrBinary>(&a), std::get_if<AttrBinary>(&b)) ||
         plain(std::get_if<AttrReduce>(&a), std::get_if<AttrReduce>(&b));
}

// Which node makes each value; kNone where none or several do.
std::vector<uint32_t> makers(const Graph &graph) {
  std::vector<uint32_t> maker(graph.values.size(), kNone), count(graph.values.size(), 0);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (uint32_t value : graph.nodes[i].out) {
      if (value != kNone) maker[value] = ++count[value] == 1 ? i : kNone;
    }
  }
  return maker;
}

}  // namespace

void merge_equal_nodes(Graph *graph) {
  std::vector<uint32_t> instead(graph->values.size());
  for (uint32_t i = 0; i < instead.size(); ++i) instead[i] = i;
  std::vector<bool> is_output(graph->values.size(), false);
  for (const Io &output : graph->outputs) is_output[output.value] = true;
  const std::vector<uint32_t> maker = makers(*graph);
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    Node &node = graph->nodes[i];
    for (uint32_t &value : node.in) value = value == kNone ? kNone : instead[value];
    if (node.out.size() != 1 || node.out[0] == kNone || is_output[node.out[0]] || maker[node.out[0]] == kNone) continue;
    constexpr size_t kWindow = 64;  // duplicates stand close together
    for (size_t k = i > kWindow ? i - kWindow : 0; k < i; ++k) {
      const Node &other = graph->nodes[k];
      if (other.op != node.op || other.in != node.in || other.out.size() != 1 || other.out[0] == kNone ||
          maker[other.out[0]] == kNone || !same_attr(other.attr, node.attr))
        continue;
      instead[node.out[0]] = other.out[0];
      break;
    }
  }
  remove_dead(graph);
}

namespace {

class NormFinder {
 public:
  explicit NormFinder(const Graph &graph) : g_(graph), maker_(makers(graph)) {}

  // Makes a norm of the division or product `node`; false when it ends none.
  bool replace(Node *node) const {
    if (node->op != OpKind::kBinary || node->out[0] == kNone) return false;
    const AttrBinary &attr = std::get<AttrBinary>(node->attr);
    if (attr.op != static_cast<uint32_t>(Binary::kDiv) && attr.op != static_cast<uint32_t>(Binary::kMul)) return false;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      if (side == 1 && attr.op == static_cast<uint32_t>(Binary::kDiv)) break;
      const uint32_t numerator = node->in[side];
      const Node *root = made_by(node->in[1 - side], OpKind::kUnary);
      if (!root) continue;
      if (attr.op == static_cast<uint32_t>(Binary::kMul)) {
        if (act_of(*root) != Act::kReciprocal) continue;
        root = made_by(root->in[0], OpKind::kUnary);
        if (!root) continue;
      }
      if (act_of(*root) != Act::kSqrt) continue;
      Norm norm;
      uint32_t x = kNone;
      if (!read_root(*root, numerator, &norm, &x) || !spreads(attr, side, norm)) continue;
      *node = {OpKind::kNorm, node->name, {x}, {node->out[0]}, norm};
      return true;
    }
    return false;
  }

 private:
  const Node *made_by(uint32_t value, OpKind op) const {
    const uint32_t maker = value == kNone ? kNone : maker_[value];
    return maker != kNone && g_.nodes[maker].op == op ? &g_.nodes[maker] : nullptr;
  }

  static Act act_of(const Node &node) { return static_cast<Act>(std::get<AttrUnary>(node.attr).act.act); }

  // sqrt(mean(d * d) + epsilon), where d is `numerator`.
  bool read_root(const Node &root, uint32_t numerator, Norm *norm, uint32_t *x) const {
    const Node *sum = binary(root.in[0], Binary::kAdd);
    if (!sum) return false;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Value &constant = g_.values[sum->in[1 - side]];
      if (constant.kind != ValueKind::kConst || constant.f32.size() != 1) continue;
      norm->epsilon = constant.f32[0];
      if (is_difference_of_moments(sum->in[side], numerator, norm, x)) return norm->centred = true;
      const Node *mean = made_by(sum->in[side], OpKind::kReduce);
      if (!mean) continue;
      const Node *square = made_by(mean->in[0], OpKind::kBinary);
      if (!square || !is_square(*square, numerator) || !is_mean_of_rows(*mean, norm)) return false;
      *x = numerator;
      norm->centred = is_centred(numerator, *norm, x);
      return true;
    }
    return false;
  }

  // mean(x x) - mean(x) mean(x), where `numerator` is x - mean(x), as Flax has the variance; what is below 0 may be cut off.
  bool is_difference_of_moments(uint32_t value, uint32_t numerator, Norm *norm, uint32_t *x) const {
    if (const Node *cut = binary(value, Binary::kMax)) {
      const Value &least = g_.values[cut->in[1]];
      if (least.kind != ValueKind::kConst || least.f32 != std::vector<float>{0.0f}) return false;
      value = cut->in[0];
    }
    const Node *difference = binary(value, Binary::kSub), *centred = binary(numerator, Binary::kSub);
    if (!difference || !centred || !by_elements(std::get<AttrBinary>(difference->attr))) return false;
    const Node *moment = made_by(difference->in[0], OpKind::kReduce), *mean_squared = binary(difference->in[1], Binary::kMul);
    const Node *square = moment ? binary(moment->in[0], Binary::kMul) : nullptr;
    return square && mean_squared && is_square(*square, centred->in[0]) && is_square(*mean_squared, centred->in[1]) &&
           is_mean_of_rows(*moment, norm) && is_centred(numerator, *norm, x);
  }

  const Node *binary(uint32_t value, Binary op) const {
    const Node *node = made_by(value, OpKind::kBinary);
    return node && std::get<AttrBinary>(node->attr).op == static_cast<uint32_t>(op) ? node : nullptr;
  }

  static bool by_elements(const AttrBinary &attr) {
    return attr.rank == 1 && (attr.dims[0] == 1 || (attr.a_stride[0] == 1 && attr.b_stride[0] == 1));
  }

  bool is_square(const Node &node, uint32_t of) const {
    const AttrBinary &attr = std::get<AttrBinary>(node.attr);
    return attr.op == static_cast<uint32_t>(Binary::kMul) && node.in[0] == of && node.in[1] == of && by_elements(attr) &&
           attr.dims[0] == g_.values[of].elems;
  }

  // The mean over the last elements of a whole row in order.
  bool is_mean_of_rows(const Node &node, Norm *norm) const {
    const AttrReduce &a = std::get<AttrReduce>(node.attr);
    if (a.op != static_cast<uint32_t>(Reduce::kMean) || a.x_first != 0 || a.over_rank != 1 || a.over_stride[0] != 1 ||
        a.kept_rank > 1)
      return false;
    norm->elems = a.over_dims[0];
    norm->outer = a.kept_rank ? a.kept_dims[0] : 1;
    if (a.kept_rank && a.kept_stride[0] != static_cast<int32_t>(norm->elems)) return false;
    return norm->outer * norm->elems == g_.values[node.in[0]].elems;
  }

  // x - mean(x): *x becomes x.
  bool is_centred(uint32_t value, const Norm &norm, uint32_t *x) const {
    const Node *difference = binary(value, Binary::kSub);
    if (!difference) return false;
    const Node *mean = made_by(difference->in[1], OpKind::kReduce);
    Norm of_mean;
    if (!mean || mean->in[0] != difference->in[0] || !spreads(std::get<AttrBinary>(difference->attr), 0, norm) ||
        !is_mean_of_rows(*mean, &of_mean) || of_mean.elems != norm.elems || of_mean.outer != norm.outer)
      return false;
    *x = difference->in[0];
    return true;
  }

  // Operand `whole` is read in order, the other has one number per outer index.
  static bool spreads(const AttrBinary &attr, size_t whole, const Norm &norm) {
    const uint32_t *mine = whole == 0 ? attr.a_stride : attr.b_stride, *other = whole == 0 ? attr.b_stride : attr.a_stride;
    if (norm.outer == 1) return attr.rank == 1 && attr.dims[0] == norm.elems && mine[0] == 1 && (other[0] == 0 || norm.elems == 1);
    return attr.rank == 2 && attr.dims[0] == norm.outer && attr.dims[1] == norm.elems && mine[0] == norm.elems && mine[1] == 1 &&
           other[0] == 1 && other[1] == 0;
  }

  const Graph &g_;
  const std::vector<uint32_t> maker_;
};

// A constant operand as one number per element or per outer index of the norm; nothing when it is neither.
std::optional<std::vector<float>> parameter(const AttrBinary &attr, size_t whole, const std::vector<float> &constant,
                                            const Norm &norm, bool per_outer) {
  const uint32_t *mine = whole == 0 ? attr.a_stride : attr.b_stride, *other = whole == 0 ? attr.b_stride : attr.a_stride;
  uint64_t total = 1;
  for (uint32_t i = attr.rank; i-- > 0;) {
    if (attr.dims[i] != 1 && mine[i] != total) return std::nullopt;
    total *= attr.dims[i];
  }
  if (total != uint64_t{norm.outer} * norm.elems) return std::nullopt;
  if (!Budget::afford_operations(static_cast<double>(total))) return std::nullopt;
  std::vector<float> out(per_outer ? norm.outer : norm.elems);
  for (uint64_t n = 0; n < total; ++n) {
    uint64_t rest = n, at = 0;
    for (uint32_t i = attr.rank; i-- > 0;) {
      at += rest % attr.dims[i] * other[i];
      rest /= attr.dims[i];
    }
    float &to = out[per_outer ? n / norm.elems : n % norm.elems];
    if (per_outer ? n % norm.elems == 0 : n < norm.elems) to = constant[at];
    if (to != constant[at]) return std::nullopt;
  }
  return out;
}

// Takes a product with, or a sum of, constants into the norm that alone makes its operand.
bool absorb(Graph *graph, Node *norm_node, Node *next) {
  Norm &norm = std::get<Norm>(norm_node->attr);
  const AttrBinary &attr = std::get<AttrBinary>(next->attr);
  const bool is_scale = attr.op == static_cast<uint32_t>(Binary::kMul);
  if ((!is_scale && attr.op != static_cast<uint32_t>(Binary::kAdd)) || !norm.bias.empty() || (is_scale && !norm.scale.empty()))
    return false;
  const size_t whole = next->in[0] == norm_node->out[0] ? 0 : 1;
  const Value &constant = graph->values[next->in[1 - whole]];
  if (constant.kind != ValueKind::kConst || constant.dtype != DType::kF32 || next->in[0] == next->in[1]) return false;
  for (const bool per_outer : {false, true}) {
    if (!norm.scale.empty() && per_outer != norm.per_outer) continue;
    const auto values = parameter(attr, whole, constant.f32, norm, per_outer);
    if (!values) continue;
    (is_scale ? norm.scale : norm.bias) = *values;
    norm.per_outer = per_outer;
    norm_node->out[0] = next->out[0];
    next->in.clear();
    return true;
  }
  return false;
}

void absorb_parameters(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  std::vector<Node *> norm_of(graph->values.size(), nullptr);
  for (Node &node : graph->nodes) {
    if (node.op == OpKind::kNorm && node.out[0] != kNone) norm_of[node.out[0]] = &node;
  }
  for (Node &next : graph->nodes) {
    if (next.op != OpKind::kBinary || next.in.size() != 2) continue;
    for (const uint32_t operand : {next.in[0], next.in[1]}) {
      Node *norm = operand == kNone || uses[operand] != 1 ? nullptr : norm_of[operand];
      if (!norm || !absorb(graph, norm, &next)) continue;
      norm_of[norm->out[0]] = norm;
      break;
    }
  }
  auto &nodes = graph->nodes;
  nodes.erase(
      std::remove_if(nodes.begin(), nodes.end(), [](const Node &node) { return node.op == OpKind::kBinary && node.in.empty(); }),
      nodes.end());
}

}  // namespace

void fuse_norm(Graph *graph) {
  bool found = false;
  NormFinder finder(*graph);  // a node that is replaced still makes the same value
  for (Node &node : graph->nodes) found = finder.replace(&node) || found;
  if (std::none_of(graph->nodes.begin(), graph->nodes.end(), [](const Node &node) { return node.op == OpKind::kNorm; })) return;
  absorb_parameters(graph);
  if (found) remove_dead(graph);
}

}  // namespace rnnp::compiler
