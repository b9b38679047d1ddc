// linear_system.cpp -- by the normal equations and their residual once more. Contract: linear_system.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/linear_system.h"

#include <cmath>

namespace rnnp::compiler {
namespace {

// a [columns][n] for a matrix of n rows: the sum over the columns of each one times a number of it.
std::vector<double> weighted(const std::vector<double> &a, int64_t n, const double *weights, size_t columns) {
  std::vector<double> out(static_cast<size_t>(n), 0.0);
  for (size_t c = 0; c < columns; ++c) {
    for (size_t k = 0; k < out.size(); ++k) out[k] += weights[c] * a[c * out.size() + k];
  }
  return out;
}

}  // namespace

LinearSystem::LinearSystem(int64_t width, int64_t rows) : width_(width), rows_(rows) {}

void LinearSystem::add(const Tensor &made, const Tensor &given) {
  const int64_t columns = made.shape[1];
  for (int64_t c = 0; c < columns; ++c) {
    const double at_zero = made.data[static_cast<size_t>(c)];
    for (int64_t k = 0; k < width_; ++k) a_.push_back(made.data[static_cast<size_t>((k + 1) * columns + c)] - at_zero);
    for (int64_t r = 0; r < rows_; ++r) right_.push_back(given.data[static_cast<size_t>(r * columns + c)] - at_zero);
  }
}

bool LinearSystem::factor() {
  const size_t n = static_cast<size_t>(width_), columns = a_.size() / n;
  if (columns < n) return false;
  lower_.assign(n * n, 0.0);
  for (size_t c = 0; c < columns; ++c) {
    const double *a = a_.data() + c * n;
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k <= i; ++k) lower_[i * n + k] += a[i] * a[k];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k <= i; ++k) {
      double sum = lower_[i * n + k];
      for (size_t m = 0; m < k; ++m) sum -= lower_[i * n + m] * lower_[k * n + m];
      if (i != k) {
        lower_[i * n + k] = sum / lower_[k * n + k];
      } else {
        if (!(sum > 0)) return false;
        lower_[i * n + i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

std::vector<double> LinearSystem::solved(std::vector<double> right) const {
  const size_t n = right.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) right[i] -= lower_[i * n + k] * right[k];
    right[i] /= lower_[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) right[i] -= lower_[k * n + i] * right[k];
    right[i] /= lower_[i * n + i];
  }
  return right;
}

bool LinearSystem::solve(Tensor *h) {
  if (!factor()) return false;
  const size_t n = static_cast<size_t>(width_), columns = a_.size() / n;
  *h = Tensor(Elem::kFloat, {rows_, width_});
  for (size_t r = 0; r < static_cast<size_t>(rows_); ++r) {
    std::vector<double> left(columns), row(n, 0.0);
    for (int round = 0; round < 2; ++round) {
      for (size_t c = 0; c < columns; ++c) {
        left[c] = right_[c * static_cast<size_t>(rows_) + r];
        for (size_t k = 0; k < n; ++k) left[c] -= row[k] * a_[c * n + k];
      }
      const std::vector<double> more = solved(weighted(a_, width_, left.data(), columns));
      for (size_t k = 0; k < n; ++k) row[k] += more[k];
    }
    for (size_t k = 0; k < n; ++k) h->data[r * n + k] = static_cast<double>(static_cast<float>(row[k]));
  }
  return true;
}

}  // namespace rnnp::compiler
