// last_rows.h -- each row's last step, picked at its length - 1 from what a recurrent layer gives (GatherND, GatherElements): the
// last step that the row has lived through. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_LAST_ROWS_H_
#define RNNPACK_COMPILER_ONNX_LAST_ROWS_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The importer's own operator: LastOfRow(Y, lengths, width) is Y at each row's last step, without the axis `time_axis` or, with
// `keep`, of size 1 along it. width: where it is given, its last number must be Y's last axis.
constexpr const char *kLastOfRow = "rnnpack.LastOfRow";

// The model with such picks replaced; nullptr where there are none, or where what lies behind a row's length could be seen.
std::unique_ptr<OnnxModel> with_last_rows(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_LAST_ROWS_H_
