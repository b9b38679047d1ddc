// external_data.h -- weights that an exporter wrote into files of their own beside the model (PyTorch's m.onnx.data).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_EXTERNAL_DATA_H_
#define RNNPACK_COMPILER_ONNX_EXTERNAL_DATA_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace rnnp::compiler {

// Puts the bytes of every tensor that lies outside into the model: initialisers, constants, those of subgraphs and functions. Only
// files in `folder` (or below it) are read, links that lead out of it are not followed, and of a file no more than its size in
// all. Gives the files that were read. Throws ModelError naming every tensor that cannot be had.
std::vector<std::string> read_external_data(onnx::ModelProto *model, const std::string &folder);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_EXTERNAL_DATA_H_
