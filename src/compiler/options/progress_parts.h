// progress_parts.h -- how far a command is over all of its parts, each of which knows how far itself is alone.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_PROGRESS_PARTS_H_
#define RNNPACK_COMPILER_OPTIONS_PROGRESS_PARTS_H_

#include "compiler/eval/progress.h"

namespace rnnp::compiler {

class ProgressParts {
 public:
  // `parts`: how many of them `next` is called for. Nothing is told where `tell` is empty.
  ProgressParts(Progress tell, size_t parts);
  // Of the next part; these must outlive it.
  Progress next();

 private:
  void say(size_t percent_of_parts);

  const Progress tell_;
  const size_t parts_;
  size_t begun_ = 0, said_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_PROGRESS_PARTS_H_
