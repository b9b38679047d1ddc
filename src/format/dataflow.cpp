// dataflow.cpp -- Contract: dataflow.h. Finds each value's first and last node, then goes through the nodes once and keeps the set
// of values that live, in the order of their places: since members never overlap, a new one can only overlap its neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "format/dataflow.h"

#include "format/index_set.h"
#include "format/loop_nodes.h"

namespace rnnp {
namespace {

constexpr uint16_t kNever = 0xffff;
static_assert(kBlobMaxNodes < kNever && kBlobMaxValues <= IndexSet::kMost && kBlobMaxValues <= kNever, "kept as 16 bits");
static_assert(kBlobMaxStates <= IndexSet::kMost, "one set holds them");

struct Span {
  uint16_t first, last;
  void touch(uint32_t node) {
    if (first == kNever || node < first) first = static_cast<uint16_t>(node);
    if (last == kNever || node > last) last = static_cast<uint16_t>(node);
  }
};

struct Memory {
  Span *spans;               // [values]
  uint16_t *at_rank;         // [values] by pool and place
  uint16_t *rank;            // [values] its inverse
  uint16_t *owner;           // [values] the first value in the memory that this one takes over; itself where it takes none
  uint32_t *live, *written;  // sets of ranks, of values
  uint32_t *owned, *kept;    // sets of states
};

uint32_t half_words(const Model &m) {
  return m.values.count / 2 + 1;
}

uint16_t *halves(uint32_t *words) {
  return view_as<uint16_t>(static_cast<void *>(words));
}

Memory lay_out(const Model &m, void *memory) {
  const uint32_t set = IndexSet::words(m.values.count), half = half_words(m);
  uint32_t *const at_rank = view_as<uint32_t>(memory) + m.values.count, *const live = at_rank + 3 * half;
  uint32_t *const owned = live + 2 * set, *const kept = owned + IndexSet::words(m.states.count);
  return {
      view_as<Span>(memory), halves(at_rank), halves(at_rank + half), halves(at_rank + 2 * half), live, live + set, owned, kept};
}

class Flow {
 public:
  Flow(const Model &m, const Memory &memory)
      : m_(m),
        memory_(memory),
        live_(memory.live, m.values.count),
        written_(memory.written, m.values.count),
        owned_(memory.owned, m.states.count),
        kept_(memory.kept, m.states.count) {}

  bool fits() {
    if (!outputs_differ() || !states_fit() || !loops_fit()) return false;
    find_spans();
    find_owners();
    sort_by_place();
    loop_ = {kNever, kNever};
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      if (!readiness_fits(m_.nodes[i]) || !node_fits(i)) return refuse(i);
    }
    for (uint32_t i = 0; i < m_.outputs.count; ++i) {
      if (!written_.has(m_.outputs[i].value)) return false;
    }
    return true;
  }

  uint32_t refused() const { return refused_; }

 private:
  bool refuse(uint32_t node) {
    refused_ = node;
    return false;
  }

  bool in_pool(uint32_t v) const { return v != kNone && m_.values[v].kind <= uint32_t(ValueKind::kRow); }
  bool is_row(uint32_t v) const { return v != kNone && ValueKind(m_.values[v].kind) == ValueKind::kRow; }
  bool is_computed_in_first_chunk(uint32_t v) const { return is_row(v) && m_.values[v].early != 0; }
  bool is_late(uint32_t v) const { return is_row(v) && m_.values[v].early == 0; }
  bool is_sequence(uint32_t v) const { return v != kNone && m_.values[v].sequence != 0; }

  // All that a node names: its operands, then its results.
  uint32_t arg_count(const BlobNode &n) const { return n.input_count + n.output_count; }
  uint32_t arg(const BlobNode &n, uint32_t i) const {
    return i < n.input_count ? m_.node_input(n, i) : m_.node_output(n, i - n.input_count);
  }

  bool outputs_differ() {
    for (uint32_t i = 0; i < m_.outputs.count; ++i) {
      const uint32_t v = m_.outputs[i].value;
      if (live_.has(v)) return false;
      live_.add(v);
    }
    for (uint32_t i = 0; i < m_.outputs.count; ++i) live_.remove(m_.outputs[i].value);
    return true;
  }

  // --- States ----------------------------------------------------------------------------------------------------------------

  bool own(uint32_t state) {
    if (state == kNone) return true;
    if (state >= m_.states.count || owned_.has(state)) return false;
    owned_.add(state);
    return true;
  }

  static bool keeps_tensor(const BlobNode &n) {
    return n.op == uint32_t(OpKind::kStateRead) || n.op == uint32_t(OpKind::kStateWrite);
  }

  bool own_states_of(const BlobNode &n) {
    if (n.op == uint32_t(OpKind::kRecurrent)) {
      const AttrRecurrent *a = m_.attr<AttrRecurrent>(n);
      if (a == nullptr || a->direction_count > 2) return false;
      for (uint32_t d = 0; d < a->direction_count; ++d) {
        if (!own(a->direction[d].state_h)) return false;
        if (has_c(Cell(a->cell)) && !own(a->direction[d].state_c)) return false;
      }
    } else if (n.op == uint32_t(OpKind::kConv)) {
      const AttrConv *a = m_.attr<AttrConv>(n);
      return a != nullptr && own(a->state);
    } else if (n.op == uint32_t(OpKind::kTimeReduce)) {
      const AttrTimeReduce *a = m_.attr<AttrTimeReduce>(n);
      return a != nullptr && own(a->state);
    } else if (n.op == uint32_t(OpKind::kTimeStep)) {
      const AttrTimeStep *a = m_.attr<AttrTimeStep>(n);
      return a != nullptr && own(a->state);
    } else if (keeps_tensor(n)) {
      const AttrState *a = m_.attr<AttrState>(n);
      if (a == nullptr || a->state >= m_.states.count) return false;
      kept_.add(a->state);
    }
    return true;
  }

  bool states_fit() {
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      if (!own_states_of(m_.nodes[i])) return refuse(i);
    }
    for (uint32_t i = 0; i < m_.states.count; ++i) {
      if (owned_.has(i) && kept_.has(i)) return false;
    }
    return true;
  }

  // --- Loops -------------------------------------------------------------------------------------------------------------------

  // What reads or writes a state runs step by step: all in loops, or, where there are none, in a model of one step per chunk. A
  // causal model says so of both, for libraries that know no loops.
  bool loops_fit() {
    constexpr uint32_t kBoth = kBlobCausal | kBlobStepwise;
    const bool causal = (m_.header->flags & kBlobCausal) != 0, both = (m_.header->flags & kBoth) == kBoth;
    uint32_t end = 0, outside = kNone, loops = 0;
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      if (!keeps_tensor(m_.nodes[i])) continue;
      if (causal && !both) return refuse(i);
      const uint32_t count = loop_nodes(m_, m_.nodes[i]);
      if (count != 0) {
        ++loops;
        end = i + count;
      } else if (i >= end && outside == kNone) {
        outside = i;
      }
    }
    return outside == kNone || (both && loops == 0) || refuse(outside);
  }

  // Values that a loop and nodes beside it name live for all of the loop: its nodes run again for the next step.
  void outlast_loops() {
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      if (is_loop(i)) visit_loop(&Flow::outlast_loop);
    }
  }
  bool outlast_loop(uint32_t v) {
    Span &span = memory_.spans[v];
    if (span.first < loop_.first || span.last > loop_.last) {
      span.touch(loop_.first);
      span.touch(loop_.last);
    }
    return true;
  }

  // The node begins one: it is the present one from here on.
  bool is_loop(uint32_t index) {
    const uint32_t count = loop_nodes(m_, m_.nodes[index]);
    if (count != 0) loop_ = {static_cast<uint16_t>(index), static_cast<uint16_t>(index + count - 1)};
    return count != 0;
  }

  // each(v) of all in the pools that the present loop's nodes name; false where one says so.
  bool visit_loop(bool (Flow::*each)(uint32_t v)) {
    for (uint32_t i = loop_.first; i <= loop_.last; ++i) {
      const BlobNode &n = m_.nodes[i];
      for (uint32_t k = 0; k < arg_count(n); ++k) {
        if (in_pool(arg(n, k)) && !(this->*each)(arg(n, k))) return false;
      }
    }
    return true;
  }

  // --- Lifetimes ---------------------------------------------------------------------------------------------------------------

  bool is_step(const BlobNode &n) const {
    for (uint32_t i = 0; i < arg_count(n); ++i) {
      if (is_sequence(arg(n, i))) return true;
    }
    return false;
  }

  // A result that is not an early row.
  bool outlasts_first_chunk(const BlobNode &n) const {
    for (uint32_t i = 0; i < n.output_count; ++i) {
      const uint32_t v = m_.node_output(n, i);
      if (v != kNone && !is_computed_in_first_chunk(v)) return true;
    }
    return false;
  }

  void whole_run(uint32_t v) {
    memory_.spans[v].touch(0);
    memory_.spans[v].touch(m_.nodes.count);
  }

  void find_spans() {
    for (uint32_t v = 0; v < m_.values.count; ++v) memory_.spans[v] = {kNever, kNever};
    steps_ = {kNever, kNever};
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      const BlobNode &n = m_.nodes[i];
      for (uint32_t k = 0; k < arg_count(n); ++k) {
        if (in_pool(arg(n, k))) memory_.spans[arg(n, k)].touch(i);
      }
      if (is_step(n)) steps_.touch(i);
    }
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      const BlobNode &n = m_.nodes[i];
      const bool step = is_step(n), outlasts = outlasts_first_chunk(n);
      for (uint32_t k = 0; k < arg_count(n); ++k) {
        const uint32_t v = arg(n, k);
        if (step && is_row(v)) {
          memory_.spans[v].touch(steps_.first);
          memory_.spans[v].touch(steps_.last);
        }
        if (outlasts && k < n.input_count && is_computed_in_first_chunk(v)) whole_run(v);
      }
    }
    for (uint32_t i = 0; i < m_.outputs.count; ++i) {
      const uint32_t v = m_.outputs[i].value;
      if (is_computed_in_first_chunk(v)) whole_run(v);
      memory_.spans[v].touch(m_.nodes.count);
    }
    outlast_loops();
  }

  // In-place results live in one memory with their operands, for as long as any of them lives.
  void find_owners() {
    for (uint32_t v = 0; v < m_.values.count; ++v) memory_.owner[v] = static_cast<uint16_t>(v);
    for (uint32_t i = 0; i < m_.nodes.count; ++i) {
      const BlobNode &n = m_.nodes[i];
      const uint32_t y = m_.node_output(n, 0);
      for (uint32_t k = 0; k < n.input_count && y != kNone && !written_.has(y); ++k) {
        const uint32_t x = m_.node_input(n, k);
        if (!may_take(n, i, x)) continue;
        memory_.owner[y] = memory_.owner[x];
        break;
      }
      for (uint32_t k = 0; k < n.output_count; ++k) {
        if (m_.node_output(n, k) != kNone) written_.add(m_.node_output(n, k));
      }
    }
    for (uint32_t v = 0; v < m_.values.count; ++v) {
      written_.remove(v);
      if (memory_.owner[v] == v) continue;
      memory_.spans[memory_.owner[v]].touch(memory_.spans[v].first);
      memory_.spans[memory_.owner[v]].touch(memory_.spans[v].last);
    }
  }

  bool is_before(uint32_t a, uint32_t b) const {
    const BlobValue &x = m_.values[a], &y = m_.values[b];
    if (x.kind != y.kind) return x.kind < y.kind;
    return x.location != y.location ? x.location < y.location : a < b;
  }

  void sift_down(uint32_t i, uint32_t count) {
    uint16_t *heap = memory_.at_rank;
    for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
      if (child + 1 < count && is_before(heap[child], heap[child + 1])) ++child;
      if (!is_before(heap[i], heap[child])) return;
      swap(i, child);
    }
  }
  void swap(uint32_t a, uint32_t b) {
    const uint16_t kept = memory_.at_rank[a];
    memory_.at_rank[a] = memory_.at_rank[b];
    memory_.at_rank[b] = kept;
  }

  // A heap's sort: its work does not depend on what a blob makes it sort.
  void sort_by_place() {
    const uint32_t count = m_.values.count;
    for (uint32_t i = 0; i < count; ++i) memory_.at_rank[i] = static_cast<uint16_t>(i);
    for (uint32_t i = count / 2; i > 0; --i) sift_down(i - 1, count);
    for (uint32_t end = count; end > 1; --end) {
      swap(0, end - 1);
      sift_down(0, end - 1);
    }
    for (uint32_t i = 0; i < count; ++i) memory_.rank[memory_.at_rank[i]] = static_cast<uint16_t>(i);
  }

  // --- Nodes in order ------------------------------------------------------------------------------------------------------------

  // What a run of many chunks would read before it is made: rows of the last chunk in an earlier one, steps in the first.
  bool readiness_fits(const BlobNode &n) const {
    const bool recurrent = n.op == uint32_t(OpKind::kRecurrent), causal = (m_.header->flags & kBlobCausal) != 0;
    bool early = false, other = recurrent || n.output_count == 0;
    for (uint32_t i = 0; i < n.output_count; ++i) {
      const uint32_t v = m_.node_output(n, i);
      early = early || is_computed_in_first_chunk(v);
      other = other || is_sequence(v);
    }
    if (early && other) return false;
    for (uint32_t i = 0; i < n.input_count; ++i) {
      const uint32_t v = m_.node_input(n, i);
      if (early && (is_late(v) || is_sequence(v))) return false;
      if (causal && other && is_late(v)) return false;
    }
    return true;
  }

  // y's numbers in their order, each at its own place: element i of the result needs element i of this operand and no other.
  static bool reads_in_order(const AttrBinary &a, const uint32_t *stride, uint32_t elems) {
    uint64_t total = 1;
    for (uint32_t i = a.rank; i-- > 0;) {
      if (a.dims[i] != 1 && stride[i] != total) return false;
      total *= a.dims[i];
    }
    return total == elems;
  }

  // The operator may write over operand x, which nothing reads afterwards.
  bool may_take(const BlobNode &n, uint32_t index, uint32_t x) const {
    const uint32_t y = m_.node_output(n, 0);
    if (!in_pool(x) || y == kNone || x == y || memory_.spans[x].last != index || n.output_count != 1) return false;
    const BlobValue &from = m_.values[x], &to = m_.values[y];
    if (from.kind != to.kind || from.location != to.location || from.row_elems != to.row_elems) return false;
    if (n.op == uint32_t(OpKind::kUnary) || n.op == uint32_t(OpKind::kNorm)) return true;
    const AttrBinary *a = n.op == uint32_t(OpKind::kBinary) ? m_.attr<AttrBinary>(n) : nullptr;
    if (a == nullptr || a->rank > kBlobMaxRank) return false;
    return (m_.node_input(n, 0) != x || reads_in_order(*a, a->a_stride, from.row_elems)) &&
           (m_.node_input(n, 1) != x || reads_in_order(*a, a->b_stride, from.row_elems));
  }

  bool overlap(uint32_t below, uint32_t above) const {
    const BlobValue &a = m_.values[below], &b = m_.values[above];
    return a.kind == b.kind && uint64_t{a.location} + a.row_elems > b.location;
  }

  // The memory that v lives in comes to life, unless it lives already; false when another value has a part of it.
  bool begin(uint32_t v) {
    v = memory_.owner[v];
    const uint32_t rank = memory_.rank[v];
    if (live_.has(rank)) return true;
    const uint32_t below = live_.previous(rank), above = live_.next(rank);
    if (below != kNone && overlap(memory_.at_rank[below], v)) return false;
    if (above != kNone && overlap(v, memory_.at_rank[above])) return false;
    live_.add(rank);
    return true;
  }
  void end_at(uint32_t v, uint32_t node) {
    v = memory_.owner[v];
    if (memory_.spans[v].last == node) live_.remove(memory_.rank[v]);
  }

  // Values whose life begins or ends beside the nodes that name them: rows that outlast a chunk.
  bool begin_all(uint32_t node) {
    for (uint32_t v = 0; v < m_.values.count; ++v) {
      if (is_row(v) && memory_.owner[v] == v && memory_.spans[v].first == node && !begin(v)) return false;
    }
    return true;
  }
  void end_all(uint32_t node) {
    for (uint32_t v = 0; v < m_.values.count; ++v) {
      if (is_row(v)) end_at(v, node);
    }
  }

  bool reads_fit(const BlobNode &n) const {
    for (uint32_t i = 0; i < n.input_count; ++i) {
      const uint32_t x = m_.node_input(n, i);
      if (!in_pool(x)) continue;
      if (!written_.has(x)) return false;
      for (uint32_t k = 0; k < n.output_count; ++k) {
        if (m_.node_output(n, k) == x) return false;
      }
    }
    for (uint32_t i = 0; i < n.output_count; ++i) {
      for (uint32_t k = 0; k < i; ++k) {
        if (m_.node_output(n, i) != kNone && m_.node_output(n, i) == m_.node_output(n, k)) return false;
      }
    }
    return true;
  }

  // What leaves a loop comes to life before it, and what it read from outside ends behind it.
  bool begin_with_loop(uint32_t v) { return memory_.spans[memory_.owner[v]].first != loop_.first || begin(v); }
  bool end_with_loop(uint32_t v) {
    end_at(v, loop_.last);
    written_.add(v);
    return true;
  }
  // Rows that a loop makes are known when its last step has run: none of its nodes reads them.
  bool is_known_behind(uint32_t y, uint32_t index) const { return is_row(y) && index >= loop_.first && index < loop_.last; }

  bool node_fits(uint32_t index) {
    const BlobNode &n = m_.nodes[index];
    if (!reads_fit(n)) return false;
    if ((index == 0 || index == steps_.first) && !begin_all(index)) return false;
    if (is_loop(index) && !visit_loop(&Flow::begin_with_loop)) return false;
    for (uint32_t i = 0; i < n.output_count; ++i) {
      const uint32_t y = m_.node_output(n, i);
      if (y == kNone) continue;
      if (!begin(y)) return false;
      if (!is_known_behind(y, index)) written_.add(y);
    }
    for (uint32_t i = 0; i < arg_count(n); ++i) {
      if (in_pool(arg(n, i))) end_at(arg(n, i), index);
    }
    if (index == loop_.last) visit_loop(&Flow::end_with_loop);
    if (index == steps_.last) end_all(index);
    return true;
  }

  const Model &m_;
  const Memory memory_;
  IndexSet live_;  // ranks
  IndexSet written_;
  IndexSet owned_, kept_;
  uint32_t refused_ = kNone;
  Span steps_ = {};               // the nodes that run for every chunk
  Span loop_ = {kNever, kNever};  // the present loop, or the last one
};

}  // namespace

size_t dataflow_bytes(const Model &m) {
  const size_t sets = size_t{2} * (IndexSet::words(m.values.count) + IndexSet::words(m.states.count));
  return (m.values.count + size_t{3} * half_words(m) + sets) * sizeof(uint32_t);
}

bool dataflow_fits(const Model &m, void *memory, uint32_t *node) {
  Flow flow(m, lay_out(m, memory));
  const bool fits = flow.fits();
  *node = flow.refused();
  return fits;
}

const BlobCheck rnnp_check_dataflow = {dataflow_bytes, dataflow_fits};

}  // namespace rnnp
