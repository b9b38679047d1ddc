// suggest_option.h -- the flag with which a refused model compiles, found by trying. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_JOB_SUGGEST_OPTION_H_
#define RNNPACK_COMPILER_JOB_SUGGEST_OPTION_H_

#include <string>

#include "compiler/compile.h"
#include "compiler/options/load_model.h"

namespace rnnp::compiler {

// The refusal, whose own proposals stay where they lead to a blob that passes its check. Else they go, and a line "try: ..."
// follows where something helps: one open size that becomes fixed, also at a size that stands in the refusal; all of them; or that
// all axes stay as they are.
std::string with_what_helps(const std::string &refused, const ModelSource &source, const ModelOptions &given,
                            const CompileOptions &how);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_JOB_SUGGEST_OPTION_H_
