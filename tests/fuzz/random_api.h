// random_api.h -- checker of a walk on any bytes: whatever they say, only statuses come back and nothing outside the caller's
// buffers, which lie between guard pages, is touched. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_RANDOM_API_H_
#define RNNPACK_TESTS_FUZZ_RANDOM_API_H_

#include <vector>

#include "support/walk.h"

namespace rnnp_fuzz {

struct Walked {
  bool opened = false, made = false;
  uint32_t ran = 0;  // calls that ran steps
};

// Opens the blob, makes sessions with options out of `choices`, and calls what they say. Many rows, steps and elements are bounded,
// so that a walk takes microseconds. `threads`: now and then on one to four of them.
Walked walk(const std::vector<uint8_t> &blob, ByteSource *choices, bool threads);

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_RANDOM_API_H_
