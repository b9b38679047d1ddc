// option_row.h -- the options of `compile` as rows of one table, which the tool's parser (add_options.h) and rnnp_compile read.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_OPTION_ROW_H_
#define RNNPACK_COMPILER_OPTIONS_OPTION_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rnnp::compiler {

struct CountOption {
  uint32_t *to, least, most;
};
struct WordOption {
  std::string *to;
  std::vector<std::string> accepted;
};
struct ByteCountOption {
  std::optional<uint64_t> *to;
};

// What sizes are written as: "4096", "64kib", "1GiB", "4G", all of 1024. Nothing where a text is none.
std::optional<uint64_t> byte_count(const std::string &text);
constexpr const char *kByteCounts = "a number of bytes, as 4096 or 4GiB";

struct OptionRow {
  using Target = std::variant<std::string *, std::vector<std::string> *, bool *, std::optional<double> *, CountOption, WordOption,
                              ByteCountOption>;
  std::string name;  // "model", "--target", "-o,--output"
  Target to;
  std::string text;
  bool shows_default = false;

  // "target": what rnnp_compile knows it by.
  std::string key() const;
  bool is_positional() const { return name[0] != '-'; }
};
using OptionRows = std::vector<OptionRow>;

// "key=value", of a flag "key". Throws UsageError, naming what is accepted.
void set_option(const OptionRows &rows, const std::string &text);

// What set_option is given to make the row's target what it is.
std::vector<std::string> set_texts(const OptionRow &row);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_OPTION_ROW_H_
