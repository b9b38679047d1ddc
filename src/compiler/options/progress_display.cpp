// progress_display.cpp -- Contract: progress_display.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/options/progress_display.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace rnnp::compiler {
namespace {

constexpr size_t kWhole = 100;  // of a part

void draw_bar(const char *what, size_t percent) {
  constexpr size_t kWidth = 30;
  const size_t filled = percent * kWidth / kWhole;
  std::fprintf(stderr, "\r%s [%s%s]%s", what, std::string(filled, '#').c_str(), std::string(kWidth - filled, '.').c_str(),
               percent == kWhole ? "\r\033[K" : "");
  std::fflush(stderr);
}

}  // namespace

void add_progress_option(CLI::App *command, bool *lines) {
  command->add_flag("--progress", *lines, "lines `progress: DONE of ALL` on standard error, for programs that show how far it is");
}

std::function<void(size_t done, size_t all)> progress_lines(bool wanted) {
  if (!wanted) return {};
  return [](size_t done, size_t all) {
    std::fprintf(stderr, "progress: %zu of %zu\n", done, all);
    std::fflush(stderr);
  };
}

ProgressDisplay::ProgressDisplay(const Listener &listener, size_t parts)
    : tell_(listener.progress), bar_(!tell_ && listener.draws_bar && isatty(STDERR_FILENO) != 0), parts_(parts) {
  if (tell_) tell_(0, parts_ * kWhole);
}

void ProgressDisplay::say(size_t percent_of_parts) {
  if (percent_of_parts <= said_) return;
  said_ = percent_of_parts;
  tell_(said_, parts_ * kWhole);
}

Progress ProgressDisplay::part(const char *what) {
  if (!tell_ && !bar_) return {};
  const size_t before = begun_++ * kWhole;
  return [this, what, before](size_t done, size_t all) {
    const size_t percent = all == 0 ? kWhole : done * kWhole / all;
    if (tell_) {
      say(before + percent);
    } else {
      draw_bar(what, percent);
    }
  };
}

}  // namespace rnnp::compiler
