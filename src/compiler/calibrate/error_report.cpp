// error_report.cpp -- Contract: error_report.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/error_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/fpenv.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/quantize/choose_storage.h"
#include "compiler/verify/exact_check.h"
#include "compiler/verify/exact_layer.h"

namespace rnnp::compiler {
namespace {

// Of a plain loop on the host.
constexpr double kMostProducts = 4e8;

MatrixReport report_of(const Node &node, const SeenNode &seen, const MatrixRef &m, uint32_t direction) {
  MatrixReport out;
  const Storage &s = *m.storage;
  out.name = m.name;
  out.type = weight_type_name({s.type, s.group_k});
  out.quantised = is_quantised(s.type);
  const size_t rows = m.w->size() / m.k;
  out.bytes = m.w->size() * dtype_bits(s.type) / 8;
  if (out.quantised) out.bytes += rows * s.groups(m.k) * sizeof(float);
  if (s.type == DType::kI8 && s.group_k == 0) out.bytes += rows * sizeof(int32_t);
  out.x_scale = s.lhs_scale;
  if (!out.quantised || s.lhs_scale == 0) return out;
  size_t count = 0, clipped = 0;
  visit_rows(node, seen, m, direction, [&](const float *row, size_t k) {
    count += k;
    for (size_t i = 0; i < k; ++i) clipped += std::fabs(row[i]) > 127.5f * s.lhs_scale ? 1 : 0;
  });
  if (count != 0) out.clipped_share = static_cast<double>(clipped) / static_cast<double>(count);
  return out;
}

// Both blobs' layers side by side; the exact one moves its state, the other starts from it at every step.
class OneStep {
 public:
  OneStep(const Model &plain, const Model &packed, const BlobNode &node, const BlobNode &packed_node, const SeenNode &seen,
          LayerReport *out)
      : plain_(plain), packed_(packed), node_(node), packed_node_(packed_node), seen_(seen), out_(out) {}

  void run() {
    const AttrRecurrent &a = *plain_.attr<AttrRecurrent>(node_), &b = *packed_.attr<AttrRecurrent>(packed_node_);
    if (!ExactLayer::knows(packed_, b) || !ExactLayer::knows(plain_, a)) return;
    const size_t all = seen_.in[0].rows.size() / seen_.in[0].elems / seen_.batch;
    const double products =
        2.0 * 4 * a.hidden_size * (a.input_size + a.hidden_size) * a.direction_count * static_cast<double>(seen_.batch);
    const size_t steps = std::min(all, static_cast<size_t>(std::max(1.0, kMostProducts / products)));
    std::vector<double> noise(size_t{a.direction_count} * a.hidden_size, 0.0);
    for (uint32_t d = 0; d < a.direction_count; ++d) {
      const ExactLayer exact(plain_, a, d), rounded(packed_, b, d);
      for (size_t row = 0; row < seen_.batch; ++row)
        walk(a.direction[d], exact, rounded, all, steps, row, noise.data() + d * a.hidden_size);
    }
    out_->one_step_steps = steps;
    const auto worst = std::max_element(noise.begin(), noise.end());
    out_->worst_unit = static_cast<size_t>(worst - noise.begin());
    out_->worst_unit_rms = std::sqrt(*worst / static_cast<double>(steps * seen_.batch));
  }

 private:
  void walk(const BlobDirection &direction, const ExactLayer &exact, const ExactLayer &rounded, size_t all, size_t steps,
            size_t row, double *noise) {
    std::vector<float> h(exact.hidden(), 0.0f), c(exact.hidden(), 0.0f);
    initial_state(plain_, seen_, direction.state_h, 1, direction.init_h, row, &h);
    if (direction.state_c != kNone) initial_state(plain_, seen_, direction.state_c, 2, direction.init_c, row, &c);
    for (size_t i = 0; i < steps; ++i) {
      const size_t t = direction.reverse ? all - 1 - i : i;
      const float *x = seen_.in[0].row(t * seen_.batch + row);
      if (exact.is_masked(x)) continue;
      std::vector<float> other_h = h, other_c = c;
      rounded.step(x, other_h.data(), other_c.data());
      exact.step(x, h.data(), c.data());
      for (size_t k = 0; k < h.size(); ++k) {
        out_->one_step.add(other_h[k], h[k]);
        const double error = double{other_h[k]} - double{h[k]};
        if (std::isfinite(error)) noise[k] += error * error;
      }
    }
  }

  const Model &plain_, &packed_;
  const BlobNode &node_, &packed_node_;
  const SeenNode &seen_;
  LayerReport *out_;
};

void compare_rows(const SeenRows &got, const SeenRows &want, size_t batch, LayerReport *out) {
  for (size_t i = 0; i < want.rows.size() && i < got.rows.size(); ++i) {
    out->free_running.add(got.rows[i], want.rows[i]);
    const size_t step = i / want.elems / std::max<size_t>(1, batch);
    if (!out->first_beyond && std::fabs(double{got.rows[i]} - double{want.rows[i]}) > kBeyond) out->first_beyond = step;
  }
}

std::string number(const char *format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string not_finite(const ErrorFigures &figures) {
  if (figures.one_sided != 0) return "; " + std::to_string(figures.one_sided) + " elements are NaN or infinite on one side only";
  return figures.count == 0 ? "; nothing was compared, all of it is NaN or infinite" : "";
}

}  // namespace

void ErrorFigures::add(float got, float want) {
  if (!std::isfinite(got) || !std::isfinite(want)) {
    one_sided += got == want || (std::isnan(got) && std::isnan(want)) ? 0 : 1;
    return;
  }
  const double error = std::fabs(double{got} - double{want});
  signal += double{want} * double{want};
  noise += error * error;
  worst = std::max(worst, error);
  ++count;
}
double ErrorFigures::sqnr() const {
  if (one_sided != 0) return -HUGE_VAL;
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return noise == 0 ? HUGE_VAL : 10 * std::log10(signal / noise);
}
double ErrorFigures::rms() const {
  return count == 0 ? 0 : std::sqrt(noise / static_cast<double>(count));
}

double least_sqnr(const Arrays &got, const Arrays &want) {
  double least = HUGE_VAL;
  bool compared = false;
  for (const auto &output : want) {
    ErrorFigures figures;
    const std::vector<float> &mine = got.at(output.first).f32;
    for (size_t i = 0; i < mine.size(); ++i) figures.add(mine[i], output.second.f32[i]);
    if (std::isnan(figures.sqnr())) continue;
    least = std::min(least, figures.sqnr());
    compared = true;
  }
  return compared ? least : -HUGE_VAL;
}

Report measure_errors(const Reference &reference, const Graph &graph, const PanelFormat &panels, const Progress &progress) {
  const FlushDenormals flush;
  Report report;
  report.f32_bytes = reference.blob_bytes();
  Runner plain(reference.blob()), packed(reference.watched_blob(graph, panels));
  const SeenRun &want = reference.seen();
  const SeenRun got = watch_run(&packed, reference.inputs(), Reference::watched_nodes(graph));
  for (const auto &output : want.outputs) {
    ErrorFigures figures;
    const std::vector<float> &mine = got.outputs.at(output.first).f32;
    for (size_t i = 0; i < mine.size(); ++i) figures.add(mine[i], output.second.f32[i]);
    report.outputs.emplace_back(output.first, figures);
  }
  Model a, b;
  if (!read_model(&plain.opened(), &a) || !read_model(&packed.opened(), &b)) return report;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (progress) progress(n, graph.nodes.size());
    Node node = graph.nodes[n];
    const std::vector<MatrixRef> matrices = matrices_of(&node);
    if (matrices.empty() || want.nodes[n].in.empty()) continue;
    LayerReport layer;
    layer.name = node.name;
    layer.kind = layer_of(node) != nullptr ? "recurrent" : node.op == OpKind::kDense ? "dense" : "conv";
    for (size_t i = 0; i < matrices.size(); ++i)
      layer.matrices.push_back(report_of(node, want.nodes[n], matrices[i], static_cast<uint32_t>(i / 2)));
    const SeenRows &x = want.nodes[n].in[0];
    if (x.per_step) report.steps = x.rows.size() / x.elems / want.nodes[n].batch;
    const uint32_t index = static_cast<uint32_t>(n);
    if (node.op == OpKind::kRecurrent) OneStep(a, b, a.nodes[index], b.nodes[index], want.nodes[n], &layer).run();
    compare_rows(got.nodes[n].out[0], want.nodes[n].out[0], want.nodes[n].batch, &layer);
    report.layers.push_back(std::move(layer));
  }
  if (progress) progress(graph.nodes.size(), graph.nodes.size());
  return report;
}

std::string report_table(const Report &report) {
  std::string text = "measured on " + report.data + ", beside the same network in f32:\n";
  for (const auto &output : report.outputs) {
    text += "  output " + output.first + ": SQNR " + number("%.1f", output.second.sqnr()) + " dB, largest error " +
            number("%.3g", output.second.worst) + ", rms " + number("%.3g", output.second.rms()) + not_finite(output.second) + "\n";
  }
  char line[256];
  std::snprintf(line, sizeof line, "  %-24s %-14s %9s | %8s %9s %10s | %8s %9s %9s | %8s\n", "layer", "stored as", "bytes",
                "one step", "largest", "worst unit", "running", "largest", "over 0.1", "x cut");
  text += line;
  for (const LayerReport &layer : report.layers) {
    std::string types;
    size_t bytes = 0;
    double clipped = 0;
    bool by_row = false, in_bytes = false;
    for (const MatrixReport &m : layer.matrices) {
      if (types.find(m.name + " " + m.type) == std::string::npos) types += (types.empty() ? "" : " ") + m.name + " " + m.type;
      bytes += m.bytes;
      in_bytes = in_bytes || m.quantised;
      by_row = by_row || (m.quantised && m.x_scale == 0);
      clipped = std::max(clipped, m.clipped_share.value_or(0));
    }
    const bool steps = layer.one_step_steps != 0;
    std::snprintf(line, sizeof line, "  %-24.24s %-14s %9zu | %8s %9s %10s | %8s %9s %9s | %8s\n", layer.name.c_str(),
                  types.c_str(), bytes, steps ? number("%.1f dB", layer.one_step.sqnr()).c_str() : "",
                  steps ? number("%.3g", layer.one_step.worst).c_str() : "",
                  steps ? (std::to_string(*layer.worst_unit) + " " + number("%.2g", layer.worst_unit_rms)).c_str() : "",
                  number("%.1f dB", layer.free_running.sqnr()).c_str(), number("%.3g", layer.free_running.worst).c_str(),
                  layer.first_beyond ? ("step " + std::to_string(*layer.first_beyond)).c_str() : "never",
                  by_row     ? "by row"
                  : in_bytes ? number("%.3g %%", 100 * clipped).c_str()
                             : "");
    text += line;
  }
  text += "  " + std::to_string(report.bytes) + " bytes; " + std::to_string(report.f32_bytes) + " in f32\n";
  return text;
}

}  // namespace rnnp::compiler
