// dim.h -- a size, or an element of shape arithmetic, as an expression: a polynomial with integer coefficients over open dimensions
// (all of them 1 or more), parts of such sums rounded down by a constant, and values that nothing is known of. Its form is
// canonical, so that equality is decided by algebra and never by a number that stands in for an open size. Pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_DIM_H_
#define RNNPACK_COMPILER_ONNX_DIM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rnnp::compiler {

class Dim {
 public:
  Dim(int64_t number = 0);  // NOLINT: a number is one
  // An open dimension. `stand_in` is what views compute with until the number is known.
  static Dim symbol(const std::string &name, int64_t stand_in);
  // A value that only equals itself.
  static Dim unknown(const std::string &name, int64_t stand_in);

  bool is_number() const;
  int64_t number() const;    // of one that is a number
  int64_t stand_in() const;  // of any

  Dim operator+(const Dim &other) const;
  Dim operator-(const Dim &other) const;
  Dim operator*(const Dim &other) const;
  bool operator==(const Dim &other) const { return terms_ == other.terms_; }
  bool operator!=(const Dim &other) const { return terms_ != other.terms_; }
  // Rounded down; divisor > 0. Nothing where the coefficients are too large.
  Dim floor_div(int64_t divisor) const;
  // Nothing where the division leaves a rest for some sizes, or nothing is known.
  std::optional<Dim> exact_div(const Dim &divisor) const;

  // The least it can be, and the most; nothing where there is no bound.
  std::optional<int64_t> least() const;
  std::optional<int64_t> most() const;
  // Whether it is below the other for all sizes, or for none; nothing where that differs.
  std::optional<bool> is_less(const Dim &other) const;
  std::optional<bool> is_equal(const Dim &other) const;

  // "2*steps - 3"
  std::string text() const;

 private:
  struct Factor {
    std::string name;
    int64_t stand_in = 0, least = 0;
    bool bounded = true;  // from below, by `least`
    bool operator<(const Factor &other) const { return name < other.name; }
    bool operator==(const Factor &other) const { return name == other.name; }
  };
  using Product = std::vector<Factor>;  // sorted; empty: of the number
  void add(const Product &product, int64_t count);
  static Dim of(const Factor &factor);
  static std::optional<int64_t> least_of(const Product &product);

  std::map<Product, int64_t> terms_;  // none is 0
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_DIM_H_
