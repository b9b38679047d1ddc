// npz.cpp -- Contract: npz.h. Reads the central directory, so entries written as a stream are found too.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/files/npz.h"

#include <zlib.h>

#include "compiler/files/files.h"
#include "compiler/files/npy.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kEndMark = 0x06054b50u, kEntryMark = 0x02014b50u, kLocalMark = 0x04034b50u;
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr uint32_t kStored = 0, kDeflated = 8;

class Zip {
 public:
  explicit Zip(const std::string &path) : path_(path), file_(read_file(path, input_limit())) {}

  Arrays arrays() const {
    const size_t end = end_record();
    const uint32_t entries = number(end + 10, 2);
    size_t at = number(end + 16, 4);
    Arrays arrays;
    uint64_t inflated = 0;
    for (uint32_t i = 0; i < entries; ++i) {
      const size_t name_bytes = number(at + 28, 2), next = at + kEntryBytes + name_bytes + number(at + 30, 2) + number(at + 32, 2);
      if (number(at, 4) != kEntryMark || next > file_.size()) damaged();
      check_input_bytes(inflated += number(at + 24, 4), quote(path_) + " with its arrays inflated");
      const std::string name(reinterpret_cast<const char *>(file_.data()) + at + kEntryBytes, name_bytes);
      arrays[name.substr(0, name.rfind(".npy"))] = parse_npy(entry(at), path_ + ":" + name);
      at = next;
    }
    return arrays;
  }

 private:
  [[noreturn]] void damaged() const { throw IoError(path_ + ": a damaged .npz file"); }

  uint32_t number(size_t at, size_t width) const {
    if (at + width > file_.size()) damaged();
    uint32_t v = 0;
    for (size_t i = width; i-- > 0;) v = v << 8 | file_[at + i];
    return v;
  }

  size_t end_record() const {
    if (file_.size() < kEndBytes) throw IoError(path_ + ": not a .npz file");
    for (size_t end = file_.size() - kEndBytes;; --end) {
      if (number(end, 4) == kEndMark) return end;
      if (end == 0) throw IoError(path_ + ": not a .npz file");
    }
  }

  // The bytes of the entry whose place in the directory is `at`.
  Bytes entry(size_t at) const {
    const uint32_t method = number(at + 10, 2), packed = number(at + 20, 4), size = number(at + 24, 4);
    const size_t local = number(at + 42, 4);
    if (number(local, 4) != kLocalMark) damaged();
    const size_t data = local + kLocalBytes + number(local + 26, 2) + number(local + 28, 2);
    if (data + packed > file_.size()) damaged();
    if (method == kStored && packed == size) return Bytes(file_.data() + data, file_.data() + data + packed);
    if (method == kDeflated) return inflated(file_.data() + data, packed, size);
    damaged();
  }

  Bytes inflated(const uint8_t *from, size_t bytes, size_t size) const {
    constexpr size_t kMostRatio = 1032;  // of deflate
    if (size > (bytes + 1) * kMostRatio) damaged();
    Bytes out(size);
    z_stream stream{};
    stream.next_in = const_cast<uint8_t *>(from);
    stream.avail_in = static_cast<uInt>(bytes);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(size);
    const bool good =
        inflateInit2(&stream, -MAX_WBITS) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
    inflateEnd(&stream);
    if (!good) damaged();
    return out;
  }

  std::string path_;
  Bytes file_;
};

}  // namespace

bool is_npz(const std::string &path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".npz") == 0;
}

Arrays read_npz(const std::string &path) {
  return Zip(path).arrays();
}

}  // namespace rnnp::compiler
