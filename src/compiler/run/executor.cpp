// executor.cpp -- Contract: executor.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/executor.h"

#include "compiler/onnx/errors.h"
#include "rnnpack/threads.h"

namespace rnnp::compiler {

Executor::Executor(uint32_t threads) : memory_(RNNP_THREADS_BYTES(threads), 64) {
  if (rnnp_threads_start(&executor_, threads, nullptr, memory_.data(), memory_.size()) != RNNP_OK)
    throw IoError("cannot make " + std::to_string(threads) + " threads");
}

Executor::~Executor() {
  rnnp_threads_stop(&executor_);
}

std::unique_ptr<Executor> make_executor(uint32_t threads) {
  if (threads <= 1) return nullptr;
  return std::make_unique<Executor>(threads);
}

}  // namespace rnnp::compiler
