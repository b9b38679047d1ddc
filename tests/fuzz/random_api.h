// random_api.h -- a sequence of API calls on any bytes: whatever they say, only statuses come back and nothing outside the caller's
// buffers is touched. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_RANDOM_API_H_
#define RNNPACK_TESTS_FUZZ_RANDOM_API_H_

#include <vector>

#include "byte_source.h"
#include "guarded_memory.h"
#include "thread_pool.h"

namespace rnnp_fuzz {

struct Walk {
  bool opened = false, made = false;
  uint32_t ran = 0;  // calls that ran steps
};

// Opens the blob, asks, makes a session with options out of `choices`, and calls what they say. Many rows, steps and elements are
// bounded, so that a walk takes microseconds; `pool` null: no threads.
Walk walk(const std::vector<uint8_t> &blob, ByteSource *choices, GuardedMemory *memory, ThreadPool *pool);

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_RANDOM_API_H_
