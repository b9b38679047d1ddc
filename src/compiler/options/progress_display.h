// progress_display.h -- how far a command is, on standard error: a bar for each part where a terminal watches, lines `progress:
// DONE of ALL` over all parts where a program asks for them (--progress), else nothing. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_PROGRESS_DISPLAY_H_
#define RNNPACK_COMPILER_OPTIONS_PROGRESS_DISPLAY_H_

#include "compiler/eval/progress.h"
#include "compiler/options/listener.h"

namespace CLI {
class App;
}

namespace rnnp::compiler {

void add_progress_option(CLI::App *command, bool *lines);

// Lines `progress: DONE of ALL` on standard error; none where they are not wanted.
std::function<void(size_t done, size_t all)> progress_lines(bool wanted);

class ProgressDisplay {
 public:
  // `parts`: how many of them `part` is called for.
  ProgressDisplay(const Listener &listener, size_t parts);
  // The next part; `what` stands before its bar. The display must outlive it.
  Progress part(const char *what);

 private:
  void say(size_t percent_of_parts);

  const std::function<void(size_t done, size_t all)> tell_;
  const bool bar_;
  const size_t parts_;
  size_t begun_ = 0, said_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_PROGRESS_DISPLAY_H_
