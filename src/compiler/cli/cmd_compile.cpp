// cmd_compile.cpp -- `rnnpack compile`: a model's file to a blob, and with --emit-c to a C array, by rnnp_compile.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/cli/progress_view.h"
#include "compiler/files/files.h"
#include "compiler/import/operator_table.h"
#include "compiler/job/compile_options.h"
#include "compiler/onnx/errors.h"
#include "rnnpack/compiler.h"

namespace rnnp::compiler {
namespace {

struct CompileCommand {
  OptionTable table;
  std::vector<const CLI::Option *> options;  // of the table's rows

  const OptionRow &row(const std::string &key) const {
    return *std::find_if(table.rows.begin(), table.rows.end(), [&](const OptionRow &one) { return one.key() == key; });
  }
  const std::string &text(const std::string &key) const { return *std::get<std::string *>(row(key).to); }
  bool flag(const std::string &key) const { return *std::get<bool *>(row(key).to); }
};

// One call of rnnp_compile: its files are written when the last of them is there, all or none.
class Call {
 public:
  explicit Call(const CompileCommand &arguments) : output_(arguments.text("output")), view_("compile", arguments.flag("progress")) {
    for (size_t i = 0; i < arguments.options.size(); ++i) {
      const OptionRow &row = arguments.table.rows[i];
      if (row.key() == "progress" || arguments.options[i]->count() == 0) continue;
      for (std::string &text : set_texts(row)) options_.push_back(std::move(text));
    }
    if (view_.is_watched()) options_.push_back("progress");
  }

  int run() {
    std::vector<const char *> options;
    for (const std::string &option : options_) options.push_back(option.c_str());
    const rnnp_compile_status status = rnnp_compile(
        nullptr, 0, options.data(), options.size(),
        [](void *call, const char *path, const void *bytes, size_t size) {
          return static_cast<Call *>(call)->guarded([&](Call &c) { c.take({path, bytes, size}); });
        },
        [](void *call, rnnp_compile_message kind, const char *text) {
          return static_cast<Call *>(call)->guarded([&](Call &c) { c.hear(kind, text); });
        },
        this);
    if (failure_) std::rethrow_exception(failure_);
    return status;
  }

 private:
  // Nothing is thrown through the library.
  template <class F>
  int guarded(const F &act) {
    try {
      act(*this);
    } catch (...) {
      failure_ = std::current_exception();
    }
    return failure_ ? 1 : 0;
  }

  // The blob comes last; without -o it has no name.
  void take(const OutputFile &file) {
    const auto *bytes = static_cast<const uint8_t *>(file.data);
    if (!file.path.empty() && file.path != output_) {
      earlier_.push_back({file.path, {bytes, bytes + file.bytes}});
      return;
    }
    std::vector<OutputFile> files;
    for (const auto &one : earlier_) files.push_back({one.first, one.second.data(), one.second.size()});
    if (!file.path.empty()) files.push_back(file);
    write_files(files);
  }

  void hear(rnnp_compile_message kind, const char *text) {
    if (kind == RNNP_COMPILE_PROGRESS) {
      size_t done = 0, all = 0;
      if (std::sscanf(text, "%zu of %zu", &done, &all) == 2) view_.show(done, all);
      return;
    }
    view_.clear();
    if (kind == RNNP_COMPILE_REPORT) {
      std::printf("%s\n", text);
      std::fflush(stdout);
    } else {
      const char *const before = kind == RNNP_COMPILE_ERROR ? "rnnpack: " : kind == RNNP_COMPILE_NOTE ? "note: " : "";
      std::fprintf(stderr, "%s%s\n", before, text);
    }
  }

  const std::string &output_;
  ProgressView view_;
  std::vector<std::string> options_;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> earlier_;
  std::exception_ptr failure_;
};

constexpr bool is_code(rnnp_compile_status status, ExitCode code) {
  return static_cast<int>(status) == static_cast<int>(code);
}
static_assert(is_code(RNNP_COMPILED, kExitOk) && is_code(RNNP_COMPILE_USAGE, kExitUsage) &&
                  is_code(RNNP_COMPILE_REFUSED, kExitRefused) && is_code(RNNP_COMPILE_IO, kExitIo) &&
                  is_code(RNNP_COMPILE_UNVERIFIED, kExitVerify),
              "a status is the tool's exit code");

int run(const CompileCommand &arguments) {
  if (arguments.text("output").empty() && arguments.text("emit-c").empty())
    throw UsageError("nothing to write: give -o FILE or --emit-c NAME");
  return Call(arguments).run();
}

int list_operators() {
  std::printf("%s", operator_table().c_str());
  return kExitOk;
}

}  // namespace

void add_compile(CLI::App *app, Action *action) {
  auto arguments = std::make_shared<CompileCommand>();
  arguments->table = compile_option_table();
  CLI::App *command = app->add_subcommand("compile", "Compile a model into a blob: ONNX or another kind, which the content tells");
  arguments->options = add_options(command, arguments->table.rows);
  command->callback([arguments, action] { *action = [arguments] { return run(*arguments); }; });
}

void add_operators(CLI::App *app, Action *action) {
  CLI::App *command = app->add_subcommand("operators", "List the supported operators and their limits as Markdown");
  command->callback([action] { *action = list_operators; });
}

}  // namespace rnnp::compiler
