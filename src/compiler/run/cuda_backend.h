// cuda_backend.h -- a model's calls on this machine's GPU, for commands that run models: `rnnpack run --cuda`.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_CUDA_BACKEND_H_
#define RNNPACK_COMPILER_RUN_CUDA_BACKEND_H_

#include <memory>
#include <string>

#include "compiler/run/runner.h"

namespace rnnp::compiler {

// weights: f32, f16 or bf16, as options.weights of cuda.h. The runner outlives the backend. Throws IoError with what is missing:
// the CUDA library in this tool, a GPU or its driver, a kernel for a node.
std::unique_ptr<Backend> make_cuda_backend(const Runner &runner, const std::string &weights);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_CUDA_BACKEND_H_
