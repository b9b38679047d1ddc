// evaluated_layer.h -- what RNN, GRU and LSTM share in double: an ONNX node's sizes, weights, activations, states and rows.
// A row of length L runs steps 0..L-1 (reverse: L-1..0); Y is 0 from L on; Y_h and Y_c are the state after its last step, and
// the initial state when L is 0. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_EVALUATED_LAYER_H_
#define RNNPACK_COMPILER_EVAL_EVALUATED_LAYER_H_

#include <string>
#include <vector>

#include "compiler/eval/eval.h"
#include "compiler/onnx/activation.h"

namespace rnnp::compiler {

struct RecurrentSizes {
  int64_t steps, batch, inputs, hidden, directions, gates;
  bool batch_first;
};

// What one direction reads; P order i o f, gate order of the ONNX text.
struct CellWeights {
  NumberPointer w, r;
  const double *wb = nullptr, *rb = nullptr, *p = nullptr;
  const Activation *act;
};

class RecurrentLayer {
 public:
  using Row = std::vector<double>;

  static bool is(const std::string &op_type) { return op_type == "RNN" || op_type == "GRU" || op_type == "LSTM"; }
  // The call must outlive it. Throws Refusal.
  explicit RecurrentLayer(const EvalCall &call);

  const RecurrentSizes &sizes() const { return s_; }
  bool is_lstm() const { return s_.gates == 4; }
  bool linear_before_reset() const { return linear_before_reset_; }
  bool input_forget() const { return input_forget_; }
  CellWeights weights(int64_t direction) const;
  double squash(const Activation &f, double x) const;

  Shape y_shape() const;
  Shape state_shape() const;
  int64_t row_length(int64_t b) const;
  // The step that a row of this length runs as its n-th.
  int64_t step_at(int64_t d, int64_t n, int64_t length) const { return reverse_ || d == 1 ? length - 1 - n : n; }
  const double *x_row(int64_t t, int64_t b) const;
  int64_t y_at(int64_t t, int64_t d, int64_t b) const;
  int64_t state_at(int64_t d, int64_t b) const;
  // Of h (input 5) or c (input 6).
  Row initial(size_t input, int64_t d, int64_t b) const;

 private:
  void read_sizes();
  void expect(size_t i, const Shape &shape) const;

  const EvalCall &call_;
  RecurrentSizes s_{};
  bool reverse_ = false, linear_before_reset_ = false, input_forget_ = false;
  double clip_ = 0;
  AsDoubles x_, biases_, peephole_;
  std::vector<Activation> acts_;
  size_t per_direction_ = 1;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_EVALUATED_LAYER_H_
