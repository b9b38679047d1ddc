// npz.h -- arrays of a NumPy .npz file: a ZIP of .npy entries, stored or deflated.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_NETWORKS_NPZ_H_
#define RNNPACK_TESTS_NETWORKS_NPZ_H_

#include <string>

#include "compiler/cli/runner.h"

namespace rnnp::networks {

// Throws IoError.
compiler::Arrays read_npz(const std::string &path);

}  // namespace rnnp::networks
#endif  // RNNPACK_TESTS_NETWORKS_NPZ_H_
