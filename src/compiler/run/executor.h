// executor.h -- threads for the tool.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_EXECUTOR_H_
#define RNNPACK_COMPILER_RUN_EXECUTOR_H_

#include <memory>

#include "compiler/files/files.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

class Executor {
 public:
  // Throws IoError when the threads cannot be made.
  explicit Executor(uint32_t threads);
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;
  ~Executor();
  const rnnp_executor *get() const { return &executor_; }

 private:
  AlignedBytes memory_;
  rnnp_executor executor_ = RNNP_EXECUTOR_INIT;
};

// nullptr for one thread.
std::unique_ptr<Executor> make_executor(uint32_t threads);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_EXECUTOR_H_
