// crc32.h -- CRC-32 (IEEE 802.3, reflected, as in zlib), four bits at a time: a 64-byte table suits flash.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_CRC32_H_
#define RNNPACK_FORMAT_CRC32_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

// Continue `crc` (0 to begin) over bytes; crc32(crc32(0, a), b) is the CRC of a followed by b.
uint32_t crc32(uint32_t crc, const void *data, size_t bytes);

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_CRC32_H_
