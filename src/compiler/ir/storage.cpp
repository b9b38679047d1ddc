// storage.cpp -- Contract: storage.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/storage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rnnp::compiler {
namespace {

constexpr float kMostByte = 127.0f, kMostPair = 129.0f;

struct Row {
  const float *w, *steps;
  uint32_t k;
  int64_t apart;  // the place of a number that stands apart; -1: none
};

// A weight that was put in where the file has none.
bool is_nothing(float w, float step) {
  return w == 0 && step == 0;
}

// Of the numbers that do not stand apart; 0 where they have several or none.
float common_step(const Row &row) {
  float step = 0;
  for (uint32_t k = 0; k < row.k; ++k) {
    if (k == row.apart || is_nothing(row.w[k], row.steps[k])) continue;
    if (!(row.steps[k] > 0) || !std::isfinite(row.steps[k]) || (step != 0 && row.steps[k] != step)) return 0;
    step = row.steps[k];
  }
  return step;
}

std::vector<float> integers(const Row &row, float step) {
  std::vector<float> q(row.k, 0.0f);
  for (uint32_t k = 0; k < row.k; ++k) {
    if (k != row.apart) q[k] = std::nearbyint(row.w[k] / step);
  }
  return q;
}

// Into what panels hold; the sum of the squares of what was moved.
double move_into_range(std::vector<float> *q) {
  double moved = 0;
  const auto to = [&](float *v, float target) {
    moved += double{target - *v} * (target - *v);
    *v = target;
  };
  for (float &v : *q) to(&v, std::clamp(v, -kMostByte, kMostByte));
  for (size_t k = 0; k + 1 < q->size(); k += 2) {
    float &a = (*q)[k], &b = (*q)[k + 1];
    const float excess = std::fabs(a + b) - kMostPair, sign = a + b > 0 ? 1.0f : -1.0f;
    if (excess <= 0) continue;
    const float half = std::floor(excess / 2);
    to(&a, a - sign * half);
    to(&b, b - sign * (excess - half));
  }
  return moved;
}

// The mean square of rounding anew, in squares of the file's step.
double error_of_rounding(const std::vector<float> &q) {
  float most = 0, pair = 0;
  for (const float v : q) most = std::max(most, std::fabs(v));
  for (size_t k = 0; k + 1 < q.size(); k += 2) pair = std::max(pair, std::fabs(q[k] + q[k + 1]));
  const double step = std::max(most / 127.0, pair / 128.0);
  return static_cast<double>(q.size()) * step * step / 12;
}

// False where the row's numbers are multiples of no one step.
bool store_bytes(const Row &row, size_t index, Storage *out, std::vector<float> *rounded) {
  const float step = common_step(row);
  out->scales[index] = step;
  if (step == 0) return false;
  std::vector<float> q = integers(row, step);
  std::vector<float> kept = q;
  const double moved = move_into_range(&kept);
  if (moved == 0) return true;
  ++out->moved_rows;
  if (moved > error_of_rounding(q)) {
    out->scales[index] = 0;
    return true;
  }
  for (uint32_t k = 0; k < row.k; ++k) {
    if (k != row.apart) (*rounded)[index * row.k + k] = kept[k] * step;
  }
  return true;
}

// The k of one scale of four-bit integers: the largest with which no group has two.
uint32_t group_of(const std::vector<float> &steps, uint32_t k) {
  uint32_t group = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint32_t at = static_cast<uint32_t>(i % k);
    if (at != 0 && steps[i] != steps[i - 1]) group = std::gcd(group, at);
  }
  return group;
}

}  // namespace

Storage storage_of_file(DType type, const std::vector<float> &w, const std::vector<float> &steps, uint32_t k, uint32_t units) {
  Storage out;
  out.type = type;
  if (type != DType::kI8 && type != DType::kI4) return out;
  const size_t rows = w.size() / k;
  const auto is_apart = [&](size_t i) {
    return units == k && steps[i] == 0 && !is_nothing(w[i], steps[i]) && i % k == i / k % units;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] != 0 || is_nothing(w[i], steps[i])) continue;
    if (!is_apart(i)) return {};
    out.diagonal = true;
  }
  if (type == DType::kI4) out.group_k = out.diagonal ? 0 : group_of(steps, k);
  if (out.group_k != 0) {
    for (size_t row = 0; row < rows; ++row) {
      for (uint32_t first = 0; first < k; first += out.group_k) out.scales.push_back(steps[row * k + first]);
    }
    return out;
  }
  out.scales.resize(rows);
  std::vector<float> rounded = w;
  bool known = false;
  for (size_t row = 0; row < rows; ++row) {
    const int64_t apart = out.diagonal && is_apart(row * k + row % k) ? static_cast<int64_t>(row % k) : -1;
    known = store_bytes({w.data() + row * k, steps.data() + row * k, k, apart}, row, &out, &rounded) || known;
  }
  if (!known) return {};
  if (rounded != w) out.rounded = std::move(rounded);
  return out;
}

}  // namespace rnnp::compiler
