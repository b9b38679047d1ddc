// fuse_copies.cpp -- copies of copies become one, and a state lies in the order in which a step makes it.
// Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/one_copy.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/view.h"

namespace rnnp::compiler {
namespace {

const AttrCopy *copy_of(const Node &node) {
  return node.op == OpKind::kCopy ? &std::get<AttrCopy>(node.attr) : nullptr;
}

// The axes of a copy from the one along which x lies to the slowest, where together they are all of x, each element once.
std::optional<std::vector<CopyDim>> axes_of_whole(const AttrCopy &a, uint32_t x_elems) {
  std::vector<CopyDim> axes;
  for (uint32_t i = 0; i < a.rank; ++i) {
    if (a.dims[i] != 1) axes.push_back({a.dims[i], a.x_stride[i], a.y_stride[i]});
  }
  std::sort(axes.begin(), axes.end(), [](const CopyDim &x, const CopyDim &y) { return x.x_stride < y.x_stride; });
  int64_t elems = 1;
  for (const CopyDim &axis : axes) {
    if (axis.x_stride != elems) return std::nullopt;
    elems = times(elems, axis.size);
  }
  if (a.x_first != 0 || elems != x_elems) return std::nullopt;
  return axes;
}

// Where the elements that lie evenly within the first copy's result go by the second: runs of even steps.
class Through {
 public:
  explicit Through(std::vector<CopyDim> second) : axes_(std::move(second)), reach_(axes_.size(), 0) {}

  // The place of one element; what runs add to it must stay within each axis.
  int64_t place(int64_t at) {
    int64_t to = 0;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const int64_t index = at / axes_[i].x_stride % axes_[i].size;
      reach_[i] += index;
      to += index * axes_[i].y_stride;
    }
    return to;
  }

  // False where the run's elements do not lie evenly behind the second copy.
  bool run(int64_t size, int64_t x_stride, int64_t stride, std::vector<CopyDim> *out) {
    while (size > 1) {
      const auto axis = std::find_if(axes_.begin(), axes_.end(),
                                     [&](const CopyDim &a) { return stride >= a.x_stride && stride < a.x_stride * a.size; });
      if (axis == axes_.end() || stride % axis->x_stride != 0) return false;
      const int64_t step = stride / axis->x_stride, left = axis->size / step;
      int64_t count = size;
      if (size > left) {
        if (axis->size % step != 0 || size % left != 0) return false;
        count = left;
      }
      reach_[static_cast<size_t>(axis - axes_.begin())] += (count - 1) * step;
      out->push_back({count, x_stride, step * axis->y_stride});
      size /= count;
      x_stride = times(x_stride, count);
      stride = times(stride, count);
    }
    return true;
  }

  bool stays_within() const {
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (reach_[i] >= axes_[i].size) return false;
    }
    return true;
  }

 private:
  std::vector<CopyDim> axes_;
  std::vector<int64_t> reach_;  // the largest index of each axis
};

// One copy for what `first` moves and `second` moves on, whose x is the whole of first's y.
std::optional<AttrCopy> in_one(const AttrCopy &first, const AttrCopy &second, uint32_t between) {
  std::optional<std::vector<CopyDim>> axes = axes_of_whole(second, between);
  if (!axes) return std::nullopt;
  Through through(std::move(*axes));
  std::vector<CopyDim> dims;
  const int64_t y_first = through.place(first.y_first) + second.y_first;
  for (uint32_t i = 0; i < first.rank; ++i) {
    if (first.y_stride[i] <= 0 && first.dims[i] > 1) return std::nullopt;
    if (!through.run(first.dims[i], first.x_stride[i], first.y_stride[i], &dims)) return std::nullopt;
  }
  if (!through.stays_within()) return std::nullopt;
  return one_copy(std::move(dims), first.x_first, y_first);
}

// The copies that make up each value so far.
class Makers {
 public:
  explicit Makers(const Graph &graph) : graph_(graph) {}

  void add(const Node &node) {
    for (const uint32_t value : node.out) {
      if (value == kNone) continue;
      if (copy_of(node)) copies_[value].push_back(node);
      if (!copy_of(node)) others_.insert(value);
    }
  }

  // What stands in the place of a copy of copies: each of them going all the way; nothing where one cannot.
  std::vector<Node> straight(const Node &second) const {
    const uint32_t between = second.in[0];
    const auto made = copies_.find(between);
    if (made == copies_.end() || others_.count(between) != 0) return {};
    if (graph_.values[between].sequence != graph_.values[second.out[0]].sequence) return {};
    std::vector<Node> all;
    for (const Node &first : made->second) {
      const std::optional<AttrCopy> attr = in_one(*copy_of(first), *copy_of(second), graph_.values[between].elems);
      if (!attr) return {};
      all.push_back({OpKind::kCopy, first.name, first.in, second.out, *attr});
    }
    return all;
  }

 private:
  const Graph &graph_;
  std::map<uint32_t, std::vector<Node>> copies_;
  std::set<uint32_t> others_;  // values that another node writes
};

// --- States ------------------------------------------------------------------------------------------------------------------

struct TransposedState {
  size_t turn;                                       // the copy that turns the step's result into the state
  uint32_t made, read;                               // the result, and the state as a step reads it
  std::vector<std::pair<size_t, AttrCopy>> readers;  // copies of `read`, and what they are once it lies as `made` does
};

bool is_output(const Graph &graph, uint32_t value) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](const Io &io) { return io.value == value; });
}

std::optional<TransposedState> transposed_state(const Graph &graph, const Node &write) {
  const uint32_t state = std::get<StateRef>(write.attr).state;
  const auto read = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node &node) {
    return node.op == OpKind::kStateRead && std::get<StateRef>(node.attr).state == state;
  });
  const std::vector<size_t> copies = copies_that_make(graph, write.in[0]);
  if (read == graph.nodes.end() || !read->in.empty() || copies.size() != 1) return std::nullopt;
  const AttrCopy &turn = *copy_of(graph.nodes[copies[0]]);
  TransposedState found = {copies[0], graph.nodes[copies[0]].in[0], read->out[0], {}};
  const uint32_t elems = graph.values[found.read].elems;
  const bool whole = turn.y_first == 0 && axes_of_whole(turn, elems) && graph.values[write.in[0]].elems == elems;
  if (!whole || graph.values[found.made].elems != elems || !graph.values[found.made].sequence || is_output(graph, found.read))
    return std::nullopt;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node &node = graph.nodes[n];
    if (std::find(node.in.begin(), node.in.end(), found.read) == node.in.end()) continue;
    const std::optional<AttrCopy> attr = copy_of(node) ? in_one(turn, *copy_of(node), elems) : std::nullopt;
    if (!attr) return std::nullopt;
    found.readers.emplace_back(n, *attr);
  }
  return found;
}

// --- Copies that move nothing ------------------------------------------------------------------------------------------------

bool moves_nothing(const Graph &graph, const Node &node) {
  const AttrCopy *a = copy_of(node);
  if (!a) return false;
  const Value &x = graph.values[node.in[0]], &y = graph.values[node.out[0]];
  return a->rank == 1 && a->dims[0] == x.elems && a->dims[0] == y.elems && a->x_first == 0 && a->y_first == 0 &&
         a->x_stride[0] == 1 && a->y_stride[0] == 1 && x.kind == ValueKind::kSequence && y.kind == ValueKind::kSequence;
}

}  // namespace

std::vector<size_t> copies_that_make(const Graph &graph, uint32_t value) {
  std::vector<size_t> copies;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node &node = graph.nodes[n];
    if (std::find(node.out.begin(), node.out.end(), value) == node.out.end()) continue;
    if (!copy_of(node)) return {};
    copies.push_back(n);
  }
  return copies;
}

void fuse_copies(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  Makers makers(*graph);
  std::vector<Node> nodes;
  for (Node &node : graph->nodes) {
    std::vector<Node> straight;
    if (copy_of(node) && uses[node.in[0]] == 1) straight = makers.straight(node);
    if (straight.empty()) straight.push_back(std::move(node));
    for (Node &each : straight) {
      makers.add(each);
      nodes.push_back(std::move(each));
    }
  }
  graph->nodes = std::move(nodes);
  remove_dead(graph);
}

void transpose_states(Graph *graph) {
  for (Node &write : graph->nodes) {
    if (write.op != OpKind::kStateWrite) continue;
    const std::optional<TransposedState> transposed = transposed_state(*graph, write);
    if (!transposed) continue;
    write.in[0] = transposed->made;
    for (const auto &[n, attr] : transposed->readers) graph->nodes[n].attr = attr;
  }
  remove_dead(graph);
}

void drop_idle_copies(Graph *graph) {
  for (const Node &node : graph->nodes) {
    if (!moves_nothing(*graph, node) || is_output(*graph, node.out[0])) continue;
    const uint32_t from = node.in[0], to = node.out[0];
    for (Node &reader : graph->nodes) std::replace(reader.in.begin(), reader.in.end(), to, from);
  }
  remove_dead(graph);
}

}  // namespace rnnp::compiler
