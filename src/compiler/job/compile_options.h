// compile_options.h -- the options of `compile` as a table for a parser: what they are called, what they take and do.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_JOB_COMPILE_OPTIONS_H_
#define RNNPACK_COMPILER_JOB_COMPILE_OPTIONS_H_

#include <memory>

#include "compiler/options/option_row.h"

namespace rnnp::compiler {

struct OptionTable {
  OptionRows rows;
  std::shared_ptr<void> values;  // what the rows set
};

// `rnnpack compile` parses into it, and hands what was set (set_texts) to rnnp_compile.
OptionTable compile_option_table();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_JOB_COMPILE_OPTIONS_H_
