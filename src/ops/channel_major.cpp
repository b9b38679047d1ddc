// channel_major.cpp -- Contract: channel_major.h. Marks are taken away until every node agrees with its operands'.
// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_major.h"

namespace rnnp {
namespace {

// Passes forth and back; a chain takes two. Where they do not settle everything stays in rows.
constexpr int kMostPasses = 8;

// Of a value, while nodes are joined; after that the first is left.
constexpr uint8_t kMarked = 1, kRead = 2, kReadTwice = 4, kHandedOut = 8;

struct Marks {
  const OpChoice &choice;
  const Model &m;
  const NodeSlot *rows, *nodes;
  uint8_t *marks;
  bool changed;

  bool is_wide(uint32_t value) const { return m.values[value].row_elems > 1; }

  // Of one element a value lies in both ways.
  void clear(uint32_t value) {
    if (value == kNone || marks[value] == 0 || !is_wide(value)) return;
    marks[value] = 0;
    changed = true;
  }

  bool takes_channel_major(uint32_t node) const {
    const Op *op = rows[node].op;
    return op->takes_channel_major != nullptr && op->takes_channel_major(choice, m.nodes[node]);
  }

  bool all_marked(const BlobNode &n) const {
    bool all = marks[m.node_output(n, 0)] != 0;
    for (uint32_t i = 0; i < n.input_count; ++i) {
      const uint32_t x = m.node_input(n, i);
      all = all && (marks[x] != 0 || is_const(m, x));
    }
    return all;
  }

  void visit(uint32_t node) {
    const BlobNode &n = m.nodes[node];
    bool keep = false;
    if (nodes[node].op != nullptr) {
      keep = marks[m.node_output(n, 0)] != 0;
    } else if (takes_channel_major(node)) {
      keep = all_marked(n);
    }
    if (keep) return;
    for (uint32_t i = 0; i < n.input_count; ++i) clear(m.node_input(n, i));
    for (uint32_t i = 0; i < n.output_count; ++i) clear(m.node_output(n, i));
  }

  bool settle() {
    const uint32_t count = m.nodes.count;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      changed = false;
      for (uint32_t i = 0; i < count; ++i) visit(pass % 2 == 0 ? i : count - 1 - i);
      if (!changed) return true;
    }
    return false;
  }
};

void mark_all(const Model &m, uint8_t *marks) {
  for (uint32_t i = 0; i < m.values.count; ++i) {
    const BlobValue &v = m.values[i];
    marks[i] = v.sequence && v.dtype == uint32_t(DType::kF32) && (v.row_elems == 1 || ValueKind(v.kind) == ValueKind::kSequence);
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) {
    if (m.values[m.outputs[i].value].row_elems > 1) marks[m.outputs[i].value] = 0;
  }
}

}  // namespace

bool mark_channel_major(const OpChoice &choice, const ChannelMajorNodes &of) {
  const Model &m = *choice.model;
  const NodeSlot *rows = of.rows;
  NodeSlot *nodes = of.apart;
  uint8_t *marks = of.marks;
  const Kernel *kernel = find_kernel(*choice.kernels, KernelFamily::kConvNchw, DType::kF32, 0, choice.isa);
  if (kernel == nullptr || kernel->isa == 0) return false;  // no vectors
  mark_all(m, marks);
  Marks all = {choice, m, rows, nodes, marks, false};
  if (!all.settle()) return false;
  bool any = false;
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    bool runs = false;
    if (nodes[i].op != nullptr) {
      const uint32_t x = m.node_input(m.nodes[i], 0), y = m.node_output(m.nodes[i], 0);
      runs = marks[y] != 0 && (all.is_wide(y) || marks[x] != 0);
    }
    if (!runs) nodes[i] = rows[i];
    any = any || runs;
  }
  return any;
}

namespace {

// The nodes behind a convolution, one after the other, as long as they fit.
struct Joining {
  const Model &m;
  const ChannelMajorNodes &nodes;
  const Op *op;
  JoinedNodes j;
  uint32_t next;

  const BlobNode *at(uint32_t node, OpKind kind) const {
    const bool is =
        node < m.nodes.count && m.nodes[node].op == uint32_t(kind) && nodes.apart[node].op->takes_channel_major != nullptr;
    return is ? &m.nodes[node] : nullptr;
  }
  bool is_marked(uint32_t value) const { return (nodes.marks[value] & kMarked) != 0 && m.values[value].sequence; }

  // In a buffer of the session's; for one node alone.
  bool is_kept(uint32_t value) const {
    return ValueKind(m.values[value].kind) == ValueKind::kSequence && (nodes.marks[value] & kHandedOut) == 0;
  }
  bool is_inner(uint32_t value) const { return is_kept(value) && (nodes.marks[value] & (kRead | kReadTwice)) == kRead; }

  // What is added to `value` by a node; kNone: it does another thing.
  uint32_t added_by(uint32_t node, uint32_t value) const {
    const BlobNode *n = at(node, OpKind::kBinary);
    if (n == nullptr || m.attr<AttrBinary>(*n)->op != uint32_t(Binary::kAdd)) return kNone;
    const uint32_t a = m.node_input(*n, 0), b = m.node_input(*n, 1), y = m.node_output(*n, 0);
    const uint32_t other = a == value ? b : a;
    const bool alike =
        a != b && (a == value || b == value) && is_kept(y) && is_marked(y) && !is_const(m, other) && is_marked(other);
    return alike && m.values[other].row_elems == m.values[y].row_elems && m.values[y].row_elems == m.values[value].row_elems
               ? other
               : kNone;
  }

  // A convolution without activation whose result is all of a value.
  bool is_plain_conv(uint32_t node) const {
    const BlobNode *n = at(node, OpKind::kConv);
    if (n == nullptr || nodes.apart[node].op != op) return false;
    const AttrConv &a = *m.attr<AttrConv>(*n);
    const uint32_t y = m.node_output(*n, 0);
    return a.act.act == uint32_t(Act::kIdentity) && a.window.y_first == 0 && m.values[y].row_elems == a.out_channels && is_inner(y);
  }

  void take_sum() {
    const uint32_t y = m.node_output(m.nodes[next], 0);
    if (is_plain_conv(next)) {
      const AttrConv &a = *m.attr<AttrConv>(m.nodes[next]);
      if (a.time_taps != 1 || a.lead != 0 || added_by(next + 1, j.y) != y) return;
      j.second = next++;
    } else {
      j.add = added_by(next, j.y);
      if (j.add == kNone) return;
    }
    j.y = m.node_output(m.nodes[next++], 0);
  }

  void take_unary() {
    const BlobNode *n = at(next, OpKind::kUnary);
    if (n == nullptr || m.node_input(*n, 0) != j.y || !is_inner(j.y) || !is_kept(m.node_output(*n, 0))) return;
    if (m.attr<AttrUnary>(*n)->act.act > uint32_t(kLastKernelAct)) return;
    j.unary = next++;
    j.y = m.node_output(*n, 0);
  }

  void take_last_sum() {
    j.other = added_by(next, j.y);
    if (j.other != kNone) j.sum = m.node_output(m.nodes[next++], 0);
  }

  // y may be read by the sum and by this one alone, which then need not be written.
  void take_then() {
    if (!is_plain_conv(next) || m.node_input(m.nodes[next], 0) != j.y) return;
    const AttrConv &a = *m.attr<AttrConv>(m.nodes[next]);
    if (a.time_taps != 1 || a.lead != 0 || a.in_channels != m.values[j.y].row_elems) return;
    j.then_add = added_by(next + 1, m.node_output(m.nodes[next], 0));
    if (j.then_add == kNone) return;
    j.then = next;
    j.then_y = m.node_output(m.nodes[next + 1], 0);
    j.inner = count_readers(m, j.y) == 1u + (j.other != kNone);
    next += 2;
  }

  bool apart(uint32_t a, uint32_t b) const {
    const BlobValue &x = m.values[a], &y = m.values[b];
    if (x.kind != y.kind) return true;
    return uint64_t{x.location} + x.row_elems <= y.location || uint64_t{y.location} + y.row_elems <= x.location;
  }
  bool apart_or_same(uint32_t a, uint32_t b) const {
    return apart(a, b) || (m.values[a].location == m.values[b].location && m.values[a].row_elems == m.values[b].row_elems);
  }

  uint32_t x_of(uint32_t node) const { return node == kNone ? kNone : m.node_input(m.nodes[node], 0); }

  // Results are written while all of these are read; the last one when of its steps nothing but y and its sum is read any more.
  bool fit() const {
    const uint32_t results[] = {j.y, j.sum, j.then_y}, read[] = {x_of(next - j.count), x_of(j.second), j.then_add, j.add, j.other};
    for (uint32_t i = 0; i < 3; ++i) {
      for (uint32_t k = 0; k < 5; ++k) {
        if (!fits(results[i], read[k], i == 2 || k > 2)) return false;
      }
      if (i != 0 && !fits(results[i], results[i - 1], false)) return false;
    }
    return fits(j.then_y, j.y, false);
  }
  bool fits(uint32_t result, uint32_t other, bool may_be_same) const {
    return result == kNone || other == kNone || (may_be_same ? apart_or_same(result, other) : apart(result, other));
  }
};

// Which values one node reads, several do, or the caller.
void mark_readers(const Model &m, uint8_t *marks) {
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    for (uint32_t k = 0; k < m.nodes[i].input_count; ++k) {
      const uint32_t x = m.node_input(m.nodes[i], k);
      if (x != kNone) marks[x] = static_cast<uint8_t>(marks[x] | ((marks[x] & kRead) != 0 ? kReadTwice : kRead));
    }
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) marks[m.outputs[i].value] |= kHandedOut;
}

void clear_readers(const Model &m, uint8_t *marks) {
  for (uint32_t i = 0; i < m.values.count; ++i) marks[i] &= kMarked;
}

JoinedNodes joined_at(const Model &m, const ChannelMajorNodes &nodes, uint32_t first) {
  const JoinedNodes alone = {1, kNone, kNone, kNone, m.node_output(m.nodes[first], 0), kNone, kNone, kNone, kNone, kNone, 0};
  for (int parts = 4; parts > 0; --parts) {
    Joining all = {m, nodes, nodes.apart[first].op, alone, first + 1};
    if (!all.is_plain_conv(first)) return alone;
    all.take_sum();
    if (parts > 1) all.take_unary();
    if (parts > 2) all.take_last_sum();
    if (parts > 3) all.take_then();
    all.j.count = all.next - first;
    if (all.fit()) return all.j;
  }
  return alone;
}

}  // namespace

uint32_t count_readers(const Model &m, uint32_t value) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    for (uint32_t k = 0; k < m.nodes[i].input_count; ++k) count += m.node_input(m.nodes[i], k) == value;
  }
  return count;
}

void join_nodes(const OpChoice &choice, const ChannelMajorNodes &nodes, JoinFn join) {
  const Model &m = *choice.model;
  for (uint32_t i = 0; i < m.nodes.count; ++i) nodes.joined[i] = nodes.apart[i];
  mark_readers(m, nodes.marks);
  for (uint32_t i = 0; i < m.nodes.count;) {
    JoinedNodes j = {};
    j.count = 1;
    if (nodes.apart[i].op->channel_major != nullptr) j = joined_at(m, nodes, i);
    if (j.count > 1 && join(choice, j, nodes.apart, &nodes.joined[i])) {
      for (uint32_t k = 1; k < j.count; ++k) nodes.joined[i + k].op = nullptr;
    }
    i += j.count;
  }
  clear_readers(m, nodes.marks);
}

}  // namespace rnnp
