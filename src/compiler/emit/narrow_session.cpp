// narrow_session.cpp -- Contract: narrow_session.h. The walk that lays sessions out measures with the sizes that structures have
// there (RNNPACK_BYTES_32), which 32-bit builds of the library check.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/narrow_session.h"

#include "compiler/onnx/problem.h"
#include "runtime/prepare.h"

namespace rnnp::compiler {

size_t narrow_session_bytes(const rnnp_model &model, const rnnp_session_options &options, bool one_thread) {
  Model m;
  SessionConfig config;
  rnnp::Refusal refusal;
  rnnp_status status = prepare_session(&rnnp_default_registry, &model, &options, &m, &config, &refusal);
  config.machine = {true, one_thread};
  if (status == RNNP_OK) status = measure_session(&config, &refusal);
  if (status != RNNP_OK) throw ModelError(std::string("the library cannot run this blob: ") + rnnp_status_string(status));
  return config.session_bytes;
}

}  // namespace rnnp::compiler
