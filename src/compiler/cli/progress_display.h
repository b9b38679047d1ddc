// progress_display.h -- how far a command is, on standard error: a bar for each part where a terminal watches, lines `progress:
// DONE of ALL` over all parts where a program asks for them (--progress), else nothing. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_PROGRESS_DISPLAY_H_
#define RNNPACK_COMPILER_CLI_PROGRESS_DISPLAY_H_

#include "compiler/progress.h"

namespace CLI {
class App;
}

namespace rnnp::compiler {

void add_progress_option(CLI::App *command, bool *lines);

class ProgressDisplay {
 public:
  // `parts`: how many of them `part` is called for.
  ProgressDisplay(bool lines, size_t parts);
  // The next part; `what` stands before its bar. The display must outlive it.
  Progress part(const char *what);

 private:
  void say(size_t percent_of_parts);

  const bool lines_, bar_;
  const size_t parts_;
  size_t begun_ = 0, said_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_PROGRESS_DISPLAY_H_
