// files.h -- reading and writing whole files; files are written beside their places and renamed when all are complete, so an error
// leaves nothing behind. Devices and pipes are written as they are.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FILES_FILES_H_
#define RNNPACK_COMPILER_FILES_FILES_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rnnp::compiler {

// A regular file or a pipe, of at most `most` bytes; a device is refused, because it may never end.
constexpr uint64_t kMostFileBytes = uint64_t{1} << 32;
std::vector<uint8_t> read_file(const std::string &path, uint64_t most = kMostFileBytes);

// What the arrays of one file of data may take, in the file and in memory: of the thread, 1 GiB unless it is set (--max-input).
uint64_t input_limit();
void set_input_limit(uint64_t bytes);
// Sets it, where a limit is given, as long as it lives.
class InputLimit {
 public:
  explicit InputLimit(std::optional<uint64_t> bytes);
  InputLimit(const InputLimit &) = delete;
  InputLimit &operator=(const InputLimit &) = delete;
  ~InputLimit() { set_input_limit(before_); }

 private:
  uint64_t before_;
};
// Throws IoError, naming the option.
void check_input_bytes(uint64_t bytes, const std::string &what);

struct OutputFile {
  std::string path;
  const void *data;
  size_t bytes;
};
// All of them or none.
void write_files(const std::vector<OutputFile> &files);
void write_file(const std::string &path, const void *data, size_t bytes);

// The files that texts like "x.npy" and "NAME=x.npy" may mean: each text, and what stands behind a '=' in it.
std::vector<std::string> paths_in(const std::vector<std::string> &texts);

// Throws UsageError when two outputs, or an output and an input, are the same file.
void check_distinct(const std::vector<std::string> &inputs, const std::vector<std::string> &outputs);

// Memory at an alignment, as the C API asks for it.
class AlignedBytes {
 public:
  AlignedBytes(size_t bytes, size_t alignment);
  uint8_t *data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t *p) const { std::free(p); }
  };
  size_t size_;
  std::unique_ptr<uint8_t, Free> data_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FILES_FILES_H_
