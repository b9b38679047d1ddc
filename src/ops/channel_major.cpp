// channel_major.cpp -- Contract: channel_major.h. Marks are taken away until every node agrees with its operands'.
// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_major.h"

namespace rnnp {
namespace {

// Passes forth and back; a chain takes two. Where they do not settle everything stays in rows.
constexpr int kMostPasses = 8;

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

bool mark_channel_major(const OpChoice &choice, const NodeSlot *rows, NodeSlot *nodes, uint8_t *marks) {
  const Model &m = *choice.model;
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

}  // namespace rnnp
