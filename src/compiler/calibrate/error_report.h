// error_report.h -- what low-precision weights cost on given data, for a network's outputs and for each of its layers: in figures,
// as a table and as JSON. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_ERROR_REPORT_H_
#define RNNPACK_COMPILER_CALIBRATE_ERROR_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/calibrate/calibration.h"
#include "compiler/eval/progress.h"

namespace rnnp::compiler {

// Errors of numbers beside those of the f32 network. What is not finite on both sides alike does not count; what is on one side
// only has lost everything.
struct ErrorFigures {
  double signal = 0, noise = 0, worst = 0;
  size_t count = 0, one_sided = 0;

  void add(float got, float want);
  double sqnr() const;  // dB; infinite without noise, NaN where nothing was compared
  double rms() const;
};

struct MatrixReport {
  std::string name, type;
  size_t bytes = 0;
  bool quantised = false;               // x is multiplied as bytes
  float x_scale = 0;                    // 0: found of every row
  std::optional<double> clipped_share;  // of x beyond the largest byte, where the scale is fixed
};

struct LayerReport {
  std::string name, kind;
  std::vector<MatrixReport> matrices;
  // Recurrent layers: every step from the f32 network's state, on its x (so many steps of the data).
  size_t one_step_steps = 0;
  ErrorFigures one_step;
  std::optional<size_t> worst_unit;  // which errs most from one step to the next
  double worst_unit_rms = 0;
  // In the network as it runs: errors of earlier layers and steps included.
  ErrorFigures free_running;
  std::optional<size_t> first_beyond;  // the first step with an error above kBeyond
};
constexpr double kBeyond = 0.1;

struct Report {
  std::string data;  // what it was measured on
  size_t steps = 0, bytes = 0, f32_bytes = 0;
  std::vector<std::pair<std::string, ErrorFigures>> outputs;
  std::vector<LayerReport> layers;
  std::vector<std::string> decisions;  // of --weights auto
};

// `graph`: as it is written to the blob of so many bytes.
Report measure_errors(const Reference &reference, const Graph &graph, const PanelFormat &panels, const Progress &progress);

// The least of the outputs; -infinity where nothing was compared.
double least_sqnr(const Arrays &got, const Arrays &want);

std::string report_table(const Report &report);
std::string report_json(const Report &report);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_ERROR_REPORT_H_
