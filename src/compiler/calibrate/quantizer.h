// quantizer.h -- the options of `compile` about low-precision weights, and what they do to a graph before it is written.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_QUANTIZER_H_
#define RNNPACK_COMPILER_CALIBRATE_QUANTIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/calibrate/error_report.h"
#include "compiler/compile.h"
#include "compiler/options/listener.h"
#include "compiler/options/option_row.h"
#include "compiler/options/progress_parts.h"

namespace rnnp::compiler {

struct QuantizerOptions {
  std::string weights, recurrent_weights, arithmetic = "float", method = "round", report, metric, prune;
  std::vector<std::string> keep_float, calibrate;
  std::optional<double> accuracy_min;
  std::optional<uint64_t> max_input;

  bool in_integers() const { return arithmetic == "integer"; }
  bool in_bf16() const { return arithmetic == "bf16"; }
  bool is_auto() const { return weights == "auto"; }
  // Whether anything is measured.
  bool measures() const {
    return is_auto() || !calibrate.empty() || !report.empty() || !metric.empty() || accuracy_min || method != "round" ||
           !prune.empty();
  }
  size_t progress_parts() const { return static_cast<size_t>(measures()) + static_cast<size_t>(is_auto()); }
};

OptionRows quantizer_options(QuantizerOptions *options);

class Quantizer {
 public:
  // `types`: what is drawn for the inputs where no data is given.
  Quantizer(const QuantizerOptions &options, std::string target, ElementTypes types, ProgressParts *parts)
      : options_(options), target_(std::move(target)), types_(std::move(types)), parts_(parts) {}

  // Fills in what the compiler is to store matrices as, and what it calls before it writes.
  void prepare(CompileOptions *compile);
  // Says the table, once the blob is made, and gives the report's text for its file; empty where nothing was measured. Throws
  // VerifyError where the outputs miss what is asked for.
  std::string finish(size_t blob_bytes, const Listener &listener);

 private:
  void adjust(Graph *graph, const PanelFormat &panels);
  void make_reference(const Graph &graph, const PanelFormat &panels);
  double measure(const Arrays &outputs) const;

  const QuantizerOptions &options_;
  const std::string target_;
  const ElementTypes types_;
  ProgressParts *const parts_;
  std::unique_ptr<Reference> reference_;
  std::optional<Report> report_;
  double measured_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_QUANTIZER_H_
