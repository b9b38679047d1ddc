// npz.h -- arrays of a NumPy .npz file: a ZIP of .npy entries, stored or deflated.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FILES_NPZ_H_
#define RNNPACK_COMPILER_FILES_NPZ_H_

#include <string>

#include "compiler/files/npy.h"

namespace rnnp::compiler {

bool is_npz(const std::string &path);  // by its name

// Throws IoError.
Arrays read_npz(const std::string &path);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FILES_NPZ_H_
