// samples.h -- single elements of what a large convolution or product gives out, each in double and by itself: so that a
// check of large networks need not evaluate them whole. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_SAMPLES_H_
#define RNNPACK_COMPILER_EVAL_SAMPLES_H_

#include <random>
#include <vector>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {

struct Sample {
  int64_t at = 0;  // the element's place in the dense output
  double value = 0;
  double magnitude = 0;  // its terms' absolute values, summed: roundings of f32 are small against it
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

// A node of which single elements can be had: its first output.
class SampledNode {
 public:
  virtual ~SampledNode() = default;
  virtual Shape shape() const = 0;
  virtual double work() const = 0;  // multiply-adds of all elements
  // Some elements, of about so many multiply-adds together; the same ones for a seed.
  virtual std::vector<Sample> draw(double work, uint32_t seed) const = 0;
};

// nullptr for operators that are evaluated whole. The call must outlive it. Throws Refusal.
std::unique_ptr<SampledNode> sampled_node(const EvalCall &call);
bool can_be_sampled(const std::string &op_type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_SAMPLES_H_
