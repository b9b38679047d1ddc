// samples.h -- single elements of what a large convolution, product or recurrent layer gives out, each in double and by itself: so
// that a check of large networks need not evaluate them whole. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_SAMPLES_H_
#define RNNPACK_COMPILER_EVAL_SAMPLES_H_

#include <memory>
#include <random>
#include <vector>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {

// What roundings of f32 may make of a sum, as a part of its terms' absolute values.
constexpr double kRounding = 1.0 / (1 << 18);

struct Sample {
  int64_t at = 0;  // the element's place in the dense output
  double value = 0;
  double magnitude = 0;  // its terms' absolute values, summed; of what is made of sums, what kRounding of theirs makes of it
  size_t output = 0;     // of the node
};

// Places to look at: the ends of an axis as often as what lies between, as faults of padding show there alone.
class Places {
 public:
  explicit Places(uint32_t seed) : random_(seed) {}
  int64_t index(int64_t size) {
    const uint32_t end = random_() % 4;
    if (size < 2 || end == 0) return 0;
    return end == 1 ? size - 1 : static_cast<int64_t>(random_() % static_cast<uint64_t>(size));
  }

 private:
  std::mt19937 random_;
};

// A node of which single elements can be had: of its first output, and of others that it takes from the library.
class SampledNode {
 public:
  virtual ~SampledNode() = default;
  virtual Shape shape(size_t output = 0) const = 0;
  virtual double work() const = 0;  // multiply-adds of all elements
  virtual bool takes(size_t output) const { return output == 0; }
  // Some elements, of about so many multiply-adds together; the same ones for a seed. `made`: what the library has as the first
  // output, which the steps of a recurrent layer start from.
  virtual std::vector<Sample> draw(double work, uint32_t seed, const Tensor &made) const = 0;
  // Gives the outputs that follow from those taken.
  virtual void follow(EvalCall *) const {}
};

// nullptr for operators that are evaluated whole. The call must outlive it. Throws Refusal.
std::unique_ptr<SampledNode> sampled_node(const EvalCall &call);
bool can_be_sampled(const std::string &op_type);
std::unique_ptr<SampledNode> sampled_layer(const EvalCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_SAMPLES_H_
