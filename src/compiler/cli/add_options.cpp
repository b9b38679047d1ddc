// add_options.cpp -- Contract: add_options.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/add_options.h"

#include <CLI/CLI.hpp>

#include "compiler/cli/numbers.h"
#include "compiler/files/files.h"

namespace rnnp::compiler {
namespace {

struct Adder {
  CLI::App *command;
  const OptionRow &row;

  CLI::Option *operator()(std::string *to) const { return command->add_option(row.name, *to, row.text); }
  CLI::Option *operator()(std::vector<std::string> *to) const {
    return command->add_option(row.name, *to, row.text)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  CLI::Option *operator()(bool *to) const { return command->add_flag(row.name, *to, row.text); }
  CLI::Option *operator()(std::optional<double> *to) const {
    return command->add_option(row.name, *to, row.text)->check(finite_number());
  }
  CLI::Option *operator()(const CountOption &count) const {
    return command->add_option(row.name, *count.to, row.text)->check(CLI::Range(count.least, count.most));
  }
  CLI::Option *operator()(const WordOption &word) const {
    return command->add_option(row.name, *word.to, row.text)->check(CLI::IsMember(word.accepted));
  }
  CLI::Option *operator()(const ByteCountOption &bytes) const {
    return command->add_option(row.name, *bytes.to, row.text)->transform(size_in_bytes())->type_name("BYTES");
  }
};

}  // namespace

std::vector<const CLI::Option *> add_options(CLI::App *command, const OptionRows &rows) {
  std::vector<const CLI::Option *> options;
  for (const OptionRow &row : rows) {
    CLI::Option *option = std::visit(Adder{command, row}, row.to);
    if (row.is_positional()) option->required();
    if (row.shows_default) option->capture_default_str();
    options.push_back(option);
  }
  return options;
}

void add_input_option(CLI::App *command, std::vector<std::string> *inputs, const std::string &more) {
  command
      ->add_option_function<uint64_t>("--max-input", set_input_limit,
                                      "the most bytes that a file of data may take, in memory too; 1GiB without it")
      ->transform(size_in_bytes())
      ->type_name("BYTES");
  command
      ->add_option("--input", *inputs,
                   "x.npy for the first input, NAME=file.npy, or x.npz with arrays named like the inputs" + more)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace rnnp::compiler
