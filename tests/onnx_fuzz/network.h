// network.h -- an opened blob with the inputs of one case: arrays in the axis order of the ONNX file become rows
// ([steps][batch][row_elems]) and back, written apart from the tool's Runner. One plain run: a thread, one call, packed tensors.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_ONNX_FUZZ_NETWORK_H_
#define RNNPACK_TESTS_ONNX_FUZZ_NETWORK_H_

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/files/files.h"
#include "support/walk.h"
#include "wire.h"

namespace rnnp::onnx_fuzz {

// Floats of the same bits. A NaN is one: its sign and payload are those of an operand, and where two meet either is right.
bool same_bits(const uint32_t *a, const uint32_t *b, size_t count);

using rnnp_test::Wrong;

// The last step of the blob would be incomplete at the sizes of the case.
struct PartOfAStep : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The rows of one tensor; words, so that indices, lengths and NaNs keep their bits.
using Words = std::vector<uint32_t>;

class Network {
 public:
  Network(const std::vector<uint8_t> &blob, const Request &request);

  const rnnp_model *model() const { return &model_; }
  size_t steps() const { return steps_; }
  uint32_t batch() const { return batch_; }
  bool causal() const { return facts_.causal != 0; }
  // Rows end where a lengths input or a constant says; only causal networks have no such constant.
  bool ends_rows() const;
  bool fixed_batch() const { return facts_.fixed_batch != 0; }
  const std::vector<rnnp_tensor_info> &inputs() const { return inputs_; }
  const std::vector<rnnp_tensor_info> &outputs() const { return outputs_; }
  bool given(size_t input) const { return given_[input]; }
  const Words &input_rows(size_t input) const { return rows_[input]; }
  bool per_step(const rnnp_tensor_info &facts) const { return facts.role == RNNP_ROLE_SEQUENCE; }

  // Options that decide the bits; those of every session of the case.
  uint32_t flags = 0, isa_allowed = 0;
  // All rows and steps in one call on one thread; lengths NULL or [batch].
  std::vector<Words> plain(const int32_t *lengths) const;
  Wired array_of(size_t output, const Words &rows) const;

 private:
  void read_sizes(const Request &request);
  Words rows_of(const rnnp_tensor_info &facts, const Wired &array) const;

  compiler::AlignedBytes blob_;
  rnnp_model model_{};
  rnnp_model_info facts_{};
  std::vector<rnnp_tensor_info> inputs_, outputs_;
  std::vector<bool> given_;
  std::vector<Words> rows_;
  size_t steps_ = 0;
  uint32_t batch_ = 0;
};

}  // namespace rnnp::onnx_fuzz
#endif  // RNNPACK_TESTS_ONNX_FUZZ_NETWORK_H_
