// compile.cpp -- Contract: compile.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include "compiler/emit/write_blob.h"
#include "compiler/import/import.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

Compiled compile_model(const OnnxModel &model, const std::string &target) {
  const uint32_t nr = target_nr(target);
  if (nr == 0) throw UsageError("unknown target " + quote(target) + "; accepted: " + target_names());
  Compiled out;
  out.graph = import_model(model);
  run_passes(&out.graph);
  out.blob = write_blob(out.graph, nr);
  return out;
}

}  // namespace rnnp::compiler
