// model_id.cpp -- FNV-1a 64 over the canonical graph, before packing. Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "compiler/ir/passes.h"

namespace rnnp::compiler {
namespace {

class Hash {
 public:
  uint64_t value() const { return hash_; }
  void bytes(const void *data, size_t count) {
    const auto *p = static_cast<const unsigned char *>(data);
    for (size_t i = 0; i < count; ++i) hash_ = (hash_ ^ p[i]) * 0x100000001b3u;
  }
  void number(uint32_t v) { bytes(&v, sizeof v); }
  void text(const std::string &s) {
    number(static_cast<uint32_t>(s.size()));
    bytes(s.data(), s.size());
  }
  template <typename T>
  void list(const std::vector<T> &v) {
    number(static_cast<uint32_t>(v.size()));
    bytes(v.data(), v.size() * sizeof(T));
  }
  void act(const BlobActivation &a) { bytes(&a, sizeof a); }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

struct AttrHash {
  Hash &h;
  void operator()(const Recurrent &r) const {
    for (uint32_t v :
         {static_cast<uint32_t>(r.cell), r.input_size, r.hidden_size, uint32_t{r.input_forget} | uint32_t{r.masked} << 1})
      h.number(v);
    h.bytes(&r.clip, sizeof r.clip);
    h.number(static_cast<uint32_t>(r.directions.size()));
    for (const Direction &d : r.directions) {
      for (const auto *v : {&d.w, &d.r, &d.bias, &d.r_bias, &d.peephole, &d.init_h.data, &d.init_c.data}) h.list(*v);
      for (const BlobActivation &a : d.act) h.act(a);
      if (r.cell == Cell::kLstmNorm) norms(r, d.norms);
      h.number(d.reverse);
      place(d.given_h, 0);
      place(d.given_c, 1);
      if (d.init_h.per_row || d.init_c.per_row) h.number(uint32_t{d.init_h.per_row} + 2 * uint32_t{d.init_c.per_row});
    }
  }
  void norms(const Recurrent &r, const CellNorms &n) const {
    h.number(uint32_t{r.norm_by_gate} + 2 * uint32_t{r.keeps_c});
    for (const auto *v : {&n.x_scale, &n.h_scale, &n.bias, &n.c_scale, &n.c_bias}) h.list(*v);
    h.bytes(n.epsilons, sizeof n.epsilons);
  }
  void operator()(const FeatureRecurrent &r) const {
    (*this)(r.layer);
    h.number(r.steps);
    h.number(r.rows);
  }
  void operator()(const Dense &d) const {
    for (uint32_t v : {d.input_size, d.output_size, d.groups, d.matrices}) h.number(v);
    h.list(d.w);
    h.list(d.bias);
    h.act(d.act);
  }
  // A whole state adds nothing.
  void place(const BlobStrided &at, uint32_t which) const {
    if (at.first == 0 && at.stride == 1) return;
    for (uint32_t v : {which, at.first, at.stride}) h.number(v);
  }
  void operator()(const StateRef &a) const { h.number(a.state); }
  void operator()(const AttrUnary &a) const { h.act(a.act); }
  void operator()(const Norm &n) const {
    for (uint32_t v : {n.outer, n.elems, uint32_t{n.centred}, uint32_t{n.per_outer}}) h.number(v);
    h.bytes(&n.epsilon, sizeof n.epsilon);
    h.list(n.scale);
    h.list(n.bias);
  }
  void operator()(const Gather &g) const {
    for (uint32_t v : {g.rows, g.elems, g.count}) h.number(v);
    h.list(g.table);
  }
  void operator()(const Conv &c) const {
    h.bytes(&c.shape, sizeof c.shape);
    h.list(c.w);
    h.list(c.bias);
  }
  template <typename Plain>
  void operator()(const Plain &a) const {
    h.bytes(&a, sizeof a);
  }
};

}  // namespace

uint64_t model_id(const Graph &graph) {
  Hash h;
  for (const Value &value : graph.values) {
    for (uint32_t v :
         {static_cast<uint32_t>(value.kind), static_cast<uint32_t>(value.dtype), value.elems, uint32_t{value.sequence}})
      h.number(v);
    h.list(value.f32);
    h.list(value.i32);
  }
  for (const Node &node : graph.nodes) {
    h.number(static_cast<uint32_t>(node.op));
    h.list(node.in);
    h.list(node.out);
    std::visit(AttrHash{h}, node.attr);
  }
  for (const auto *list : {&graph.inputs, &graph.outputs}) {
    for (const Io &io : *list) {
      h.text(io.name);
      h.number(io.value);
      h.number(io.role);
      h.list(io.dims);
    }
  }
  for (const PersistentState &state : graph.states) {
    h.number(state.elems);
    if (!state.init.empty()) h.list(state.init);
  }
  h.number(graph.fixed_batch);
  return h.value();
}

}  // namespace rnnp::compiler
