// exact_check.cpp -- Contract: exact_check.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/exact_check.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/fpenv.h"
#include "compiler/verify/exact_layer.h"

namespace rnnp::compiler {
namespace {

std::vector<uint32_t> matrices_of_node(const Model &m, const BlobNode &node) {
  std::vector<uint32_t> out;
  if (OpKind(node.op) == OpKind::kRecurrent || OpKind(node.op) == OpKind::kFeatureRecurrent) {
    const AttrRecurrent &a = *m.attr<AttrRecurrent>(node);
    for (uint32_t d = 0; d < a.direction_count; ++d) {
      out.insert(out.end(), {a.direction[d].w, a.direction[d].r});
      if (a.direction[d].r_output != kNone) out.push_back(a.direction[d].r_output);
    }
  } else if (OpKind(node.op) == OpKind::kDense) {
    out.push_back(m.attr<AttrDense>(node)->matrix);
  } else if (OpKind(node.op) == OpKind::kConv) {
    out.push_back(m.attr<AttrConv>(node)->matrix);
  }
  return out;
}

struct Place {
  size_t step, row, element;
};

class Check {
 public:
  Check(const Model &model, const BlobNode &node, const SeenNode &seen, double most_work, ExactResult *result)
      : model_(model), node_(node), seen_(seen), most_work_(most_work), result_(result) {}

  void run() {
    if (OpKind(node_.op) == OpKind::kRecurrent) recurrent();
    if (OpKind(node_.op) == OpKind::kFeatureRecurrent) features();
    if (OpKind(node_.op) == OpKind::kDense) dense();
    if (OpKind(node_.op) == OpKind::kConv) conv();
  }

 private:
  size_t batch() const { return seen_.batch; }
  bool is_seen(size_t out) const { return out < seen_.out.size() && !seen_.out[out].rows.empty(); }
  size_t row_count(const SeenRows &rows) const { return rows.elems == 0 ? 0 : rows.rows.size() / rows.elems; }
  size_t live(size_t row, size_t steps) const {
    return seen_.lengths.empty() ? steps : std::min(steps, static_cast<size_t>(seen_.lengths[row]));
  }

  // Every how-manieth of `count` places is evaluated that take so many multiply-adds each: an odd number, so that all of a row of
  // places have their turn.
  size_t stride_of(size_t count, double each) const {
    const double all = static_cast<double>(count) * each;
    return all <= most_work_ ? 1 : static_cast<size_t>(all / most_work_) | 1;
  }

  double work_of(const BlobDirection &direction) const {
    const MatrixShape w = model_.matrix(direction.w).shape, r = model_.matrix(direction.r).shape;
    return double(w.gates) * w.units * (double(w.k) + r.k);
  }

  void compare(float got, float want, const Place &at) {
    ++result_->numbers;
    if (std::memcmp(&got, &want, sizeof got) == 0 || (got != got && want != want) || !result_->difference.empty()) return;
    char text[256];
    std::snprintf(text, sizeof text, "node '%s', step %zu, row %zu, element %zu: %.9g, and exactly %.9g", model_.string(node_.name),
                  at.step, at.row, at.element, static_cast<double>(got), static_cast<double>(want));
    result_->difference = text;
  }

  void recurrent() {
    const AttrRecurrent &a = *model_.attr<AttrRecurrent>(node_);
    for (uint32_t d = 0; d < a.direction_count; ++d) {
      const ExactLayer layer(model_, a, d);
      for (size_t row = 0; row < batch(); ++row) direction(a, layer, d, row);
    }
  }

  void direction(const AttrRecurrent &a, const ExactLayer &layer, uint32_t d, size_t row) {
    const BlobDirection &direction = a.direction[d];
    const size_t steps = row_count(seen_.in[0]) / batch(), whole = live(row, steps), h_size = layer.hidden();
    // A layer's step needs those before it: of a long run the first ones are evaluated.
    const size_t last =
        std::min(whole, std::max<size_t>(2, whole / stride_of(steps * batch() * a.direction_count, work_of(direction))));
    std::vector<float> h(h_size, 0.0f), c(h_size, 0.0f);
    initial_state(model_, seen_, direction.state_h, 1, direction.init_h, row, &h);
    if (direction.state_c != kNone) initial_state(model_, seen_, direction.state_c, 2, direction.init_c, row, &c);
    for (size_t i = 0; i < last; ++i) {
      const size_t t = direction.reverse ? whole - 1 - i : i;
      layer.step(seen_.in[0].row(t * batch() + row), h.data(), c.data());
      if (!is_seen(0)) continue;
      const float *y = seen_.out[0].row(t * batch() + row) + d * h_size;
      for (size_t k = 0; k < h_size; ++k) compare(y[k], h[k], {t, row, k});
    }
    for (size_t out = 1; out < 3 && last == whole; ++out) {
      if (!is_seen(out)) continue;
      const float *y = seen_.out[out].row(row) + d * h_size;
      for (size_t k = 0; k < h_size; ++k) compare(y[k], out == 1 ? h[k] : c[k], {last, row, k});
    }
  }

  // From element `first` of a value's row on; one row a run serves every step.
  const float *row_at(const SeenRows &rows, size_t row, size_t first) const {
    return rows.row(rows.per_step ? row : row % batch()) + first;
  }

  void features() {
    const AttrFeatureRecurrent &a = *model_.attr<AttrFeatureRecurrent>(node_);
    size_t values = 0;
    for (size_t out = 0; out < seen_.out.size(); ++out) values = is_seen(out) ? row_count(seen_.out[out]) : values;
    for (uint32_t d = 0; d < a.layer.direction_count; ++d) {
      const ExactLayer layer(model_, a.layer, d);
      const size_t all = values * a.rows,
                   stride = stride_of(all * a.layer.direction_count, work_of(a.layer.direction[d]) * a.steps);
      for (size_t i = 0; i < all; i += stride) feature_row(a, layer, d, i / a.rows, i % a.rows);
    }
  }

  void feature_row(const AttrFeatureRecurrent &a, const ExactLayer &layer, uint32_t d, size_t value, size_t row) {
    const size_t h_size = layer.hidden(), width = a.layer.direction_count * h_size, state = (d * a.rows + row) * h_size;
    std::vector<float> h(h_size, 0.0f), c(h_size, 0.0f);
    for (size_t in = 1; in < 3; ++in) {
      if (in >= seen_.in.size() || seen_.in[in].rows.empty()) continue;
      std::copy_n(row_at(seen_.in[in], value, state), h_size, (in == 1 ? h : c).begin());
    }
    const size_t step = value / batch(), batch_row = value % batch();
    for (size_t i = 0; i < a.steps; ++i) {
      const size_t t = a.layer.direction[d].reverse ? a.steps - 1 - i : i, at = t * a.rows + row;
      layer.step(row_at(seen_.in[0], value, at * x_elems(a.layer)), h.data(), c.data());
      if (!is_seen(0)) continue;
      const size_t first = at * width + d * h_size;
      for (size_t k = 0; k < h_size; ++k) compare(row_at(seen_.out[0], value, first)[k], h[k], {step, batch_row, first + k});
    }
    for (size_t out = 1; out < 3; ++out) {
      if (!is_seen(out)) continue;
      const float *y = row_at(seen_.out[out], value, state);
      for (size_t k = 0; k < h_size; ++k) compare(y[k], out == 1 ? h[k] : c[k], {step, batch_row, state + k});
    }
  }

  void dense() {
    const AttrDense &a = *model_.attr<AttrDense>(node_);
    const Matrix m = model_.matrix(a.matrix);
    const size_t bias_size = vector_bytes(m.format, m.shape) / sizeof(float);
    for (uint32_t i = 0; i < m.count; ++i) {
      const ExactMatrix matrix(m, i);
      std::vector<float> bias(a.output_size, 0.0f), y(a.output_size);
      if (a.bias != kNone) bias = unit_numbers(model_.weights(a.bias) + i * bias_size, 1, a.output_size, m.format.nr);
      const uint32_t repeats = a.groups / m.count;
      const size_t rows = row_count(seen_.in[0]), stride = stride_of(rows * a.groups, double(a.input_size) * a.output_size);
      for (size_t place = 0; place < rows * repeats; place += stride) {
        const size_t row = place / repeats;
        const uint32_t v = i * repeats + static_cast<uint32_t>(place % repeats);
        matrix.multiply(seen_.in[0].row(row) + size_t{v} * a.input_size, bias.data(), y.data());
        const float *got = seen_.out[0].row(row) + size_t{v} * a.output_size;
        for (uint32_t k = 0; k < a.output_size; ++k)
          compare(got[k], exact_activation(a.act, y[k]), {row / batch(), row % batch(), size_t{v} * a.output_size + k});
      }
    }
  }

  // The elements of x under the window at output (t, oh, ow), of one group.
  void patch(const AttrConv &a, size_t row, int64_t t, int64_t steps, const uint32_t (&o)[2], uint32_t group, float *to) const {
    const BlobWindow &w = a.window;
    for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
      const int64_t at = t - a.lead + int64_t{tap} * a.time_dilation;
      const bool there = at >= 0 && at < steps;
      const float *x = there ? seen_.in[0].row(static_cast<size_t>(at) * batch() + row) : nullptr;
      for (uint32_t kh = 0; kh < w.kernel[0]; ++kh) {
        const int64_t ih = int64_t{o[0]} * w.stride[0] + int64_t{kh} * w.dilation[0] - w.pad[0];
        for (uint32_t kw = 0; kw < w.kernel[1]; ++kw) {
          const int64_t iw = int64_t{o[1]} * w.stride[1] + int64_t{kw} * w.dilation[1] - w.pad[1];
          const bool inside = there && ih >= 0 && ih < w.in_size[0] && iw >= 0 && iw < w.in_size[1];
          for (uint32_t c = 0; c < a.in_channels; ++c) {
            const int64_t channel = int64_t{group} * a.in_channels + c;
            *to++ = inside ? x[w.x_first + ih * w.x_stride[0] + iw * w.x_stride[1] + channel * w.x_stride[2]] : 0.0f;
          }
        }
      }
    }
  }

  void conv() {
    const AttrConv &a = *model_.attr<AttrConv>(node_);
    const Matrix m = model_.matrix(a.matrix);
    const size_t bias_size = vector_bytes(m.format, m.shape) / sizeof(float), steps = row_count(seen_.in[0]) / batch();
    std::vector<float> x(m.shape.k), y(a.out_channels);
    for (uint32_t group = 0; group < m.count; ++group) {
      const ExactMatrix matrix(m, group);
      std::vector<float> bias(a.out_channels, 0.0f);
      if (a.bias != kNone) bias = unit_numbers(model_.weights(a.bias) + group * bias_size, 1, a.out_channels, m.format.nr);
      const size_t height = a.window.out_size[0], width = a.window.out_size[1], places = height * width;
      const size_t stride = stride_of(batch() * steps * places * m.count, double(a.out_channels) * m.shape.k);
      for (size_t row = 0; row < batch(); ++row) {
        const size_t last = live(row, steps);
        for (size_t i = 0; i < last * places; i += stride) {
          const size_t t = i / places;
          const uint32_t at[2] = {static_cast<uint32_t>(i % places / width), static_cast<uint32_t>(i % width)};
          patch(a, row, static_cast<int64_t>(t), static_cast<int64_t>(last), at, group, x.data());
          matrix.multiply(x.data(), bias.data(), y.data());
          const size_t first = a.window.y_first + size_t{at[0]} * a.window.y_stride[0] + size_t{at[1]} * a.window.y_stride[1] +
                               size_t{group} * a.out_channels;
          const size_t apart = a.y_plane != 0 ? a.y_plane : 1;
          const float *got = seen_.out[0].row(t * batch() + row) + first;
          for (uint32_t k = 0; k < a.out_channels; ++k)
            compare(got[k * apart], exact_activation(a.act, y[k]), {t, row, first + k * apart});
        }
      }
    }
  }

  const Model &model_;
  const BlobNode &node_;
  const SeenNode &seen_;
  const double most_work_;
  ExactResult *result_;
};

bool is_known(const Model &m, const BlobNode &node) {
  for (const uint32_t i : matrices_of_node(m, node)) {
    if (!ExactMatrix::knows(m.matrix(i))) return false;
  }
  return true;
}

}  // namespace

void initial_state(const Model &m, const SeenNode &seen, uint32_t state, size_t in, const BlobStrided &at, size_t row,
                   std::vector<float> *to) {
  if (in < seen.in.size() && !seen.in[in].rows.empty()) {
    const float *from = seen.in[in].row(row);
    for (size_t i = 0; i < to->size(); ++i) (*to)[i] = from[at.first + i * at.stride];
    return;
  }
  const BlobState &s = m.states[state];
  if (s.init == kNone) return;
  const float *from = m.weights(s.init) + (s.per_row != 0 ? row * s.elems : 0);
  std::copy(from, from + s.elems, to->begin());
}

std::vector<bool> low_precision_nodes(const Model &m) {
  std::vector<bool> out;
  for (uint32_t n = 0; n < m.nodes.count; ++n) {
    bool any = false;
    for (const uint32_t i : matrices_of_node(m, m.nodes[n])) {
      const PanelFormat &format = m.matrix(i).format;
      any = any || format.weight != DType::kF32 || is_sparse(format);
    }
    out.push_back(any);
  }
  return out;
}

ExactResult check_exactly(const Model &m, const SeenRun &seen, double most_work) {
  const FlushDenormals flush;
  ExactResult result;
  const std::vector<bool> wanted = low_precision_nodes(m);
  for (uint32_t n = 0; n < m.nodes.count; ++n) {
    if (!wanted[n] || seen.nodes[n].batch == 0) continue;
    if (!is_known(m, m.nodes[n])) {
      result.skipped.emplace_back(m.string(m.nodes[n].name));
      continue;
    }
    Check(m, m.nodes[n], seen.nodes[n], most_work, &result).run();
    ++result.layers;
  }
  return result;
}

bool kernels_fuse(const Model &m) {
  for (uint32_t i = 0; i < m.matrices.count; ++i) {
    if (m.matrix(i).format.nr != kMaxNr && m.matrix(i).format.nr != 0) return false;
  }
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// Nodes whose bits are the same on every CPU.
static std::vector<bool> integer_nodes(const Model &m) {
  std::vector<bool> out = low_precision_nodes(m);
  for (uint32_t n = 0; n < m.nodes.count; ++n) {
    for (const uint32_t i : matrices_of_node(m, m.nodes[n])) out[n] = out[n] && is_fixed_point(m.matrix(i).format);
  }
  return out;
}

bool is_exact(Runner *runner, const Arrays &inputs, double most_work, std::string *report) {
  Model model;
  if (!read_model(&runner->opened(), &model)) return false;
  const std::vector<bool> wanted = kernels_fuse(model) ? low_precision_nodes(model) : integer_nodes(model);
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
    *report = "not compared with the exact evaluation: the kernels that run this blob here round products before they add them\n";
    return true;
  }
  const ExactResult result = check_exactly(model, watch_run(runner, inputs, wanted), most_work);
  *report = "exact evaluation of " + std::to_string(result.layers) + (result.layers == 1 ? " layer" : " layers") +
            " of low precision or blocks: ";
  *report +=
      result.difference.empty() ? std::to_string(result.numbers) + " numbers, equal\n" : "DIFFERS: " + result.difference + "\n";
  for (const std::string &name : result.skipped) *report += "  not known to it: '" + name + "'\n";
  return result.difference.empty();
}

}  // namespace rnnp::compiler
