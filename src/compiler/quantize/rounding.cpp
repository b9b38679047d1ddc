// rounding.cpp -- Contract: rounding.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/rounding.h"

#include <algorithm>
#include <cmath>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr double kMostByte = 127, kMostPair = 129;

// The least scale with which nothing is cut: as panels of int8 choose it.
double whole_scale(const float *w, uint32_t k) {
  double most = 0, pair = 0;
  for (uint32_t i = 0; i < k; ++i) most = std::max(most, std::fabs(double{w[i]}));
  for (uint32_t i = 0; i + 1 < k; i += 2) pair = std::max(pair, std::fabs(double{w[i]} + double{w[i + 1]}));
  return std::max(most / kMostByte, pair / (kMostPair - 1));
}

// The whole number for place i, whose neighbour at an even place is decided already.
double whole_number(double v, const double *q, uint32_t i) {
  double low = -kMostByte, high = kMostByte;
  if (i % 2 == 1) {
    high = std::min(high, kMostPair - q[i - 1]);
    low = std::max(low, -kMostPair - q[i - 1]);
  }
  return std::clamp(std::nearbyint(v), low, high);
}

double squared_error(const float *w, uint32_t k, double scale, std::vector<double> *q) {
  double sum = 0;
  for (uint32_t i = 0; i < k; ++i) {
    (*q)[i] = whole_number(double{w[i]} / scale, q->data(), i);
    const double error = double{w[i]} - (*q)[i] * scale;
    sum += error * error;
  }
  return sum;
}

// Of scales from the whole one down to half of it.
double best_scale(const float *w, uint32_t k) {
  constexpr int kTrials = 50;
  const double whole = whole_scale(w, k);
  if (whole == 0) return 0;
  std::vector<double> q(k);
  double best = whole, least = HUGE_VAL;
  for (int i = 0; i < kTrials; ++i) {
    const double scale = static_cast<double>(static_cast<float>(whole * (1 - 0.5 * i / kTrials)));
    const double error = squared_error(w, k, scale, &q);
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

// Each place in turn is rounded, and those behind it make good what it errs.
void gptq_row(const float *w, uint32_t k, double scale, const std::vector<double> &u, std::vector<double> *q) {
  std::vector<double> left(w, w + k);
  for (uint32_t i = 0; i < k; ++i) {
    (*q)[i] = whole_number(left[i] / scale, q->data(), i);
    const double error = (left[i] - (*q)[i] * scale) / u[size_t{i} * k + i];
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
  if (how == Rounding::kNearest || storage->type != DType::kI8 || !storage->scales.empty() || storage->diagonal) return;
  if (std::any_of(w.begin(), w.end(), [](float v) { return !std::isfinite(v); })) return;
  const bool gptq = how == Rounding::kGptq && seen != nullptr && seen->rows() != 0;
  const std::vector<double> u = gptq ? factor_of_inverse(*seen) : std::vector<double>();
  std::vector<double> q(k);
  storage->rounded = w;
  for (size_t row = 0; row < w.size() / k; ++row) {
    const float *from = w.data() + row * k;
    const double scale = gptq ? static_cast<double>(static_cast<float>(whole_scale(from, k))) : best_scale(from, k);
    storage->scales.push_back(static_cast<float>(scale));
    if (scale == 0) continue;
    if (gptq) {
      gptq_row(from, k, scale, u, &q);
    } else {
      squared_error(from, k, scale, &q);
    }
    for (uint32_t i = 0; i < k; ++i) storage->rounded[row * k + i] = static_cast<float>(q[i] * scale);
  }
}

}  // namespace rnnp::compiler
