// rounding.cpp -- Contract: rounding.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/rounding.h"

#include <algorithm>
#include <cmath>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Integers that panels of a type hold. Of bytes, neighbours at k = 2i and 2i + 1 add up to `pair` at most.
struct Range {
  double low, high, pair;
};
constexpr Range kBytes = {-127, 127, 129}, kByteGroups = {-127, 127, 1000}, kHalves = {-8, 7, 1000};

// Weights that share a scale: [0, count), the first of which is at an even place.
struct Group {
  const float *w;
  uint32_t count;
};

// The least scale with which nothing is cut: as the packer chooses it.
double whole_scale(const Group &group, const Range &range) {
  double most = 0, pair = 0;
  for (uint32_t i = 0; i < group.count; ++i) most = std::max(most, std::fabs(double{group.w[i]}));
  for (uint32_t i = 0; i + 1 < group.count; i += 2) pair = std::max(pair, std::fabs(double{group.w[i]} + double{group.w[i + 1]}));
  return std::max(most / range.high, pair / (range.pair - 1));
}

// The integer for place i, whose neighbour at an even place is decided already.
double integer(double v, const double *q, uint32_t i, const Range &range) {
  double low = range.low, high = range.high;
  if (i % 2 == 1) {
    high = std::min(high, range.pair - q[i - 1]);
    low = std::max(low, -range.pair - q[i - 1]);
  }
  return std::clamp(std::nearbyint(v), low, high);
}

double squared_error(const Group &group, double scale, const Range &range, double *q) {
  double sum = 0;
  for (uint32_t i = 0; i < group.count; ++i) {
    q[i] = integer(double{group.w[i]} / scale, q, i, range);
    const double error = double{group.w[i]} - q[i] * scale;
    sum += error * error;
  }
  return sum;
}

// Of scales from the whole one down to half of it.
double best_scale(const Group &group, const Range &range) {
  constexpr int kTrials = 50;
  const double whole = whole_scale(group, range);
  if (whole == 0) return 0;
  std::vector<double> q(group.count);
  double best = whole, least = HUGE_VAL;
  for (int i = 0; i < kTrials; ++i) {
    const double scale = static_cast<double>(static_cast<float>(whole * (1 - 0.5 * i / kTrials)));
    const double error = squared_error(group, scale, range, q.data());
    if (error < least) least = error, best = scale;
  }
  return best;
}

// U, upper triangular, with inverse(H) = U^T U, of H to whose diagonal a hundredth of its mean is added. With H = L^T L, L lower
// triangular, U is the inverse of L transposed.
std::vector<double> factor_of_inverse(const Products &seen) {
  const size_t n = seen.k();
  std::vector<double> h = seen.sums(), l(n * n, 0.0), u(n * n, 0.0);
  double mean = 0;
  for (size_t i = 0; i < n; ++i) mean += h[i * n + i] / static_cast<double>(n);
  for (size_t i = 0; i < n; ++i) h[i * n + i] += mean > 0 ? 0.01 * mean : 1.0;
  for (size_t j = n; j-- > 0;) {
    for (size_t p = j + 1; p < n; ++p) {
      const double by = l[p * n + j];
      for (size_t i = 0; i <= j; ++i) h[j * n + i] -= by * l[p * n + i];
    }
    const double root = std::sqrt(std::max(h[j * n + j], 1e-300));
    for (size_t i = 0; i <= j; ++i) l[j * n + i] = h[j * n + i] / root;
    l[j * n + j] = root;
  }
  for (size_t j = 0; j < n; ++j) {
    double *column = u.data() + j * n;  // column j of L's inverse is row j of U
    column[j] = 1 / l[j * n + j];
    for (size_t i = j + 1; i < n; ++i) {
      double v = 0;
      for (size_t p = j; p < i; ++p) v -= l[i * n + p] * column[p];
      column[i] = v / l[i * n + i];
    }
  }
  return u;
}

// Each place in turn is rounded, and those behind it make good what it errs. scales: of each group of `group_k`.
void gptq_row(const float *w, uint32_t k, const float *scales, uint32_t group_k, const Range &range, const std::vector<double> &u,
              double *q) {
  std::vector<double> left(w, w + k);
  for (uint32_t i = 0; i < k; ++i) {
    const double scale = double{scales[i / group_k]};
    q[i] = scale == 0 ? 0 : integer(left[i] / scale, q, i, range);
    const double error = (left[i] - q[i] * scale) / u[size_t{i} * k + i];
    for (uint32_t j = i + 1; j < k; ++j) left[j] -= error * u[size_t{i} * k + j];
  }
}

}  // namespace

Rounding rounding_named(const std::string &name) {
  if (name == "round") return Rounding::kNearest;
  if (name == "mse") return Rounding::kLeastSquares;
  if (name == "gptq") return Rounding::kGptq;
  throw UsageError("unknown method of rounding " + quote(name) + "; accepted: round, mse, gptq");
}

void Products::add(const float *row) {
  for (uint32_t i = 0; i < k_; ++i) {
    if (!std::isfinite(row[i])) return;
  }
  ++rows_;
  for (uint32_t i = 0; i < k_; ++i) {
    if (row[i] == 0) continue;
    double *to = sums_.data() + size_t{i} * k_;
    for (uint32_t j = 0; j < k_; ++j) to[j] += double{row[i]} * double{row[j]};
  }
}

void round_weights(Rounding how, const std::vector<float> &w, uint32_t k, const Products *seen, Storage *storage) {
  if (how == Rounding::kNearest || !is_quantised(storage->type) || !storage->scales.empty() || storage->diagonal) return;
  if (std::any_of(w.begin(), w.end(), [](float v) { return !std::isfinite(v); })) return;
  const bool gptq = how == Rounding::kGptq && seen != nullptr && seen->rows() != 0;
  const bool bytes = storage->type == DType::kI8;
  const Range &range = !bytes ? kHalves : storage->group_k != 0 ? kByteGroups : kBytes;
  const uint32_t group_k = storage->group_k == 0 ? k : storage->group_k, groups = storage->groups(k);
  const std::vector<double> u = gptq ? factor_of_inverse(*seen) : std::vector<double>();
  std::vector<double> q(k);
  storage->rounded = w;
  for (size_t row = 0; row < w.size() / k; ++row) {
    const float *from = w.data() + row * k;
    for (uint32_t g = 0; g < groups; ++g) {
      const Group group = {from + size_t{g} * group_k, std::min(group_k, k - g * group_k)};
      // A byte's scale has room to spare; half of one is worth cutting for.
      const float scale = static_cast<float>(gptq && bytes ? whole_scale(group, range) : best_scale(group, range));
      storage->scales.push_back(scale);
      if (!gptq && scale != 0) squared_error(group, double{scale}, range, q.data() + size_t{g} * group_k);
    }
    const float *scales = storage->scales.data() + row * groups;
    if (gptq) gptq_row(from, k, scales, group_k, range, u, q.data());
    for (uint32_t i = 0; i < k; ++i) {
      const float scale = scales[i / group_k];
      storage->rounded[row * k + i] = scale == 0 ? 0.0f : static_cast<float>(q[i] * double{scale});
    }
  }
}

}  // namespace rnnp::compiler
