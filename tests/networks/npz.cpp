// npz.cpp -- Contract: npz.h. Reads the central directory, so entries written as a stream are found too.
// SPDX-License-Identifier: Apache-2.0
#include "npz.h"

#include <zlib.h>

#include "compiler/cli/files.h"
#include "compiler/cli/npy.h"
#include "compiler/onnx/problem.h"

namespace rnnp::networks {
namespace {

using Bytes = std::vector<uint8_t>;

uint32_t number(const Bytes &file, size_t at, size_t width) {
  if (at + width > file.size()) throw compiler::IoError("a damaged .npz file");
  uint32_t v = 0;
  for (size_t i = width; i-- > 0;) v = v << 8 | file[at + i];
  return v;
}

Bytes inflated(const uint8_t *from, size_t bytes, size_t size) {
  Bytes out(size);
  z_stream stream{};
  stream.next_in = const_cast<uint8_t *>(from);
  stream.avail_in = static_cast<uInt>(bytes);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(size);
  const bool good =
      inflateInit2(&stream, -MAX_WBITS) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!good) throw compiler::IoError("a damaged .npz file");
  return out;
}

}  // namespace

compiler::Arrays read_npz(const std::string &path) {
  constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
  const Bytes file = compiler::read_file(path);
  size_t end = file.size() < kEndBytes ? 0 : file.size() - kEndBytes;
  while (end > 0 && number(file, end, 4) != 0x06054b50u) --end;
  const uint32_t entries = number(file, end + 10, 2);
  size_t at = number(file, end + 16, 4);
  compiler::Arrays arrays;
  for (uint32_t i = 0; i < entries; ++i) {
    const uint32_t method = number(file, at + 10, 2), packed = number(file, at + 20, 4), size = number(file, at + 24, 4);
    const size_t name_bytes = number(file, at + 28, 2), local = number(file, at + 42, 4);
    const std::string name(reinterpret_cast<const char *>(file.data()) + at + kEntryBytes, name_bytes);
    const size_t data = local + kLocalBytes + number(file, local + 26, 2) + number(file, local + 28, 2);
    if (data + packed > file.size() || (method != 0 && method != 8)) throw compiler::IoError(path + ": a damaged .npz file");
    const uint8_t *from = file.data() + data;
    const Bytes npy = method == 8 ? inflated(from, packed, size) : Bytes(from, from + packed);
    arrays[name.substr(0, name.rfind(".npy"))] = compiler::parse_npy(npy, path + ":" + name);
    at += kEntryBytes + name_bytes + number(file, at + 30, 2) + number(file, at + 32, 2);
  }
  return arrays;
}

}  // namespace rnnp::networks
