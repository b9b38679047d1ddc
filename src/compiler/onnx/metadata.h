// metadata.h -- keys and values that a blob carries beside the network. No part of the model id: states stay loadable.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_METADATA_H_
#define RNNPACK_COMPILER_ONNX_METADATA_H_

#include <string>
#include <utility>
#include <vector>

namespace rnnp::compiler {

struct OnnxModel;

using Metadata = std::vector<std::pair<std::string, std::string>>;

// `given`, then those of the file's metadata_props (where `of_file`) whose keys it does not name; empty values are left out. What
// of the file a blob cannot hold (a NUL, an empty key, more bytes than are left) is left out and noted. UsageError where `given`
// does not fit.
Metadata metadata_of(const OnnxModel &model, const Metadata &given, bool of_file, std::vector<std::string> *notes);

// "KEY=VALUE" of --meta, each key once. Throws UsageError.
Metadata metadata_from(const std::vector<std::string> &texts);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_METADATA_H_
