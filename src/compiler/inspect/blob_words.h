// blob_words.h -- the words for a blob's numbers in the document of `inspect`: those of its enums, by their values, and of floats
// and places that JSON has no numbers for. tests/compiler/read_blob.py has the same words. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_BLOB_WORDS_H_
#define RNNPACK_COMPILER_INSPECT_BLOB_WORDS_H_

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "format/blob.h"

namespace rnnp::compiler {

using Json = nlohmann::ordered_json;

inline constexpr const char *kOps[] = {
    "unknown 0",
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) word,
#include "format/ops.inc"
#undef RNNPACK_KIND
};
constexpr bool kinds_are_in_order() {
  uint32_t at = 0;
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) \
  if (++at != id) return false;
#include "format/ops.inc"
#undef RNNPACK_KIND
  return true;
}
static_assert(kinds_are_in_order(), "the rows of ops.inc count from 1: kOps is indexed by the kind");
inline constexpr const char *kCells[] = {"rnn", "lstm", "gru", "gru_linear", "lstm_norm"};
inline constexpr const char *kKinds[] = {"sequence", "row", "const", "input"};
inline constexpr const char *kTypes[] = {"f32", "i32", "f16", "bf16", "i8", "i4"};
inline constexpr const char *kBinaries[] = {"add",       "mul",   "sub",  "div",           "min",     "max",
                                            "pow",       "equal", "less", "less_or_equal", "greater", "greater_or_equal",
                                            "not_equal", "prelu"};
inline constexpr const char *kReductions[] = {"sum", "mean", "max",        "min",     "prod",
                                              "l1",  "l2",   "sum_square", "log_sum", "log_sum_exp"};
inline constexpr const char *kPools[] = {"max", "average"};
inline constexpr const char *kRoles[] = {"sequence", "row", "state", "lengths"};

template <size_t N>
std::string word(const char *const (&words)[N], uint32_t i) {
  return i < N ? words[i] : "unknown " + std::to_string(i);
}

inline Json number(float v) {
  return std::isfinite(v) ? Json(static_cast<double>(v)) : Json(v > 0 ? "inf" : v < 0 ? "-inf" : "nan");
}
inline Json maybe(uint32_t v) {
  return v == kNone ? Json(nullptr) : Json(v);
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_BLOB_WORDS_H_
