// private_names.h -- names of unnamed namespaces in a C++ text laid out by clang-format, and such names changed.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_PRIVATE_NAMES_H_
#define RNNPACK_COMPILER_EMIT_PRIVATE_NAMES_H_

#include <set>
#include <string>

namespace rnnp::compiler {

// What is declared at the first column between `namespace {` and `}  // namespace`.
std::set<std::string> private_names(const std::string &text);

std::set<std::string> words_of(const std::string &text);

// Every use of `names` gets `suffix`, but for strings, comments, and members (after . and ->) that the text does not declare.
std::string with_suffix(const std::string &text, const std::set<std::string> &names, const std::string &suffix);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_PRIVATE_NAMES_H_
