// refusal_text.cpp -- Contract: refusal_text.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/refusal_text.h"

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

void check(rnnp_status status, const std::string &what) {
  if (status != RNNP_OK) throw IoError(what + ": " + rnnp_status_string(status));
}

std::string refusal_text(const rnnp_model &model, const rnnp_session_options &options, void *mem, size_t bytes) {
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  if (rnnp_session_explain(&model, &options, mem, bytes, &refusal) == RNNP_OK) return "";
  std::string text = "the library cannot run this blob: ";
  if (refusal.node != RNNP_NO_NODE)
    text += "node " + std::to_string(refusal.node) + " (" + refusal.op + " " + quote(refusal.node_name) + "): ";
  text += refusal.reason;
  return refusal.needed != 0 ? text + " (" + std::to_string(refusal.needed) + ")" : text;
}

}  // namespace rnnp::compiler
