// progress.h -- what long work calls as it goes on. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_PROGRESS_H_
#define RNNPACK_COMPILER_EVAL_PROGRESS_H_

#include <cstddef>
#include <functional>

namespace rnnp::compiler {

// Empty where nobody watches. `done` never falls, and ends at `all`.
using Progress = std::function<void(size_t done, size_t all)>;

inline void tell_whole(const Progress &progress) {
  if (progress) progress(1, 1);
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_PROGRESS_H_
