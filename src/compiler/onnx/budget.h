// budget.h -- how much the host may compute and keep for one model, whatever a small file asks for. A Budget counts what its thread
// makes while it lives: elements of tensors (memory) and operations on them (time). Inner ones count apart.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_BUDGET_H_
#define RNNPACK_COMPILER_ONNX_BUDGET_H_

#include <cstdint>
#include <string>

namespace rnnp::compiler {

struct BudgetLimits {
  int64_t elements = 0;
  double operations = 0;
};

class Budget {
 public:
  // `what` begins the refusal: "folding its constants".
  Budget(const char *what, BudgetLimits limits);
  ~Budget();
  Budget(const Budget &) = delete;
  Budget &operator=(const Budget &) = delete;

  // Charge the thread's innermost budget, if there is one; throw Refusal when it is used up, and from then on.
  static void charge_elements(int64_t count);
  static void charge_operations(double count);
  // False, and nothing charged, when there is not so much left.
  static bool afford_operations(double count);

  int64_t elements() const { return elements_; }
  double operations() const { return operations_; }

 private:
  const char *what_;
  BudgetLimits limits_;
  int64_t elements_ = 0;
  double operations_ = 0;
  Budget *outer_;
};

// For one reading of a file of so many bytes: a few copies of what it stores, and as much again as masks and states need.
BudgetLimits reading_limits(int64_t file_bytes);
// For one evaluation of a graph by `verify`: `elements` are those of its file and its inputs.
BudgetLimits evaluation_limits(int64_t file_bytes, int64_t input_elements);

// The most that any reading and evaluation of the process has counted since the last call with `reset`; for tests.
BudgetLimits most_counted(bool reset);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_BUDGET_H_
