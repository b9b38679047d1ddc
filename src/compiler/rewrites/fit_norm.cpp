// fit_norm.cpp -- Contract: fit_norm.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/fit_norm.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace rnnp::compiler {
namespace {

constexpr double kWidths[] = {0, 1e4, 1e4, 1e4, 1e-3, 3e-3};
constexpr size_t kFirstWide = 1, kFirstNarrow = 4;

struct NormMoments {
  double mean = 0, variance = 0;
};

NormMoments norm_moments(const std::vector<double> &row, const Span &span) {
  NormMoments m;
  const double count = static_cast<double>(span.count);
  for (size_t i = span.first; i < span.first + span.count; ++i) m.mean += row[i] / count;
  for (size_t i = span.first; i < span.first + span.count; ++i) m.variance += (row[i] - m.mean) * (row[i] - m.mean) / count;
  return m;
}

}  // namespace

bool is_near(double a, double b) {
  return std::fabs(a - b) <= 1e-6 * std::max(1.0, std::fabs(b));
}

std::vector<double> FittedNorm::apply(const std::vector<double> &row, size_t first, const Span &span) const {
  const NormMoments m = norm_moments(row, span);
  std::vector<double> out(scale.size());
  for (size_t u = 0; u < out.size(); ++u) out[u] = (row[first + u] - m.mean) / std::sqrt(m.variance + epsilon) * scale[u] + bias[u];
  return out;
}

NormProbe::NormProbe(size_t width) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 1);
  for (const double scale : kWidths) {
    rows_.emplace_back(width);
    for (double &v : rows_.back()) v = scale * normal(random);
  }
}

std::optional<FittedNorm> NormProbe::fit(const Rows &made, size_t first, const Span &span) const {
  FittedNorm norm;
  norm.bias = made[0];
  // Scales by least squares over the wide rows.
  std::vector<double> products(made[0].size(), 0.0), squares(made[0].size(), 0.0);
  for (size_t r = kFirstWide; r < kFirstNarrow; ++r) {
    const NormMoments m = norm_moments(rows_[r], span);
    for (size_t u = 0; u < products.size(); ++u) {
      const double n = (rows_[r][first + u] - m.mean) / std::sqrt(m.variance);
      products[u] += n * (made[r][u] - norm.bias[u]);
      squares[u] += n * n;
    }
  }
  for (size_t u = 0; u < products.size(); ++u) norm.scale.push_back(products[u] / squares[u]);
  // Epsilon where it is seen best.
  const std::vector<double> &row = rows_[kFirstNarrow];
  const NormMoments m = norm_moments(row, span);
  size_t best = 0;
  const auto seen = [&](size_t u) { return std::fabs(norm.scale[u] * (row[first + u] - m.mean)); };
  for (size_t u = 1; u < products.size(); ++u) best = seen(u) > seen(best) ? u : best;
  const double factor = (made[kFirstNarrow][best] - norm.bias[best]) / (norm.scale[best] * (row[first + best] - m.mean));
  norm.epsilon = std::max(0.0, 1 / (factor * factor) - m.variance);
  for (size_t r = kFirstWide; r < made.size(); ++r) {
    const std::vector<double> want = norm.apply(rows_[r], first, span);
    for (size_t u = 0; u < want.size(); ++u) {
      if (!is_near(made[r][u], want[u])) return std::nullopt;
    }
  }
  return norm;
}

}  // namespace rnnp::compiler
