// roundings.cpp -- Contract: roundings.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/roundings.h"

namespace rnnp::compiler {

thread_local Roundings *Roundings::current_ = nullptr;

}  // namespace rnnp::compiler
