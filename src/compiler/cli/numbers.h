// numbers.h -- what a number that an option takes may be: NaN is no number, and the message names the bounds.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_NUMBERS_H_
#define RNNPACK_COMPILER_CLI_NUMBERS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "compiler/options/option_row.h"

namespace rnnp::compiler {

// Far from the ends of float: what is computed with such a number stays finite.
constexpr double kMostOption = 1e30, kLeastOption = 1e-30;

inline CLI::Validator number_within(double least, double most, const std::string &words) {
  return CLI::Validator(
      [=](const std::string &text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return good ? std::string() : "'" + text + "'; accepted: " + words;
      },
      "");
}

inline CLI::Validator above_zero() {
  return number_within(kLeastOption, kMostOption, "a number above 0");
}
inline CLI::Validator not_negative() {
  return number_within(0, kMostOption, "0 or a number above it");
}
inline CLI::Validator finite_number() {
  return number_within(-kMostOption, kMostOption, "a finite number");
}

// A time that a command may take.
inline CLI::Validator seconds() {
  return number_within(0, 3600, "a number from 0 to 3600");
}

// Becomes the number of bytes.
inline CLI::Validator size_in_bytes() {
  return CLI::Validator(
      [](std::string &text) {
        const std::optional<uint64_t> bytes = byte_count(text);
        if (!bytes) return "'" + text + "'; accepted: " + kByteCounts;
        text = std::to_string(*bytes);
        return std::string();
      },
      "");
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_NUMBERS_H_
