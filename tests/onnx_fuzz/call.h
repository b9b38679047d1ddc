// call.h -- one rnnp_run_io, rnnp_run or rnnp_step on some rows of a session, with strides drawn at random and every word around
// the rows watched. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_ONNX_FUZZ_CALL_H_
#define RNNPACK_TESTS_ONNX_FUZZ_CALL_H_

#include "walk.h"

namespace rnnp::onnx_fuzz {

// A batch row of the case and where it is: a session's row that has done so many steps.
struct Stream {
  size_t session = 0, row = 0, done = 0;
};

// The streams `who`, all in one session, do `steps` steps. Their outputs are compared with `expected`.
struct Call {
  const Network &network;
  const std::vector<Words> &expected;
  const std::vector<int32_t> &lengths;  // of the streams, for all their steps; empty: none
  const std::vector<Stream> &streams;
  std::vector<size_t> who;
  size_t steps;

  void run(rnnp_session *session, uint32_t max_batch, Random *random) const;
};

}  // namespace rnnp::onnx_fuzz
#endif  // RNNPACK_TESTS_ONNX_FUZZ_CALL_H_
