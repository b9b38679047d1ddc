// comparison.cpp -- Contract: comparison.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

double relative(double error, double expected) {
  return error / std::max(1.0, std::fabs(expected));
}

bool same_bits(const Array &a, const Array &b) {
  return a.shape == b.shape && a.f32.size() == b.f32.size() &&
         std::memcmp(a.f32.data(), b.f32.data(), a.f32.size() * sizeof(float)) == 0;
}

// "3 calls of 7, 9 and 4 steps"
std::string calls_text(const std::vector<size_t> &cuts) {
  constexpr size_t kShown = 8;
  std::string text = std::to_string(cuts.size()) + (cuts.size() == 1 ? " call of " : " calls of ");
  for (size_t i = 0; i < cuts.size() && i < kShown; ++i)
    text += (i == 0 ? "" : i + 1 == cuts.size() ? " and " : ", ") + std::to_string(cuts[i]);
  return text + (cuts.size() > kShown ? ", ... steps" : " steps");
}

}  // namespace

Comparison compare(const Array &got, const Tensor &expected) {
  Comparison result;
  result.elements = got.f32.size();
  result.same_size = static_cast<int64_t>(got.f32.size()) == expected.size();
  if (!result.same_size) return result;
  for (size_t i = 0; i < got.f32.size(); ++i) {
    const double want = expected.data[i], have = static_cast<double>(got.f32[i]);
    const auto rounded = static_cast<double>(static_cast<float>(want));
    if (!std::isfinite(have) || !std::isfinite(rounded)) {
      const bool same = rounded == have || (std::isnan(want) && std::isnan(have));
      if (!same && result.one_sided == 0) result.worst_at = i;
      ++(same ? result.not_finite : result.one_sided);
      result.undefined += std::isnan(want) && std::isfinite(have) ? 1 : 0;
      continue;
    }
    const double error = std::fabs(want - have);
    if (result.one_sided == 0 && relative(error, want) > result.worst_relative) result.worst_at = i;
    result.worst = std::max(result.worst, error);
    result.signal += want * want;
    result.noise += error * error;
    result.worst_relative = std::max(result.worst_relative, relative(error, want));
  }
  return result;
}

double Comparison::sqnr() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

double distance(const Tensor &a, const Tensor &b) {
  double most = 0;
  for (size_t i = 0; i < a.data.size() && i < b.data.size(); ++i) {
    const double error = relative(std::fabs(a.data[i] - b.data[i]), a.data[i]);
    if (std::isfinite(error)) most = std::max(most, error);
  }
  return most;
}

std::string comparison_text(const std::string &name, const Array &got, const Tensor &expected, const Comparison &result) {
  std::string text = name + " " + shape_text(got.shape) + ": ";
  if (!result.same_size || !result.same_shape) return text + "the evaluation gives " + shape_text(expected.shape);
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "max abs error %.3g, max relative error %.3g", result.worst, result.worst_relative);
  const size_t finite = result.elements - result.not_finite - result.one_sided;
  text += finite == 0 && result.elements != 0 ? "no finite element to compare" : numbers;
  if (result.not_finite != 0)
    text += "; " + std::to_string(result.not_finite) + " of " + std::to_string(result.elements) +
            " elements are NaN or infinite on both sides";
  if (result.one_sided != 0) text += "; " + std::to_string(result.one_sided) + " are NaN or infinite on one side only";
  return text;
}

bool pieces_agree(const Arrays &whole, const std::vector<size_t> &cuts,
                  const std::function<Arrays(const std::vector<size_t> &)> &run, std::string *report) {
  const Arrays pieces = run(cuts);
  bool good = true;
  for (const auto &output : whole) {
    const auto piece = pieces.find(output.first);
    if (piece != pieces.end() && same_bits(output.second, piece->second)) continue;
    *report += output.first + ": " + calls_text(cuts) + " give other bits than one call  FAILED\n";
    good = false;
  }
  if (good) *report += calls_text(cuts) + ": the same bits as one call\n";
  return good;
}

}  // namespace rnnp::compiler
