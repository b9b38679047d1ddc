// inspect.h -- what `rnnpack inspect` shows of a blob.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_INSPECT_H_
#define RNNPACK_COMPILER_INSPECT_INSPECT_H_

#include <string>

#include "compiler/inspect/plan_machine.h"
#include "compiler/options/model_options.h"

namespace rnnp::compiler {

// What its command line says.
struct InspectRequest {
  std::string device, blob, onnx, prune, svg, cuda, cuda_weights = "f32";
  double mhz = 0;
  bool json = false, memory = false, plan = false;
  PlanMachine machine;
  ModelOptions graph;
};

// The text to print. Writes the picture that the request asks for.
std::string inspect(const InspectRequest &request);

// What `device` and `cuda` may be, with commas.
std::string device_names();
std::string cuda_device_names();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_INSPECT_H_
