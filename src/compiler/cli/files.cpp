// files.cpp -- Contract: files.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

std::vector<uint8_t> read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot open " + quote(path) + ": " + std::strerror(errno));
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) throw IoError("cannot read " + quote(path));
  return bytes;
}

namespace {

// The new file until it is complete; removed unless it was renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &target) : target_(target), path_(target + ".XXXXXX") {
    fd_ = mkstemp(path_.data());
    if (fd_ < 0) throw IoError("cannot write " + quote(target) + ": " + std::strerror(errno));
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  void write(const uint8_t *data, size_t bytes) {
    while (bytes > 0) {
      const ssize_t done = ::write(fd_, data, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail();
      data += done;
      bytes -= static_cast<size_t>(done);
    }
  }

  void finish() {
    const mode_t mask = umask(0);
    umask(mask);
    const bool moded = fchmod(fd_, 0666 & ~mask) == 0;
    const bool closed = close(fd_) == 0;
    fd_ = -1;
    if (!moded || !closed || rename(path_.c_str(), target_.c_str()) != 0) fail();
    path_.clear();
  }

 private:
  [[noreturn]] void fail() const { throw IoError("cannot write " + quote(target_) + ": " + std::strerror(errno)); }

  std::string target_, path_;
  int fd_ = -1;
};

}  // namespace

void write_file(const std::string &path, const void *data, size_t bytes) {
  TemporaryFile file(path);
  file.write(static_cast<const uint8_t *>(data), bytes);
  file.finish();
}

AlignedBytes::AlignedBytes(size_t bytes, size_t alignment) : size_(bytes) {
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<uint8_t *>(std::aligned_alloc(alignment, whole ? whole : alignment)));
  if (!data_) throw std::bad_alloc();
}

}  // namespace rnnp::compiler
