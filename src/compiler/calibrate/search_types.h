// search_types.h -- --weights auto: which type each matrix is stored as, by trying them on data.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_SEARCH_TYPES_H_
#define RNNPACK_COMPILER_CALIBRATE_SEARCH_TYPES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/calibrate/error_report.h"

namespace rnnp::compiler {

struct SearchRequest {
  std::optional<double> least;  // the measure that is to be kept; none: the best measure whose bytes fit L2
  std::string unit;             // of the measure: "dB", or nothing
  size_t l2_bytes = 0;          // of the target
  std::vector<std::string> keep_float;
  Rounding rounding = Rounding::kNearest;
};

// What a network's outputs are worth, higher being better.
using Measure = std::function<double(const Arrays &outputs)>;

// Stores every matrix that has 32 bits and is not to keep them in fewer: each is tried alone, and begins with the fewest bits with
// which it alone keeps the measure; while all together do not, what costs most alone is stored in more; then what was not needed is
// taken back, the most bytes first. Returns what was tried and decided, in lines.
std::vector<std::string> search_types(Graph *graph, const PanelFormat &panels, const Reference &reference, const Measure &measure,
                                      const SearchRequest &request, const Progress &progress);

// Of the CPUs that a target is for, as assumed.
size_t l2_bytes_of(const std::string &target);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_SEARCH_TYPES_H_
