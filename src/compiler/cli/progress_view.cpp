// progress_view.cpp -- Contract: progress_view.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/progress_view.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace rnnp::compiler {

void add_progress_option(CLI::App *command, bool *lines) {
  command->add_flag("--progress", *lines, "lines `progress: DONE of ALL` on standard error, for programs that show how far it is");
}

ProgressView::ProgressView(const char *what, bool lines) : what_(what), lines_(lines), bar_(!lines && isatty(STDERR_FILENO) != 0) {}

void ProgressView::show(size_t done, size_t all) {
  if (lines_) std::fprintf(stderr, "progress: %zu of %zu\n", done, all);
  if (bar_) {
    constexpr size_t kWidth = 30;
    const size_t filled = all == 0 ? kWidth : done * kWidth / all;
    std::fprintf(stderr, "\r%s [%s%s]", what_, std::string(filled, '#').c_str(), std::string(kWidth - filled, '.').c_str());
    drawn_ = true;
  }
  std::fflush(stderr);
}

void ProgressView::clear() {
  if (drawn_) std::fprintf(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace rnnp::compiler
