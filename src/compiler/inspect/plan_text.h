// plan_text.h -- `inspect --plan`: how the library would cut a blob's recurrent layers on a given machine, with predicted times.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_
#define RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace rnnp::compiler {

// The machine and the way it is used. Rates are one core's; `make bench` measures them.
struct PlanMachine {
  uint32_t threads = 1, batch = 1, steps = 100;
  uint32_t l1_kib = 32, l2_kib = 1024, l3_kib = 32768;
  double l1_gbs = 200, l2_gbs = 100, l3_gbs = 25, dram_gbs = 12, gflops = 200;
};

// `document` is blob_document's.
std::string plan_text(const nlohmann::ordered_json &document, const PlanMachine &machine);

// Whether the stacked layers of a blob would run as a wavefront, and in which calls.
std::string wavefront_text(const void *blob, size_t bytes, const PlanMachine &machine);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_PLAN_TEXT_H_
