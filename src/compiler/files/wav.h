// wav.h -- RIFF WAVE files of 16-bit or 32-bit integers or 32-bit floats as numbers from -1 to 1; of several channels the mean.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FILES_WAV_H_
#define RNNPACK_COMPILER_FILES_WAV_H_

#include <string>
#include <vector>

namespace rnnp::compiler {

bool is_wav(const std::string &path);  // by its name
// Throws IoError.
std::vector<float> read_wav(const std::string &path);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FILES_WAV_H_
