// written_out.h -- what helps where a loop that is no layer is refused. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_WRITTEN_OUT_H_
#define RNNPACK_COMPILER_ONNX_WRITTEN_OUT_H_

namespace rnnp::compiler {

constexpr const char *kWrittenOut =
    "a fixed number of steps, 1024 at most, or steps written out one after the other (tf.keras: a fixed shape and unroll=True)";

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_WRITTEN_OUT_H_
