// executor.h -- threads for the tool: a pthreadpool where the library was built with one, else plain threads.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_EXECUTOR_H_
#define RNNPACK_COMPILER_CLI_EXECUTOR_H_

#include <memory>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

class Executor {
 public:
  virtual ~Executor() = default;
  const rnnp_executor *get() const { return &executor_; }

 protected:
  rnnp_executor executor_ = RNNP_EXECUTOR_INIT;
};

// nullptr for one thread. Throws IoError when the threads cannot be made.
std::unique_ptr<Executor> make_executor(uint32_t threads);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_EXECUTOR_H_
