// explain.cpp -- rnnp_session_explain: the words for a refusal. The refusal itself is prepare_session's. Touches the caller's
// struct and, for the checks that take memory, scratch. SPDX-License-Identifier: Apache-2.0
#include "runtime/prepare.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

const char *words_of(Reason reason) {
  switch (reason) {
#define RNNPACK_REASON(name, status, words) \
  case Reason::name:                        \
    return words;
    RNNPACK_REASONS(RNNPACK_REASON)
#undef RNNPACK_REASON
  }
  return "";
}

const char *op_name(const Model &m, const BlobNode &node) {
  const AttrRecurrent *a = OpKind(node.op) == OpKind::kRecurrent ? m.attr<AttrRecurrent>(node) : nullptr;
  if (a != nullptr && has_c(Cell(a->cell))) return "LSTM";
  if (a != nullptr && Cell(a->cell) == Cell::kRnn) return "RNN";
  switch (OpKind(node.op)) {
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) \
  case OpKind::kind:                                         \
    return name;
#include "format/ops.inc"
#undef RNNPACK_KIND
  }
  return "unknown";
}

}  // namespace

rnnp_refusal refusal_of(const Model &m, const Refusal &why, rnnp_status status) {
  rnnp_refusal r = RNNP_REFUSAL_INIT;
  r.status = status;
  r.node = why.node;
  r.needed = why.needed;
  r.node_name = r.op = "";
  r.reason = words_of(why.reason);
  if (why.node != kNone) {
    r.op = op_name(m, m.nodes[why.node]);
    r.node_name = m.string(m.nodes[why.node].name);
  }
  return r;
}

}  // namespace rnnp

rnnp_status rnnp_session_explain_with(const rnnp_registry *registry, const rnnp_model *model, const rnnp_session_options *options,
                                      void *scratch, size_t bytes, rnnp_refusal *refusal) {
  rnnp::Model m;
  rnnp::SessionConfig c;
  rnnp::Refusal why = {};
  rnnp_status status = rnnp::prepare_session(registry, model, options, &m, &c, &why);
  if (status == RNNP_OK && scratch != nullptr) status = rnnp::prepare_memory(c, scratch, bytes, &why);
  return rnnp::give_struct(rnnp::refusal_of(m, why, status), refusal) ? status : RNNP_E_ARG;
}
