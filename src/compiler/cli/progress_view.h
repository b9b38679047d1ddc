// progress_view.h -- how far a command is, on standard error: a bar where a terminal watches, lines `progress: DONE of ALL` where a
// program asks for them (--progress), else nothing. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_PROGRESS_VIEW_H_
#define RNNPACK_COMPILER_CLI_PROGRESS_VIEW_H_

#include <cstddef>

namespace CLI {
class App;
}

namespace rnnp::compiler {

void add_progress_option(CLI::App *command, bool *lines);

class ProgressView {
 public:
  // `what` stands before the bar.
  ProgressView(const char *what, bool lines);
  ProgressView(const ProgressView &) = delete;
  ProgressView &operator=(const ProgressView &) = delete;
  ~ProgressView() { clear(); }

  bool is_watched() const { return lines_ || bar_; }
  void show(size_t done, size_t all);
  // Takes the bar away: before something else is printed.
  void clear();

 private:
  const char *const what_;
  const bool lines_, bar_;
  bool drawn_ = false;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_PROGRESS_VIEW_H_
