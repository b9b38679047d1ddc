// storage.h -- what a matrix of weights is stored as, by the file or by choice: the type of its panels, and where its numbers are
// whole multiples of scales, these. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_STORAGE_H_
#define RNNPACK_COMPILER_IR_STORAGE_H_

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace rnnp::compiler {

struct Storage {
  DType type = DType::kF32;
  uint32_t group_k = 0;        // k of one scale; 0: all of a row
  std::vector<float> scales;   // [rows][groups], 0: to be found; empty: all are
  std::vector<float> rounded;  // in place of the weights; empty: they themselves
  uint8_t index_bytes = 0;     // of the sparse panels (PanelFormat); 0: dense
  bool diagonal = false;       // the matrix's diagonal stays f32, apart
  float lhs_scale = 0;         // what x is a multiple of; 0: found of every row
  bool fixed = false;          // of an integer-only layer; int8
  bool rounds_lhs = false;     // bf16: x and h are rounded to bf16, too
  uint32_t moved_rows = 0;     // rows whose integers panels cannot hold, so that they were moved or are rounded anew

  uint32_t groups(uint32_t k) const { return group_k == 0 ? 1 : (k + group_k - 1) / group_k; }
};

// Whether rows are multiplied by such weights as bytes.
inline bool is_quantised(DType type) {
  return type == DType::kI8 || type == DType::kI4;
}

// What a file has: its type, and for each of the numbers w [rows][k] what it is a multiple of (Tensor::steps). Of int8, rows that
// bytes of panels cannot hold (beyond 127, or two neighbours above 129) are moved by the least, or given up to be rounded anew,
// whichever errs less. `units`: rows of one gate, along whose diagonal numbers may stand apart; 0: none.
Storage storage_of_file(DType type, const std::vector<float> &w, const std::vector<float> &steps, uint32_t k, uint32_t units = 0);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_STORAGE_H_
