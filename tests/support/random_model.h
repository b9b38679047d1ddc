// random_model.h -- small random models: every kind of layer, state, input and output that a call can meet.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_RANDOM_MODEL_H_
#define RNNPACK_TESTS_SUPPORT_RANDOM_MODEL_H_

#include <cstdint>
#include <vector>

namespace rnnp_test {

// A blob of the fuzzers' grammar (fuzz/generated_blob.h) that opens and runs: every operator, weights of every format. `smooth`:
// two right implementations give outputs that are near each other.
std::vector<uint8_t> random_model(uint32_t seed, bool smooth = false);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_RANDOM_MODEL_H_
