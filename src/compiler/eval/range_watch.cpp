// range_watch.cpp -- Contract: range_watch.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/range_watch.h"

namespace rnnp::compiler {

thread_local RangeWatch *RangeWatch::current_ = nullptr;

}  // namespace rnnp::compiler
