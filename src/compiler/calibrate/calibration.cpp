// calibration.cpp -- Contract: calibration.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/emit/write_blob.h"
#include "compiler/files/array_files.h"
#include "compiler/files/wav.h"
#include "compiler/onnx/errors.h"
#include "compiler/verify/random_inputs.h"

namespace rnnp::compiler {
namespace {

Array rows_of_samples(const std::string &path, const rnnp_tensor_info &facts) {
  const std::vector<float> samples = read_wav(path);
  const size_t steps = samples.size() / facts.row_elems;
  if (steps == 0) throw UsageError(quote(path) + " has fewer samples than one row of input " + quote(facts.name));
  Array array;
  bool has_steps = false;
  for (uint32_t i = 0; i < facts.rank; ++i) {
    has_steps = has_steps || facts.dims[i] == RNNP_DIM_STEPS;
    array.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS   ? static_cast<int64_t>(steps)
                          : facts.dims[i] == RNNP_DIM_BATCH ? 1
                                                            : facts.dims[i]);
  }
  if (!has_steps) array.shape.insert(array.shape.begin(), static_cast<int64_t>(steps));
  array.f32.assign(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(steps * facts.row_elems));
  return array;
}

std::vector<uint8_t> plain_blob(Graph graph, const PanelFormat &panels) {
  for (Node &node : graph.nodes) {
    for (const MatrixRef &m : matrices_of(&node)) *m.storage = Storage();
  }
  return write_blob(graph, panels);
}

// The squares of what a row loses in bytes of a step.
double rounding_noise(const float *row, size_t width, float step) {
  double noise = 0;
  for (size_t i = 0; i < width; ++i) {
    if (!std::isfinite(row[i])) continue;
    const double error = double{row[i]} - std::clamp(std::nearbyint(double{row[i]} / double{step}), -127.0, 127.0) * double{step};
    noise += error * error;
  }
  return noise;
}

// The direction of a recurrent node's matrix: W and R of each come one after the other.
uint32_t direction_of(size_t index) {
  return static_cast<uint32_t>(index / 2);
}

}  // namespace

void visit_rows(const Node &node, const SeenNode &seen, const MatrixRef &m, uint32_t direction,
                const std::function<void(const float *row, size_t k)> &visit) {
  if (seen.in.empty() || seen.in[0].elems == 0) return;
  const SeenRows &x = seen.in[0];
  if (!m.recurrent) {
    const size_t width = node.op == OpKind::kConv ? x.elems : m.k;
    const Recurrent *layer = layer_of(node);
    const size_t apart = layer != nullptr && layer->masked ? width + 1 : width;
    for (size_t at = 0; at + width <= x.rows.size(); at += apart) visit(x.rows.data() + at, width);
    return;
  }
  const SeenRows &y = seen.out[0];
  if (y.elems == 0) return;
  const Recurrent &layer = *layer_of(node);
  const size_t width = layer.directions.size() * layer.hidden_size, all = y.rows.size() / width;
  const auto *inner = std::get_if<FeatureRecurrent>(&node.attr);
  const size_t beside = inner != nullptr ? inner->rows : seen.batch, steps = inner != nullptr ? inner->steps : all / beside;
  // [times that it starts][steps][rows side by side]
  for (size_t i = 0; i < all; ++i) {
    const size_t step = i / beside % steps, last = layer.directions[direction].reverse ? 0 : steps - 1;
    if (step != last) visit(y.rows.data() + i * width + direction * layer.hidden_size, m.k);
  }
}

Arrays calibration_inputs(const std::vector<std::string> &files, const Runner &runner) {
  std::vector<std::string> arrays;
  Arrays inputs;
  for (const std::string &file : files) {
    if (!is_wav(file)) {
      arrays.push_back(file);
      continue;
    }
    if (runner.inputs().empty()) throw UsageError("the model has no inputs");
    inputs[runner.inputs()[0].name] = rows_of_samples(file, runner.inputs()[0]);
  }
  for (auto &array : read_inputs(arrays, runner.inputs())) inputs[array.first] = std::move(array.second);
  return inputs;
}

Graph with_every_step(Graph graph) {
  for (Node &node : graph.nodes) {
    const Recurrent *layer = layer_of(node);
    if (layer == nullptr || node.out[0] != kNone) continue;
    const uint32_t elems = static_cast<uint32_t>(layer->directions.size()) * layer->hidden_size;
    if (const auto *inner = std::get_if<FeatureRecurrent>(&node.attr)) {
      const Value state = graph.values[node.out[1] != kNone ? node.out[1] : node.out[2]];
      node.out[0] = graph.add_row(elems * inner->steps * inner->rows, state.sequence);
      graph.values[node.out[0]].early = state.early;
    } else {
      node.out[0] = graph.add_row(elems, true);
    }
  }
  return graph;
}

std::vector<bool> Reference::watched_nodes(const Graph &graph) {
  std::vector<bool> wanted;
  for (Node node : graph.nodes) wanted.push_back(!matrices_of(&node).empty());
  return wanted;
}

std::vector<uint8_t> Reference::watched_blob(Graph graph, const PanelFormat &panels) const {
  return write_blob(with_every_step(std::move(graph)), panels);
}

Reference::Reference(Graph graph, const PanelFormat &panels, const std::vector<std::string> &files) : graph_(std::move(graph)) {
  blob_ = plain_blob(with_every_step(graph_), panels);
  plain_bytes_ = plain_blob(graph_, panels).size();
  Runner runner(blob_);
  inputs_ = calibration_inputs(files, runner);
  run(&runner);
}

Reference::Reference(Graph graph, const PanelFormat &panels, int64_t steps, uint32_t seed, const ElementTypes &types)
    : graph_(std::move(graph)) {
  blob_ = plain_blob(with_every_step(graph_), panels);
  plain_bytes_ = plain_blob(graph_, panels).size();
  Runner runner(blob_);
  std::mt19937 random(seed);
  const int64_t batch = runner.facts().fixed_batch != 0 ? runner.facts().fixed_batch : 1;
  for (const rnnp_tensor_info &facts : runner.inputs()) {
    if (facts.role == RNNP_ROLE_STATE || facts.role == RNNP_ROLE_LENGTHS) continue;
    const bool in_front = facts.role == RNNP_ROLE_SEQUENCE &&
                          std::find(facts.dims, facts.dims + facts.rank, RNNP_DIM_STEPS) == facts.dims + facts.rank;
    const auto type = types.find(facts.name);
    const int elem_type = type == types.end() ? kOnnxFloat : type->second;
    inputs_.emplace(facts.name, draw_array(facts, elem_type, steps, batch, in_front, 1.0, &random));
  }
  run(&runner);
}

void Reference::run(Runner *runner) {
  seen_ = watch_run(runner, inputs_, watched_nodes(graph_));
}

float best_step(const std::vector<float> &numbers) {
  constexpr size_t kBins = 4096;
  constexpr int kTrials = 70;
  float most = 0;
  for (const float v : numbers) most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
  if (most == 0) return 0;
  std::vector<double> counts(kBins, 0.0);
  for (const float v : numbers) {
    if (std::isfinite(v)) ++counts[std::min(kBins - 1, static_cast<size_t>(std::fabs(v) / most * kBins))];
  }
  float best = most / 127.0f;
  double least = HUGE_VAL;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double step = double{most} / 127 * (1 - 0.01 * trial);
    double error = 0;
    for (size_t i = 0; i < kBins; ++i) {
      const double v = (static_cast<double>(i) + 0.5) * double{most} / kBins, cut = v - 127.5 * step;
      error += counts[i] * (cut > 0 ? cut * cut : step * step / 12);
    }
    if (error < least) least = error, best = static_cast<float>(step);
  }
  return best;
}

float fixed_step(const std::vector<float> &numbers, size_t width) {
  constexpr double kWorth = 3;  // 5 dB
  const float step = best_step(numbers);
  if (step == 0) return 0;
  double logs = 0, rows = 0;
  for (size_t first = 0; first + width <= numbers.size(); first += width) {
    const float *row = numbers.data() + first;
    float most = 0;
    for (size_t i = 0; i < width; ++i) {
      if (std::isfinite(row[i])) most = std::max(most, std::fabs(row[i]));
    }
    const double by_row = most == 0 ? 0 : rounding_noise(row, width, most / 127.0f), fixed = rounding_noise(row, width, step);
    if (by_row == 0 || fixed == 0) continue;
    logs += std::log(fixed / by_row);
    ++rows;
  }
  return rows != 0 && logs / rows > std::log(kWorth) ? 0.0f : step;
}

void set_lhs_scales(Graph *graph, const SeenRun &seen) {
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    Node &node = graph->nodes[n];
    const std::vector<MatrixRef> matrices = matrices_of(&node);
    for (size_t i = 0; i < matrices.size(); ++i) {
      const MatrixRef &m = matrices[i];
      if (!is_quantised(m.storage->type) || m.storage->lhs_scale != 0) continue;
      std::vector<float> numbers;
      size_t width = 0;
      visit_rows(node, seen.nodes[n], m, direction_of(i), [&](const float *row, size_t k) {
        numbers.insert(numbers.end(), row, row + k);
        width = k;
      });
      m.storage->lhs_scale = fixed_step(numbers, width);
    }
  }
}

void round_graph(Graph *graph, Rounding how, const SeenRun *seen) {
  if (how == Rounding::kNearest) return;
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    Node &node = graph->nodes[n];
    const std::vector<MatrixRef> matrices = matrices_of(&node);
    for (size_t i = 0; i < matrices.size(); ++i) {
      const MatrixRef &m = matrices[i];
      if (!is_quantised(m.storage->type) || !m.storage->scales.empty()) continue;
      Products products(m.k);
      const bool whole_rows = m.count == 1 && node.op != OpKind::kConv;
      if (how == Rounding::kGptq && seen != nullptr && whole_rows)
        visit_rows(node, seen->nodes[n], m, direction_of(i), [&](const float *row, size_t) { products.add(row); });
      round_weights(how, *m.w, m.k, products.rows() != 0 ? &products : nullptr, m.storage);
    }
  }
}

}  // namespace rnnp::compiler
