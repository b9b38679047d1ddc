// blob_section.h -- bytes of one section of a blob, appended to at aligned places. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_BLOB_SECTION_H_
#define RNNPACK_COMPILER_EMIT_BLOB_SECTION_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

constexpr uint64_t kMostBlobBytes = uint64_t{1} << 31;

class Section {
 public:
  explicit Section(size_t align) : align_(align) {}
  const std::vector<uint8_t> &bytes() const { return bytes_; }

  uint32_t append(const void *data, size_t count) {
    bytes_.resize((bytes_.size() + align_ - 1) / align_ * align_);
    if (bytes_.size() + count > kMostBlobBytes) throw ModelError("the blob would be larger than 2 GiB");
    const uint32_t offset = static_cast<uint32_t>(bytes_.size());
    bytes_.resize(offset + count);
    if (count != 0) std::memcpy(&bytes_[offset], data, count);
    return offset;
  }

 private:
  size_t align_;
  std::vector<uint8_t> bytes_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_BLOB_SECTION_H_
