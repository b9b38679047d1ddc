// cuda_plan_text.h -- `inspect --plan --cuda`: how the CUDA backend would run a blob's recurrent layers on a GPU, and why. The plan
// is the backend's own function (src/cuda/plan.h); its times are arithmetic. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_CUDA_PLAN_TEXT_H_
#define RNNPACK_COMPILER_INSPECT_CUDA_PLAN_TEXT_H_

#include <string>

#include "compiler/inspect/plan_text.h"

namespace rnnp::compiler {

// device: one of cuda_device_names, or a JSON file with members of rnnp_cuda_device. weights: f32, f16 or bf16.
struct CudaPlanOptions {
  const std::string &device, &weights;
};
// IoError where the device is neither.
std::string cuda_plan_text(const void *blob, size_t bytes, const CudaPlanOptions &options, const PlanMachine &machine);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_CUDA_PLAN_TEXT_H_
