// value_range.cpp -- Contract: value_range.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/value_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rnnp::compiler {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr ValueRange kAnything = {-kUnbounded, kUnbounded};
constexpr int kMostMakers = 64;  // that one question looks at

ValueRange with_zero(const ValueRange &r) {
  return {std::min(r.least, 0.0), std::max(r.most, 0.0)};
}

ValueRange range_after(const BlobActivation &act, const ValueRange &x) {
  const auto within = [&](double low, double high) {
    return ValueRange{std::clamp(x.least, low, high), std::clamp(x.most, low, high)};
  };
  switch (static_cast<Act>(act.act)) {
    case Act::kIdentity:
      return x;
    case Act::kRelu:
      return within(0, kUnbounded);
    case Act::kClip:
      return act.alpha <= act.beta ? within(act.alpha, act.beta) : kAnything;
    case Act::kSigmoid:
    case Act::kHardSigmoid:
      return {0, 1};
    case Act::kTanh:
    case Act::kSoftsign:
      return {-1, 1};
    default:
      return kAnything;
  }
}

bool every_h_is_bounded(const Recurrent &layer, const Node &node) {
  const bool given = node.in.size() > 1 && node.in[1] != kNone;
  return std::all_of(layer.directions.begin(), layer.directions.end(),
                     [&](const Direction &d) { return h_is_bounded(layer, d, given); });
}

ValueRange range_from(const Graph &graph, uint32_t value, int *left);

// Of one node's part of a value.
ValueRange range_made(const Graph &graph, const Node &node, uint32_t value, int *left) {
  const auto of_x = [&] { return range_from(graph, node.in[0], left); };
  if (const auto *unary = std::get_if<AttrUnary>(&node.attr)) return range_after(unary->act, of_x());
  if (const auto *dense = std::get_if<Dense>(&node.attr)) return range_after(dense->act, kAnything);
  if (const auto *conv = std::get_if<Conv>(&node.attr)) return range_after(conv->shape.act, kAnything);
  if (node.op == OpKind::kSoftmax && std::get<AttrSoftmax>(node.attr).log == 0) return {0, 1};
  // What they do not reach is zero.
  if (node.op == OpKind::kCopy || node.op == OpKind::kPool || node.op == OpKind::kTimeStep) return with_zero(of_x());
  const Recurrent *layer = layer_of(node);
  const bool is_c = node.out.size() > 2 && node.out[2] == value;
  if (layer != nullptr && !is_c && every_h_is_bounded(*layer, node)) return {-1, 1};
  return kAnything;
}

ValueRange range_from(const Graph &graph, uint32_t value, int *left) {
  ValueRange all = {kUnbounded, -kUnbounded};
  bool made = false;
  for (const Node &node : graph.nodes) {
    if (std::find(node.out.begin(), node.out.end(), value) == node.out.end()) continue;
    if (--*left < 0) return kAnything;
    const ValueRange part = range_made(graph, node, value, left);
    all = {std::min(all.least, part.least), std::max(all.most, part.most)};
    made = true;
  }
  return made ? all : kAnything;
}

}  // namespace

bool h_is_bounded(const Recurrent &layer, const Direction &direction, bool start_is_given) {
  const auto exceeds = [](float h) { return !(std::fabs(h) <= 1.0f); };
  const std::vector<float> &start = direction.init_h.data;
  if (start_is_given || std::any_of(start.begin(), start.end(), exceeds)) return false;
  const auto is = [&](int i, Act act) { return direction.act[i].act == static_cast<uint32_t>(act); };
  if (layer.cell == Cell::kRnn) return is(0, Act::kTanh);
  if (has_c(layer.cell)) return is(0, Act::kSigmoid) && is(2, Act::kTanh);
  return is(0, Act::kSigmoid) && is(1, Act::kTanh);
}

ValueRange range_of_value(const Graph &graph, uint32_t value) {
  int left = kMostMakers;
  return range_from(graph, value, &left);
}

}  // namespace rnnp::compiler
