// memory.cpp -- greedy placement, tried in several orders; the best is kept. Contract: memory.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/memory.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

bool overlap(const Lifetime &a, const Lifetime &b) {
  return a.first <= b.last && b.first <= a.last;
}

// Lowest offset at which each fits among those placed before it.
uint64_t place_in_order(std::vector<Lifetime *> order) {
  uint64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    std::vector<Lifetime *> near;
    for (size_t k = 0; k < i; ++k) {
      if (overlap(*order[i], *order[k])) near.push_back(order[k]);
    }
    std::sort(near.begin(), near.end(), [](const Lifetime *a, const Lifetime *b) { return a->offset < b->offset; });
    uint64_t at = 0, best = UINT64_MAX, best_gap = UINT64_MAX;
    for (const Lifetime *other : near) {
      if (other->offset > at && other->offset - at >= order[i]->elems && other->offset - at < best_gap) {
        best = at;
        best_gap = other->offset - at;
      }
      at = std::max<uint64_t>(at, uint64_t{other->offset} + other->elems);
    }
    const uint64_t offset = best != UINT64_MAX ? best : at;
    end = std::max(end, offset + order[i]->elems);
    if (end > UINT32_MAX) throw ModelError("the values of a step need more than 4 Gi elements");
    order[i]->offset = static_cast<uint32_t>(offset);
  }
  return end;
}

using Order = std::function<bool(const Lifetime &, const Lifetime &)>;

uint32_t length(const Lifetime &l) {
  return l.last - l.first;
}

}  // namespace

uint32_t largest_live_set(const std::vector<Lifetime> &lifetimes) {
  std::map<uint32_t, int64_t> change;
  for (const Lifetime &l : lifetimes) {
    change[l.first] += l.elems;
    change[l.last + 1] -= l.elems;
  }
  int64_t live = 0, most = 0;
  for (const auto &at : change) {
    live += at.second;
    most = std::max(most, live);
  }
  return static_cast<uint32_t>(std::min<int64_t>(most, UINT32_MAX));
}

namespace {

// Moves buffers that make the peak ahead in the order of placement, and keeps what does not grow; the same on every machine.
uint64_t improve(std::vector<Lifetime *> order, uint64_t size, uint64_t good_enough) {
  uint64_t random = 0x9e3779b97f4a7c15u;
  const auto below = [&random](size_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>((random >> 33) % n);
  };
  constexpr uint64_t kEffort = 40000000;
  const uint64_t n = order.size();
  std::vector<uint32_t> kept(n);
  const auto keep = [&] { std::transform(order.begin(), order.end(), kept.begin(), [](const Lifetime *l) { return l->offset; }); };
  keep();
  for (uint64_t round = 0; round < kEffort / (n * n + 1) && size > good_enough; ++round) {
    std::vector<size_t> tops;
    for (size_t i = 1; i < n; ++i) {
      if (uint64_t{order[i]->offset} + order[i]->elems == size) tops.push_back(i);
    }
    const size_t from = !tops.empty() && round % 4 != 3 ? tops[below(tops.size())] : 1 + below(n - 1), to = below(from);
    std::vector<Lifetime *> trial = order;
    std::rotate(trial.begin() + static_cast<std::ptrdiff_t>(to), trial.begin() + static_cast<std::ptrdiff_t>(from),
                trial.begin() + static_cast<std::ptrdiff_t>(from) + 1);
    const uint64_t now = place_in_order(trial);
    if (now > size) {
      for (size_t i = 0; i < n; ++i) order[i]->offset = kept[i];
      continue;
    }
    size = now;
    order = std::move(trial);
    keep();
  }
  return size;
}

}  // namespace

uint32_t place_lifetimes(std::vector<Lifetime> *lifetimes) {
  const Order orders[] = {
      [](const Lifetime &a, const Lifetime &b) { return a.elems > b.elems; },
      [](const Lifetime &a, const Lifetime &b) { return a.first < b.first; },
      [](const Lifetime &a, const Lifetime &b) { return length(a) > length(b); },
      [](const Lifetime &a, const Lifetime &b) { return a.last > b.last; },
      [](const Lifetime &a, const Lifetime &b) {
        return uint64_t{a.elems} * (length(a) + 1u) > uint64_t{b.elems} * (length(b) + 1u);
      },
  };
  if (lifetimes->empty()) return 0;
  const uint64_t bound = largest_live_set(*lifetimes);
  std::vector<Lifetime> best;
  uint64_t smallest = UINT64_MAX;
  for (const bool improving : {false, true}) {
    for (const Order &order : orders) {
      if (smallest <= bound + (improving ? bound / 50 : 0)) break;
      std::vector<Lifetime> trial = *lifetimes;
      std::vector<Lifetime *> pointers;
      for (Lifetime &l : trial) pointers.push_back(&l);
      std::stable_sort(pointers.begin(), pointers.end(), [&](const Lifetime *a, const Lifetime *b) { return order(*a, *b); });
      uint64_t size = place_in_order(pointers);
      if (improving && pointers.size() > 1) size = improve(pointers, size, bound + bound / 50);
      if (size >= smallest) continue;
      smallest = size;
      best = std::move(trial);
    }
  }
  *lifetimes = std::move(best);
  return static_cast<uint32_t>(smallest);
}

namespace {

struct Span {
  uint32_t first = kNone, last = 0;
  void touch(uint32_t at) {
    first = first == kNone ? at : std::min(first, at);
    last = std::max(last, at);
  }
};

// What a loop and nodes beside it name lives for all of the loop, whose nodes run again for the next step.
void outlast_loops(const Graph &graph, std::vector<Span> *spans) {
  for (uint32_t first = 0; first < graph.nodes.size(); ++first) {
    const StateRef *state = std::get_if<StateRef>(&graph.nodes[first].attr);
    if (state == nullptr || state->loop_nodes == 0) continue;
    const uint32_t last = first + state->loop_nodes - 1;
    for (uint32_t i = first; i <= last; ++i) {
      for (const auto *list : {&graph.nodes[i].in, &graph.nodes[i].out}) {
        for (const uint32_t value : *list) {
          if (value == kNone || ((*spans)[value].first >= first && (*spans)[value].last <= last)) continue;
          (*spans)[value].touch(first);
          (*spans)[value].touch(last);
        }
      }
    }
  }
}

std::vector<Span> find_spans(const Graph &graph) {
  std::vector<Span> spans(graph.values.size());
  Span steps;  // the nodes that run once per chunk
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    for (const auto *list : {&node.in, &node.out}) {
      for (uint32_t value : *list) {
        if (value == kNone) continue;
        spans[value].touch(i);
        if (graph.values[value].sequence) steps.touch(i);
      }
    }
  }
  // Per-step nodes run again for every chunk, so a row value that touches one must outlast them all.
  for (uint32_t i = 0; i < graph.nodes.size() && steps.first != kNone; ++i) {
    const Node &node = graph.nodes[i];
    const auto is_step = [&](uint32_t value) { return value != kNone && graph.values[value].sequence; };
    if (std::none_of(node.in.begin(), node.in.end(), is_step) && std::none_of(node.out.begin(), node.out.end(), is_step)) continue;
    for (const auto *list : {&node.in, &node.out}) {
      for (uint32_t value : *list) {
        if (value == kNone || graph.values[value].kind != ValueKind::kRow) continue;
        spans[value].touch(steps.first);
        spans[value].touch(steps.last);
      }
    }
  }
  const uint32_t end = static_cast<uint32_t>(graph.nodes.size());
  // An early row that something else than early rows reads is made in the first chunk and must last to the final one.
  const auto is_computed_in_first_chunk = [&](uint32_t value) { return value == kNone || graph.values[value].early; };
  const auto lasts = [&](uint32_t value) {
    spans[value].touch(0);
    spans[value].touch(end);
  };
  for (const Node &node : graph.nodes) {
    if (std::all_of(node.out.begin(), node.out.end(), is_computed_in_first_chunk)) continue;
    for (uint32_t value : node.in) {
      if (value != kNone && graph.values[value].early) lasts(value);
    }
  }
  for (const Io &output : graph.outputs) {
    if (graph.values[output.value].early) lasts(output.value);
  }
  for (const Io &output : graph.outputs) spans[output.value].touch(end);
  outlast_loops(graph, &spans);
  return spans;
}

bool same_shape_in_place(const Graph &graph, const Node &node, uint32_t from) {
  if (node.op == OpKind::kUnary || node.op == OpKind::kNorm) return true;
  if (node.op != OpKind::kBinary) return false;
  const AttrBinary &attr = std::get<AttrBinary>(node.attr);
  const uint32_t *strides = node.in[0] == from ? attr.a_stride : attr.b_stride;
  uint64_t total = 1;
  for (uint32_t i = attr.rank; i-- > 0;) {
    if (attr.dims[i] != 1 && strides[i] != total) return false;
    total *= attr.dims[i];
  }
  return total == graph.values[from].elems;
}

// The value whose buffer the node's output may take over: it dies here, is of the same pool and size, and is read in order.
uint32_t in_place_source(const Graph &graph, const Node &node, uint32_t index, const std::vector<Span> &spans) {
  if ((node.op != OpKind::kUnary && node.op != OpKind::kNorm && node.op != OpKind::kBinary) || node.out[0] == kNone) return kNone;
  const Value &to = graph.values[node.out[0]];
  if (node.op == OpKind::kBinary && node.in[0] == node.in[1]) return kNone;
  for (uint32_t value : node.in) {
    const Value &from = graph.values[value];
    if (from.kind == to.kind && from.elems == to.elems && spans[value].last == index && same_shape_in_place(graph, node, value))
      return value;
  }
  return kNone;
}

uint32_t padded(uint32_t elems) {
  return (elems + kPoolPad - 1) / kPoolPad * kPoolPad;
}

}  // namespace

MemoryPlan plan_memory(const Graph &graph) {
  MemoryPlan plan;
  std::vector<Span> spans = find_spans(graph);
  std::vector<uint32_t> owner(graph.values.size());
  for (uint32_t i = 0; i < owner.size(); ++i) owner[i] = i;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const uint32_t from = in_place_source(graph, graph.nodes[i], i, spans);
    if (from != kNone) owner[graph.nodes[i].out[0]] = owner[from];
  }
  for (uint32_t i = 0; i < owner.size(); ++i) {
    if (owner[i] != i) {
      spans[owner[i]].touch(spans[i].first);
      spans[owner[i]].touch(spans[i].last);
    }
  }
  for (uint32_t i = 0; i < owner.size(); ++i) {
    const Value &value = graph.values[i];
    if (owner[i] != i || spans[i].first == kNone) continue;
    if (value.kind == ValueKind::kSequence) plan.sequence.push_back({i, padded(value.elems), spans[i].first, spans[i].last, 0});
    if (value.kind == ValueKind::kRow) plan.row.push_back({i, padded(value.elems), spans[i].first, spans[i].last, 0});
  }
  plan.sequence_bound = largest_live_set(plan.sequence);
  plan.row_bound = largest_live_set(plan.row);
  plan.sequence_elems = place_lifetimes(&plan.sequence);
  plan.row_elems = place_lifetimes(&plan.row);
  plan.offset.assign(graph.values.size(), kNone);
  for (const auto *map : {&plan.sequence, &plan.row}) {
    for (const Lifetime &l : *map) plan.offset[l.value] = l.offset;
  }
  for (uint32_t i = 0; i < owner.size(); ++i) plan.offset[i] = plan.offset[owner[i]];
  return plan;
}

}  // namespace rnnp::compiler
