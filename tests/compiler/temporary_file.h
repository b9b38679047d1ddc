// temporary_file.h -- a file of a test's own, gone at the end: tests of one program run side by side.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_TEMPORARY_FILE_H_
#define RNNPACK_TESTS_COMPILER_TEMPORARY_FILE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace rnnp::testing_support {

class TemporaryFile {
 public:
  TemporaryFile(const std::string &name, const std::vector<uint8_t> &bytes)
      : path_(testing::TempDir() + std::to_string(getpid()) + "_" + name) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_TEMPORARY_FILE_H_
