// array_files.h -- the --input and --output options of `run` and `verify`: which file is which tensor of a blob.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FILES_ARRAY_FILES_H_
#define RNNPACK_COMPILER_FILES_ARRAY_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/files/npy.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// The files named by --input texts, without their NAME=.
std::vector<std::string> file_names(const std::vector<std::string> &given, const std::vector<rnnp_tensor_info> &tensors);

// "name=file", or "file" for the first tensor: files by tensor. Throws UsageError for names the model does not have.
std::map<std::string, std::string> files_by_name(const std::vector<std::string> &given,
                                                 const std::vector<rnnp_tensor_info> &tensors, const char *what);

// The arrays of NAME=x.npy, x.npy, NAME=x.npz (the array of that name) and x.npz (every array in it that is named like an input).
Arrays read_inputs(const std::vector<std::string> &given, const std::vector<rnnp_tensor_info> &inputs);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FILES_ARRAY_FILES_H_
