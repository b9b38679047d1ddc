// rounding.h -- which integers stand for a matrix's weights: the nearest ones, those of the scale that errs least, or those
// that together err least on the data that the layer sees (GPTQ: Frantar et al., 2022). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_QUANTIZE_ROUNDING_H_
#define RNNPACK_COMPILER_QUANTIZE_ROUNDING_H_

#include <string>
#include <vector>

#include "compiler/ir/storage.h"

namespace rnnp::compiler {

enum class Rounding { kNearest, kLeastSquares, kGptq };
// "round", "mse", "gptq". Throws UsageError.
Rounding rounding_named(const std::string &name);

// Sums of products of every two elements of the rows that a matrix is multiplied by, [k][k]. Rows that are not finite do not count.
class Products {
 public:
  explicit Products(uint32_t k) : k_(k), sums_(size_t{k} * k, 0.0) {}
  void add(const float *row);
  uint32_t k() const { return k_; }
  size_t rows() const { return rows_; }
  const std::vector<double> &sums() const { return sums_; }

 private:
  uint32_t k_;
  size_t rows_ = 0;
  std::vector<double> sums_;
};

// Sets the scales and rounded weights of storage of integers that has none yet; weights w [rows][k]. `seen` may be nullptr
// except for kGptq.
void round_weights(Rounding how, const std::vector<float> &w, uint32_t k, const Products *seen, Storage *storage);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_QUANTIZE_ROUNDING_H_
