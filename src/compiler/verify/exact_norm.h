// exact_norm.h -- the cell of a layer-normalised LSTM as docs/KERNELS.md defines it, of one row, in plain loops over units. Nothing
// of the library's cell is used. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_EXACT_NORM_H_
#define RNNPACK_COMPILER_VERIFY_EXACT_NORM_H_

#include <vector>

#include "format/model.h"

namespace rnnp::compiler {

class ExactNorm {
 public:
  ExactNorm(const Model &model, const AttrNormRecurrent &attr, uint32_t direction);
  // Whether R h has a norm of its own.
  bool is_apart() const { return !h_scale_.empty(); }
  // Products of the gates i o f c; of_h is not read where one norm is of both. h and c are moved on.
  void step(const std::vector<float> &of_x, const std::vector<float> &of_h, float *h, float *c) const;

 private:
  std::vector<float> normed(const std::vector<float> &v, float epsilon, bool by_gate) const;

  const BlobCellNorm &norm_;
  const size_t hidden_;
  const bool by_gate_, keeps_c_;
  std::vector<float> x_scale_, h_scale_, bias_, c_scale_, c_bias_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_EXACT_NORM_H_
