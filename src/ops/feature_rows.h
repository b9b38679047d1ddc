// feature_rows.h -- which rows of an FeatureRecurrent node run side by side, and where they lie: the same on every machine. Those
// of one row of the value where it holds several, else neighbouring rows of the value. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_FEATURE_ROWS_H_
#define RNNPACK_OPS_FEATURE_ROWS_H_

#include "ops/op.h"

namespace rnnp {

// A row of an optional operand or result, at a place within it; nullptr where there is none.
inline float *feature_row(const RunEnv &env, uint32_t value, size_t row, size_t elem) {
  if (value == kNone || env.values[value].data == nullptr) return nullptr;
  return row_of(env.values[value], !env.model->values[value].sequence && !is_const(*env.model, value) ? row % env.batch : row) +
         elem;
}

// Bytes from row to row of those side by side, `elems` being one's within a row of the value.
inline size_t inner_stride(const RunEnv &env, uint32_t value, uint32_t rows, size_t elems) {
  return rows > 1 ? elems * sizeof(float) : value == kNone ? 0 : env.values[value].row_bytes;
}

// Rows of the value from `row` on that are neighbours. Operands that are the same for all steps are found again at every step: then
// rows of one step alone are.
inline uint32_t inner_neighbours(const RunEnv &env, const BlobNode &node, size_t row, size_t end, uint32_t most) {
  size_t left = end - row;
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t v = env.model->node_input(node, i);
    if (v == kNone || env.model->values[v].sequence) continue;
    const size_t in_step = env.batch - row % env.batch;
    left = left < in_step ? left : in_step;
  }
  return left < most ? static_cast<uint32_t>(left) : most;
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_FEATURE_ROWS_H_
