// inspect_blob.h -- what `rnnpack inspect` does with a blob's bytes, but for printing. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_INSPECT_BLOB_H_
#define RNNPACK_TESTS_FUZZ_INSPECT_BLOB_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rnnp_fuzz {

// Text and JSON; empty when the blob does not open.
std::string inspect_blob(const std::vector<uint8_t> &bytes);

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_INSPECT_BLOB_H_
