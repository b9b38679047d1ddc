// sorted_rows.h -- rows that are sorted by their lengths before recurrent layers and put back behind them (PyTorch's
// pack_padded_sequence with enforce_sorted=False). Layers take rows in any order, so both are left out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_SORTED_ROWS_H_
#define RNNPACK_COMPILER_REWRITES_SORTED_ROWS_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The model with its rows in the order of the inputs; nullptr where none are sorted, or not all that is sorted is put back.
std::unique_ptr<OnnxModel> with_rows_unsorted(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_SORTED_ROWS_H_
