// budget.cpp -- Contract: budget.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/budget.h"

#include <algorithm>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

thread_local Budget *innermost = nullptr;
thread_local BudgetLimits most;

}  // namespace

Budget::Budget(const char *what, BudgetLimits limits) : what_(what), limits_(limits), outer_(innermost) {
  innermost = this;
}

Budget::~Budget() {
  innermost = outer_;
  most.elements = std::max(most.elements, elements_);
  most.operations = std::max(most.operations, operations_);
}

void Budget::charge_elements(int64_t count) {
  Budget *budget = innermost;
  if (!budget) return;
  if (count > budget->limits_.elements - budget->elements_) {
    throw Refusal(std::string(budget->what_) + " takes more than the budget of this model: here an array of " +
                  std::to_string(count) + " elements");
  }
  budget->elements_ += count;
}

void Budget::charge_operations(double count) {
  Budget *budget = innermost;
  if (!budget) return;
  if (!afford_operations(count)) {
    throw Refusal(std::string(budget->what_) + " takes more than the budget of this model, " +
                  std::to_string(static_cast<int64_t>(budget->limits_.operations)) +
                  " operations: it is too much work on the host");
  }
}

bool Budget::afford_operations(double count) {
  Budget *budget = innermost;
  if (!budget) return true;
  if (count > budget->limits_.operations - budget->operations_) return false;
  budget->operations_ += count;
  return true;
}

BudgetLimits reading_limits(int64_t file_bytes) {
  constexpr int64_t kElements = int64_t{1} << 24;
  constexpr double kOperations = 1e10;
  return {kElements + 4 * file_bytes, kOperations + 1e3 * static_cast<double>(file_bytes)};
}

BudgetLimits evaluation_limits(int64_t file_bytes, int64_t input_elements) {
  constexpr int64_t kElements = int64_t{1} << 27;
  constexpr double kOperations = 1e12;
  return {kElements + 4 * file_bytes + 65536 * std::min(input_elements, int64_t{1} << 40), kOperations};
}

BudgetLimits most_counted(bool reset) {
  const BudgetLimits out = most;
  if (reset) most = {};
  return out;
}

}  // namespace rnnp::compiler
