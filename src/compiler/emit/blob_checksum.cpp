// blob_checksum.cpp -- Contract: blob_checksum.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/blob_checksum.h"

#include <array>

namespace rnnp::compiler {
namespace {

std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}

}  // namespace

uint32_t crc32_of(const void *data, size_t bytes) {
  static const std::array<uint32_t, 256> table = make_table();
  const auto *p = static_cast<const uint8_t *>(data);
  uint32_t c = 0xffffffffu;
  for (size_t i = 0; i < bytes; ++i) c = table[(c ^ p[i]) & 0xffu] ^ (c >> 8);
  return c ^ 0xffffffffu;
}

}  // namespace rnnp::compiler
