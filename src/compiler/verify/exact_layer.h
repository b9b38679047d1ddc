// exact_layer.h -- layers of a blob evaluated as docs/KERNELS.md defines them, one row and step at a time: products by
// exact_product.h, cells and activations by the formulas of the kernels in scalar words. The bits are those of every instruction
// set with fused multiply-adds. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_EXACT_LAYER_H_
#define RNNPACK_COMPILER_VERIFY_EXACT_LAYER_H_

#include <memory>
#include <vector>

#include "compiler/verify/exact_integers.h"
#include "compiler/verify/exact_norm.h"
#include "compiler/verify/exact_product.h"

namespace rnnp::compiler {

// One direction of a recurrent node.
class ExactLayer {
 public:
  // Whether all matrices of the node are of formats that are known here.
  static bool knows(const Model &model, const AttrRecurrent &attr);
  ExactLayer(const Model &model, const AttrRecurrent &attr, uint32_t direction);

  uint32_t hidden() const { return hidden_; }
  // Whether a mask says of this x that the states stay as they are.
  bool is_masked(const float *x) const;
  // h and, of an LSTM, c are moved on by one step, or stay where x is masked.
  void step(const float *x, float *h, float *c) const;

 private:
  struct Work;
  const BlobDirection &direction_;
  const AttrRecurrent &attr_;
  uint32_t hidden_, gates_;
  std::unique_ptr<ExactIntegers> integers_;  // of an integer-only layer; what follows is empty then
  std::unique_ptr<ExactNorm> norm_;          // of a kLstmNorm
  std::unique_ptr<ExactMatrix> w_, r_;
  std::unique_ptr<ExactMatrix> candidate_;  // R of gate h, apart
  std::vector<float> bias_, r_bias_, peephole_;
};

float exact_activation(const BlobActivation &act, float x);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_EXACT_LAYER_H_
