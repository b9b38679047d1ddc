// device_estimate.h -- what a model takes on a microcontroller: flash, RAM, and by a table of fitted costs (device_costs.inc)
// instructions and cycles of a step. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_DEVICE_ESTIMATE_H_
#define RNNPACK_COMPILER_INSPECT_DEVICE_ESTIMATE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/files/files.h"

namespace rnnp::compiler {

// Keys: flash_bytes, library_bytes, session_bytes, model_handle_bytes, stack_bytes, instructions, cycles, not_counted: nodes, of
// operators or weights that the table does not have, whose code and work is in none of the numbers. mhz 0: no time. Throws
// UsageError for a device that the table does not have.
nlohmann::ordered_json device_estimate(const nlohmann::ordered_json &document, const AlignedBytes &blob, const std::string &device,
                                       double mhz);
std::string device_text(const nlohmann::ordered_json &estimate);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_DEVICE_ESTIMATE_H_
