// command.h -- a sub-command adds itself to the argument parser; its action runs after parsing and gives the exit code.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_COMMAND_H_
#define RNNPACK_COMPILER_CLI_COMMAND_H_

#include <functional>

namespace CLI {
class App;
}

namespace rnnp::compiler {

enum ExitCode : int { kExitOk = 0, kExitUsage = 1, kExitRefused = 2, kExitIo = 3, kExitVerify = 4 };

using Action = std::function<int()>;

void add_compile(CLI::App *app, Action *action);
void add_inspect(CLI::App *app, Action *action);
void add_run(CLI::App *app, Action *action);
void add_verify(CLI::App *app, Action *action);
void add_registry(CLI::App *app, Action *action);
void add_sources(CLI::App *app, Action *action);
void add_tune(CLI::App *app, Action *action);
void add_profile(CLI::App *app, Action *action);
void add_operators(CLI::App *app, Action *action);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_COMMAND_H_
