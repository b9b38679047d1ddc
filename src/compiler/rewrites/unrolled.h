// unrolled.h -- steps that an exporter wrote out one after the other, put back as a Scan: element t of an axis is read for each t,
// and the nodes of every step are those of the one before with its results in their place. The first step may be folded, as far as
// it was computed from states that are constants. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_UNROLLED_H_
#define RNNPACK_COMPILER_REWRITES_UNROLLED_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct Rerolled {
  std::unique_ptr<OnnxModel> model;  // refers to nodes of the old one; nullptr where there are no such steps
  std::vector<std::string> loops;    // titles of the Scans
};

// `kept`: titles of Scans that are not to be made.
Rerolled reroll_steps(const OnnxModel &model, const std::set<std::string> &kept);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_UNROLLED_H_
