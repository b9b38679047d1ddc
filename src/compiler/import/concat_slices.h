// concat_slices.h -- parts of one axis, and tensors put together from parts. All throw Refusal.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_CONCAT_SLICES_H_
#define RNNPACK_COMPILER_IMPORT_CONCAT_SLICES_H_

#include <optional>
#include <vector>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"

namespace rnnp::compiler {

// Part of one axis. Of the time axis the first or last step becomes a row; for other parts see steps.h.
View cut(OpCall &call, const View &view, const SliceRange &range);
// Steps, and before or behind them rows that are the same for all steps; nothing where the parts are others.
std::optional<View> joined_steps(OpCall &call, const std::vector<View> &parts, size_t axis);
// Side by side along one axis.
View joined(OpCall &call, std::vector<View> parts, size_t axis);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_CONCAT_SLICES_H_
