// metric.h -- the user's own measure of outputs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_METRIC_H_
#define RNNPACK_COMPILER_CALIBRATE_METRIC_H_

#include <string>

#include "compiler/run/runner.h"

namespace rnnp::compiler {

// Runs `program FOLDER`, where the folder has NAME.npy of the outputs and f32/NAME.npy of the f32 network's, and reads the number
// that it prints. Throws IoError when it fails or prints none.
double run_metric(const std::string &program, const Arrays &outputs, const Arrays &f32);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_METRIC_H_
