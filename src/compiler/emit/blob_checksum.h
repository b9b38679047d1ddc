// blob_checksum.h -- CRC-32 (IEEE 802.3, reflected), the blob's checksum, written apart from the reader's so that one checks the
// other. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_BLOB_CHECKSUM_H_
#define RNNPACK_COMPILER_EMIT_BLOB_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

namespace rnnp::compiler {

uint32_t crc32_of(const void *data, size_t bytes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_BLOB_CHECKSUM_H_
