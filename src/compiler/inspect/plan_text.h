// plan_text.h -- `inspect --plan`: how the library would cut a blob's recurrent layers on a given machine, with predicted times.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_
#define RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/inspect/plan_machine.h"

namespace rnnp::compiler {

// `document` is blob_document's.
std::string plan_text(const nlohmann::ordered_json &document, const PlanMachine &machine);

// Whether the stacked layers of a blob would run as a wavefront, and in which calls.
std::string wavefront_text(const void *blob, size_t bytes, const PlanMachine &machine);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_
