// state_names.h -- names of an input and an output that are one state, before a step and after it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_STATE_NAMES_H_
#define RNNPACK_COMPILER_IR_STATE_NAMES_H_

#include <string>

namespace rnnp::compiler {

// h_in and h_out, cache and new_cache: the output's name holds the input's, without a trailing "in". h0 and hn.
bool carries_on(const std::string &output, const std::string &input);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_STATE_NAMES_H_
