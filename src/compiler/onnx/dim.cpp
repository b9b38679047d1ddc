// dim.cpp -- Contract: dim.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/dim.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostOfDim = int64_t{1} << 60;
constexpr size_t kMostTerms = 64, kMostFactors = 8;

int64_t dim_sum(int64_t a, int64_t b) {
  return std::clamp(a + b, -kMostOfDim, kMostOfDim);
}

int64_t dim_product(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? kMostOfDim : -kMostOfDim;
  return std::clamp(out, -kMostOfDim, kMostOfDim);
}

int64_t dim_floor(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

}  // namespace

Dim::Dim(int64_t number) {
  add({}, number);
}

Dim Dim::of(const Factor &factor) {
  Dim out;
  out.add({factor}, 1);
  return out;
}

Dim Dim::symbol(const std::string &name, int64_t stand_in) {
  return of({name, stand_in, 1, true});
}

Dim Dim::unknown(const std::string &name, int64_t stand_in) {
  return of({name, stand_in, 0, false});
}

void Dim::add(const Product &product, int64_t count) {
  if (count == 0) return;
  if (product.size() > kMostFactors) throw Refusal("a size is a product of more than 8 open dimensions");
  int64_t &at = terms_[product];
  at = dim_sum(at, count);
  if (std::abs(at) == kMostOfDim) throw Refusal("a size is larger than 2^60");
  if (at == 0) terms_.erase(product);
  if (terms_.size() > kMostTerms) throw Refusal("a size is a sum of more than 64 terms");
}

bool Dim::is_number() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

int64_t Dim::number() const {
  return terms_.empty() ? 0 : terms_.begin()->second;
}

int64_t Dim::stand_in() const {
  int64_t sum = 0;
  for (const auto &term : terms_) {
    int64_t product = term.second;
    for (const Factor &factor : term.first) product = dim_product(product, factor.stand_in);
    sum = dim_sum(sum, product);
  }
  return sum;
}

Dim Dim::operator+(const Dim &other) const {
  Dim out = *this;
  for (const auto &term : other.terms_) out.add(term.first, term.second);
  return out;
}

Dim Dim::operator-(const Dim &other) const {
  Dim out = *this;
  for (const auto &term : other.terms_) out.add(term.first, -term.second);
  return out;
}

Dim Dim::operator*(const Dim &other) const {
  Dim out;
  for (const auto &a : terms_) {
    for (const auto &b : other.terms_) {
      Product product = a.first;
      product.insert(product.end(), b.first.begin(), b.first.end());
      std::sort(product.begin(), product.end());
      out.add(product, dim_product(a.second, b.second));
    }
  }
  return out;
}

// What the divisor divides comes out; of the rest the coefficients are below it.
Dim Dim::floor_div(int64_t divisor) const {
  Dim whole, rest;
  for (const auto &term : terms_) {
    const int64_t out = dim_floor(term.second, divisor);
    whole.add(term.first, out);
    rest.add(term.first, term.second - out * divisor);
  }
  if (rest.is_number()) return whole + dim_floor(rest.number(), divisor);
  const std::optional<int64_t> low = rest.least();
  Factor factor{"floor((" + rest.text() + ") / " + std::to_string(divisor) + ")", dim_floor(rest.stand_in(), divisor),
                low ? dim_floor(*low, divisor) : 0, low.has_value()};
  return whole + of(factor);
}

std::optional<Dim> Dim::exact_div(const Dim &divisor) const {
  if (divisor.terms_.size() != 1) return std::nullopt;
  const auto &by = *divisor.terms_.begin();
  Dim out;
  for (const auto &term : terms_) {
    if (term.second % by.second != 0) return std::nullopt;
    Product left = term.first;
    for (const Factor &factor : by.first) {
      const auto found = std::find(left.begin(), left.end(), factor);
      if (found == left.end() || !factor.bounded || factor.least < 1) return std::nullopt;
      left.erase(found);
    }
    out.add(left, term.second / by.second);
  }
  return out;
}

std::optional<int64_t> Dim::least_of(const Product &product) {
  int64_t least = 1;
  for (const Factor &factor : product) {
    if (!factor.bounded || factor.least < 0) return std::nullopt;
    least = dim_product(least, factor.least);
  }
  return least;
}

std::optional<int64_t> Dim::least() const {
  int64_t sum = 0;
  for (const auto &term : terms_) {
    const std::optional<int64_t> low = least_of(term.first);
    if ((term.second < 0 && !term.first.empty()) || !low) return std::nullopt;
    sum = dim_sum(sum, dim_product(term.second, *low));
  }
  return sum;
}

std::optional<int64_t> Dim::most() const {
  const std::optional<int64_t> low = (Dim() - *this).least();
  return low ? std::optional<int64_t>(-*low) : std::nullopt;
}

std::optional<bool> Dim::is_less(const Dim &other) const {
  const Dim more = other - *this;
  if (const auto low = more.least(); low && *low > 0) return true;
  if (const auto high = more.most(); high && *high <= 0) return false;
  return std::nullopt;
}

std::optional<bool> Dim::is_equal(const Dim &other) const {
  if (*this == other) return true;
  const auto less = is_less(other), greater = other.is_less(*this);
  if ((less && *less) || (greater && *greater)) return false;
  return std::nullopt;
}

std::string Dim::text() const {
  std::string out;
  // The number comes last.
  for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
    const int64_t size = std::abs(term->second);
    out += out.empty() ? (term->second < 0 ? "-" : "") : (term->second < 0 ? " - " : " + ");
    std::string product = size == 1 && !term->first.empty() ? "" : std::to_string(size);
    for (const Factor &factor : term->first) product += (product.empty() ? "" : "*") + factor.name;
    out += product;
  }
  return out.empty() ? "0" : out;
}

}  // namespace rnnp::compiler
