// form_loops.cpp -- Contract: form_loops.h. A state ties what reads it to what writes it; the strongly connected parts of the graph
// with these ties are the loops (Tarjan, Depth-first search and linear graph algorithms, 1972).
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/form_loops.h"

#include <algorithm>
#include <queue>
#include <set>

#include "compiler/ir/passes.h"

namespace rnnp::compiler {
namespace {

using Edges = std::vector<std::vector<uint32_t>>;

bool is_read(const Node &node) {
  return node.op == OpKind::kStateRead;
}
bool is_write(const Node &node) {
  return node.op == OpKind::kStateWrite;
}

// From each node to those that need it: it makes what they read, or they are of the same state.
Edges edges_of(const Graph &graph) {
  std::vector<std::vector<uint32_t>> makers(graph.values.size()), of_state(graph.states.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    for (const uint32_t v : node.out) {
      if (v != kNone) makers[v].push_back(i);
    }
    if (is_read(node) || is_write(node)) of_state[std::get<StateRef>(node.attr).state].push_back(i);
  }
  Edges edges(graph.nodes.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const uint32_t v : graph.nodes[i].in) {
      if (v == kNone) continue;
      for (const uint32_t maker : makers[v]) edges[maker].push_back(i);
    }
  }
  for (const std::vector<uint32_t> &tied : of_state) {
    for (size_t k = 0; k < tied.size(); ++k) edges[tied[k]].push_back(tied[(k + 1) % tied.size()]);
  }
  return edges;
}

// For each node the number of its part.
class Parts {
 public:
  explicit Parts(const Edges &edges) : edges_(edges), part_(edges.size(), kNone), found_(edges.size(), 0), low_(edges.size(), 0) {
    for (uint32_t i = 0; i < edges.size(); ++i) {
      if (found_[i] == 0) search(i);
    }
  }

  uint32_t of(uint32_t node) const { return part_[node]; }
  uint32_t count() const { return count_; }

 private:
  struct Visit {
    uint32_t node;
    size_t next;
  };

  void enter(uint32_t node) {
    found_[node] = low_[node] = ++clock_;
    open_.push_back(node);
    visits_.push_back({node, 0});
  }

  void search(uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      const uint32_t node = visits_.back().node;
      if (visits_.back().next < edges_[node].size()) {
        const uint32_t to = edges_[node][visits_.back().next++];
        if (found_[to] == 0)
          enter(to);
        else if (part_[to] == kNone)
          low_[node] = std::min(low_[node], found_[to]);
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) low_[visits_.back().node] = std::min(low_[visits_.back().node], low_[node]);
      if (low_[node] == found_[node]) close(node);
    }
  }

  void close(uint32_t node) {
    uint32_t member = kNone;
    while (member != node) {
      member = open_.back();
      open_.pop_back();
      part_[member] = count_;
    }
    ++count_;
  }

  const Edges &edges_;
  std::vector<uint32_t> part_, found_, low_, open_;
  std::vector<Visit> visits_;
  uint32_t clock_ = 0, count_ = 0;
};

// The parts in an order in which each comes behind those that it needs: of those that may come next the one whose first node does.
std::vector<uint32_t> in_order(const Edges &edges, const Parts &parts, const std::vector<std::vector<uint32_t>> &members) {
  std::vector<uint32_t> needs(members.size(), 0);
  const auto for_each_edge = [&](uint32_t part, const auto &each) {
    for (const uint32_t node : members[part]) {
      for (const uint32_t to : edges[node]) {
        if (parts.of(to) != part) each(parts.of(to));
      }
    }
  };
  for (uint32_t part = 0; part < members.size(); ++part) for_each_edge(part, [&](uint32_t to) { ++needs[to]; });
  const auto later = [&](uint32_t a, uint32_t b) { return members[a][0] > members[b][0]; };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(later)> next(later);
  for (uint32_t part = 0; part < members.size(); ++part) {
    if (needs[part] == 0) next.push(part);
  }
  std::vector<uint32_t> order;
  while (!next.empty()) {
    const uint32_t part = next.top();
    next.pop();
    order.push_back(part);
    for_each_edge(part, [&](uint32_t to) {
      if (--needs[to] == 0) next.push(to);
    });
  }
  return order;
}

// Why a node of a loop cannot run one step before the next one is known; nullptr: it can. made: the loop's results.
const char *no_step_alone(const Graph &graph, const Node &node, const std::set<uint32_t> &made) {
  if (const char *why = reads_later_steps(node)) return why;
  const auto is_made_at_the_end = [&](uint32_t v) { return made.count(v) != 0 && !graph.values[v].sequence; };
  return std::any_of(node.in.begin(), node.in.end(), is_made_at_the_end) ? "it uses in every step what is known when the run ends"
                                                                         : nullptr;
}

// States that nothing reads any more.
void drop_unread_states(Graph *graph) {
  std::vector<uint32_t> place(graph->states.size(), kNone);
  for (const Node &node : graph->nodes) {
    if (is_read(node)) place[std::get<StateRef>(node.attr).state] = 0;
  }
  std::vector<PersistentState> states;
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] == kNone) continue;
    place[i] = static_cast<uint32_t>(states.size());
    states.push_back(std::move(graph->states[i]));
  }
  graph->states = std::move(states);
  for (Node &node : graph->nodes) {
    if (is_read(node) || is_write(node)) std::get<StateRef>(node.attr).state = place[std::get<StateRef>(node.attr).state];
  }
}

}  // namespace

void form_loops(Graph *graph) {
  drop_unread_states(graph);
  if (graph->states.empty()) return;
  const bool of_caller =
      std::any_of(graph->states.begin(), graph->states.end(), [](const PersistentState &state) { return state.of_caller; });
  if (of_caller && !graph->causal) {
    graph->no_state = graph->looks_ahead;
    return;
  }
  if (of_caller && graph->stream_steps <= 1) return;
  const Edges edges = edges_of(*graph);
  const Parts parts(edges);
  std::vector<std::vector<uint32_t>> members(parts.count());
  for (uint32_t i = 0; i < graph->nodes.size(); ++i) members[parts.of(i)].push_back(i);
  const std::vector<uint32_t> order = in_order(edges, parts, members);
  for (const uint32_t part : order) {
    std::vector<uint32_t> &loop = members[part];
    const auto node_of = [&](uint32_t i) -> const Node & { return graph->nodes[i]; };
    const auto rank = [&](uint32_t i) { return is_read(node_of(i)) ? 0 : is_write(node_of(i)) ? 2 : 1; };
    std::stable_sort(loop.begin(), loop.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
    if (!is_read(node_of(loop[0]))) continue;
    std::set<uint32_t> made;
    for (const uint32_t i : loop) made.insert(node_of(i).out.begin(), node_of(i).out.end());
    made.erase(kNone);
    for (const uint32_t i : loop) {
      const char *why = no_step_alone(*graph, node_of(i), made);
      if (why != nullptr) graph->no_state = "node '" + node_of(i).name + "': " + why;
    }
  }
  if (!graph->no_state.empty()) return;
  std::vector<Node> nodes;
  for (const uint32_t part : order) {
    const std::vector<uint32_t> &loop = members[part];
    const size_t head = nodes.size();
    for (const uint32_t i : loop) nodes.push_back(std::move(graph->nodes[i]));
    if (is_read(nodes[head])) std::get<StateRef>(nodes[head].attr).loop_nodes = static_cast<uint32_t>(loop.size());
  }
  graph->nodes = std::move(nodes);
}

}  // namespace rnnp::compiler
