// main.cpp -- the tool `rnnpack`: parses arguments, runs one sub-command, turns errors into exit codes.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "compiler/cli/command.h"
#include "compiler/emit/version.h"
#include "compiler/onnx/errors.h"
#include "platform/x86/tile_permission.h"

using namespace rnnp::compiler;

namespace {

int fail(const std::exception &error, int code) {
  std::fprintf(stderr, "rnnpack: %s\n", error.what());
  return code;
}

int act(const Action &action) {
  try {
    return action();
  } catch (const UsageError &error) {
    return fail(error, kExitUsage);
  } catch (const ModelError &error) {
    std::fprintf(stderr, "rnnpack: the model is refused:\n%s\n", error.what());
    return kExitRefused;
  } catch (const Refusal &error) {
    return fail(error, kExitRefused);
  } catch (const IoError &error) {
    return fail(error, kExitIo);
  } catch (const VerifyError &error) {
    return fail(error, kExitVerify);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "rnnpack: out of memory\n");
    return kExitIo;
  } catch (const std::system_error &error) {
    return fail(error, kExitIo);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "rnnpack: an error nobody expected, of a damaged file or of rnnpack: %s\n", error.what());
    return kExitRefused;
  }
}

// What was printed may still be in a buffer, and its file full.
int flush(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  std::fprintf(stderr, "rnnpack: cannot write to standard output\n");
  return code == kExitOk ? kExitIo : code;
}

bool is_command(CLI::App &app, const std::string &name) {
  return !app.get_subcommands([&](CLI::App *command) { return command->get_name() == name; }).empty();
}

std::string commands_text(CLI::App &app) {
  std::string text;
  for (const CLI::App *command : app.get_subcommands([](CLI::App *) { return true; })) text += " " + command->get_name();
  return text;
}

int run_tool(int argc, char **argv) {
  CLI::App app{
      "rnnpack compiles recurrent networks from ONNX to blobs that the rnnpack library runs in place.\n"
      "Exit codes: 0 done, 1 usage, 2 model refused, 3 input or output failed, 4 verification failed."};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  Action action;
  add_compile(&app, &action);
  add_inspect(&app, &action);
  add_run(&app, &action);
  add_verify(&app, &action);
  add_registry(&app, &action);
  add_sources(&app, &action);
  add_tune(&app, &action);
  add_profile(&app, &action);
  add_operators(&app, &action);
  if (argc > 1 && argv[1][0] != '-' && !is_command(app, argv[1])) {
    std::fprintf(stderr, "rnnpack: there is no command %s; accepted:%s\n", quote(argv[1]).c_str(), commands_text(app).c_str());
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return action();
}

}  // namespace

// Every exception ends here. The process is the tool's own, so it asks for all that the CPU has.
int main(int argc, char **argv) {
  rnnp::request_tiles();
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 18);  // what weights were in goes back to the system, whatever was freed before
#endif
  return flush(act([&] { return run_tool(argc, argv); }));
}
