// add_options.h -- rows of options in the tool's argument parser. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_ADD_OPTIONS_H_
#define RNNPACK_COMPILER_CLI_ADD_OPTIONS_H_

#include "compiler/options/option_row.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rnnp::compiler {

// The parser's options, in the order of the rows.
std::vector<const CLI::Option *> add_options(CLI::App *command, const OptionRows &rows);

// --input, and --max-input.
void add_input_option(CLI::App *command, std::vector<std::string> *inputs, const std::string &more);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_ADD_OPTIONS_H_
