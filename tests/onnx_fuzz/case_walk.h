// case_walk.h -- checker of a walk: a case's inputs in pieces of any size, rows of several sessions, saved and loaded states. Every
// number must have the bits of the plain run. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_ONNX_FUZZ_CASE_WALK_H_
#define RNNPACK_TESTS_ONNX_FUZZ_CASE_WALK_H_

#include "network.h"

namespace rnnp::onnx_fuzz {

// `expected`: the rows of each output of the plain run with these lengths (empty: none). `serial`: on one thread. Throws where a
// bit is another.
void walk_case(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths, uint32_t seed,
               bool serial);

}  // namespace rnnp::onnx_fuzz
#endif  // RNNPACK_TESTS_ONNX_FUZZ_CASE_WALK_H_
