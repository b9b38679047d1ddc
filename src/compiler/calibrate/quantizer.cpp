// quantizer.cpp -- Contract: quantizer.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/quantizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/calibrate/integer_layers.h"
#include "compiler/calibrate/metric.h"
#include "compiler/calibrate/search_types.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/files/array_files.h"
#include "compiler/onnx/errors.h"
#include "compiler/quantize/prune.h"
#include "compiler/verify/comparison.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kDrawnSteps = 200;

bool any_finite(const Arrays &arrays) {
  return std::any_of(arrays.begin(), arrays.end(), [](const auto &array) {
    const std::vector<float> &v = array.second.f32;
    return std::any_of(v.begin(), v.end(), [](float x) { return std::isfinite(x); });
  });
}

}  // namespace

OptionRows quantizer_options(QuantizerOptions *options) {
  return {
      {"--weights", &options->weights,
       "what weights are stored as: " + weight_type_names() + ", or auto; left out: what the file has"},
      {"--recurrent-weights", &options->recurrent_weights, "the same of recurrent layers' R alone"},
      {"--arithmetic", &options->arithmetic,
       "integer: recurrent layers of int8 run in integers alone, for CPUs without an FPU, with the same bits on every CPU; bf16: "
       "weights are bf16, and x and h are rounded to bf16 where they are multiplied; float",
       true},
      {"--keep-float", &options->keep_float, "a node whose weights stay f32; may be repeated"},
      {"--calibrate", &options->calibrate,
       "x.npy for the first input, NAME=x.npy, x.npz, or x.wav: data that the network is made for, from which x of int8 layers "
       "gets "
       "its scales, and on which errors are measured; may be repeated"},
      {"--max-input", ByteCountOption{&options->max_input},
       "the most bytes that a file of data may take, in memory too; 1GiB without it"},
      {"--method", &options->method, "how weights are rounded: round, mse (the scale that errs least) or gptq (on the data)", true},
      {"--prune", &options->prune,
       "SIZE or SIZE:UNITS: blocks of 16 (8, 4) units by 4 inputs whose weights are all below SIZE become zeros, of 1 "
       "single weights; what that costs is measured"},
      {"--report", &options->report, "a JSON file of what low precision cost, by outputs and layers"},
      {"--accuracy-min", &options->accuracy_min,
       "smallest signal-to-noise ratio of every output on the data, in dB (with --metric: in its units); what misses "
       "it is not written"},
      {"--metric", &options->metric,
       "a program that is run with a folder of NAME.npy (outputs) and f32/NAME.npy (of the f32 network) and prints "
       "one number, higher being better"},
  };
}

void Quantizer::prepare(CompileOptions *compile) {
  rounding_named(options_.method);
  if (!options_.prune.empty()) pruning_named(options_.prune);
  compile->weights = options_.is_auto() ? "" : options_.weights;
  compile->bf16_products = options_.in_bf16();
  if (options_.in_bf16() && compile->weights.empty()) compile->weights = "bf16";
  compile->recurrent_weights = options_.recurrent_weights;
  compile->keep_float = options_.keep_float;
  if (options_.method == "gptq" && options_.calibrate.empty())
    throw UsageError("--method gptq needs data that the network is made for: --calibrate x.npy");
  if (options_.is_auto() && options_.calibrate.empty())
    throw UsageError("--weights auto needs data that the network is made for: --calibrate x.npy");
  if (options_.arithmetic != "float" && !options_.in_bf16() && !options_.in_integers())
    throw UsageError("--arithmetic " + quote(options_.arithmetic) + "; accepted: float, bf16, integer");
  if (options_.in_bf16() && (options_.is_auto() || compile->weights != "bf16"))
    throw UsageError("--arithmetic bf16 multiplies weights of bf16; accepted with it: --weights bf16, or none");
  if (options_.in_integers() && options_.calibrate.empty())
    throw UsageError("--arithmetic integer needs data, which gives x and c their ranges: --calibrate x.npy");
  if (options_.in_integers() && options_.is_auto())
    throw UsageError("--weights auto chooses types of float arithmetic; accepted with --arithmetic integer: a type");
  if (options_.measures()) compile->adjust = [this](Graph *graph, const PanelFormat &panels) { adjust(graph, panels); };
}

void Quantizer::make_reference(const Graph &graph, const PanelFormat &panels) {
  if (options_.calibrate.empty()) {
    reference_ = std::make_unique<Reference>(graph, panels, kDrawnSteps, 1, types_);
  } else {
    reference_ = std::make_unique<Reference>(graph, panels, options_.calibrate);
    if (!any_finite(reference_->seen().outputs))
      throw UsageError(
          "--calibrate: on this data the f32 network gives nothing but NaN and infinity, so nothing can be measured; "
          "give data that it is made for");
  }
}

double Quantizer::measure(const Arrays &outputs) const {
  const Arrays &f32 = reference_->seen().outputs;
  return options_.metric.empty() ? least_sqnr(outputs, f32) : run_metric(options_.metric, outputs, f32);
}

void Quantizer::adjust(Graph *graph, const PanelFormat &panels) {
  make_reference(*graph, panels);
  if (!options_.prune.empty()) prune(graph, pruning_named(options_.prune));
  const bool has_data = !options_.calibrate.empty();
  const Rounding rounding = rounding_named(options_.method);
  std::vector<std::string> decisions;
  if (options_.is_auto()) {
    const SearchRequest request{options_.accuracy_min, options_.metric.empty() ? "dB" : "", l2_bytes_of(target_),
                                options_.keep_float, rounding};
    decisions = search_types(
        graph, panels, *reference_, [this](const Arrays &outputs) { return measure(outputs); }, request, parts_->next());
  }
  if (options_.in_integers()) choose_integers(graph, *reference_, options_.keep_float);
  if (has_data) set_lhs_scales(graph, reference_->seen());
  round_graph(graph, rounding, has_data ? &reference_->seen() : nullptr);
  report_ = measure_errors(*reference_, *graph, panels, parts_->next());
  report_->decisions = decisions;
  report_->data = has_data ? std::to_string(report_->steps) + " steps of the data given"
                           : std::to_string(kDrawnSteps) + " steps of random numbers (give --calibrate: they say little)";
  Runner runner(reference_->watched_blob(*graph, panels));
  measured_ = measure(runner.run(reference_->inputs(), {}));
}

std::string Quantizer::finish(size_t blob_bytes, const Listener &listener) {
  if (!report_) return "";
  report_->bytes = blob_bytes;
  std::string text;
  for (const std::string &line : report_->decisions) text += line + "\n";
  text += report_table(*report_);
  const std::string measured = number_text(measured_);
  if (!options_.metric.empty()) text += "  metric: " + measured + "\n";
  listener.say(MessageKind::kReport, text);
  if (options_.accuracy_min && measured_ < *options_.accuracy_min)
    throw VerifyError("NOT written: " + measured + (options_.metric.empty() ? " dB" : "") + ", and at least " +
                      number_text(*options_.accuracy_min) + " are asked for (--accuracy-min)");
  return report_json(*report_);
}

}  // namespace rnnp::compiler
