// data_memory.h -- where a session's values and states lie when the CPU cannot touch them. Whoever keeps them elsewhere (src/cuda)
// brings these functions and, as a registry, the operators that work there; the rest of a session is the same. Without them, all of
// it is the caller's memory and the functions below are plain loops.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_DATA_MEMORY_H_
#define RNNPACK_OPS_DATA_MEMORY_H_

#include "base/bytes.h"
#include "base/many_threads.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

// Rows of a tensor: row r of step t at data + t * step_bytes + r * row_bytes.
struct RowPlaces {
  uint8_t *data;
  size_t step_bytes, row_bytes;

  uint8_t *row(size_t step, size_t row) const { return data + step * step_bytes + row * row_bytes; }
};

// The rows of `steps` steps, `bytes` each.
struct RowsCopy {
  RowPlaces to, from;
  size_t steps;
  uint32_t batch;
  size_t bytes;
};

// Of each row the last valid step, where that is one of [first, first + steps), which `from` begins with. to: one
// row per batch row; zeros where a row has no step at all.
struct LastSteps {
  RowPlaces to, from;
  const int32_t *lengths;  // nullptr: all rows live through `call_steps`
  size_t first, steps, call_steps;
  uint32_t batch;
  size_t bytes;
};

// In the order in which they are called. Failures are remembered by whoever brings the functions.
struct DataMemory {
  void (*zero)(DataMemory *self, void *to, size_t bytes);
  void (*copy)(DataMemory *self, void *to, const void *from, size_t bytes);
  void (*copy_rows)(DataMemory *self, const RowsCopy &rows);
  void (*last_steps)(DataMemory *self, const LastSteps &last);
  // To and from the CPU's memory; they return when it is done.
  void (*read)(DataMemory *self, void *host, const void *from, size_t bytes);
  void (*write)(DataMemory *self, void *to, const void *host, size_t bytes);
  // What the blob has of a constant, and of a state's initial values.
  const float *(*constant)(DataMemory *self, uint32_t value);
  const float *(*initial)(DataMemory *self, uint32_t state);
};

// Firmware for one core has no other memory, and none of the code.
constexpr bool kDataElsewhere = kManyThreads;

inline void zero_data(DataMemory *memory, void *to, size_t bytes) {
  if (kDataElsewhere && memory != nullptr) return memory->zero(memory, to, bytes);
  zero_bytes(to, bytes);
}

inline void copy_data(DataMemory *memory, void *to, const void *from, size_t bytes) {
  if (kDataElsewhere && memory != nullptr) return memory->copy(memory, to, from, bytes);
  copy_bytes(to, from, bytes);
}

inline void copy_rows(DataMemory *memory, const RowsCopy &rows) {
  if (kDataElsewhere && memory != nullptr) return memory->copy_rows(memory, rows);
  for (size_t step = 0; step < rows.steps; ++step) {
    for (uint32_t row = 0; row < rows.batch; ++row) copy_bytes(rows.to.row(step, row), rows.from.row(step, row), rows.bytes);
  }
}

inline void copy_last_steps(DataMemory *memory, const LastSteps &last) {
  if (kDataElsewhere && memory != nullptr) return memory->last_steps(memory, last);
  for (uint32_t row = 0; row < last.batch; ++row) {
    const size_t length = last.lengths != nullptr ? static_cast<size_t>(last.lengths[row]) : last.call_steps;
    if (length == 0) {
      if (last.first == 0) zero_bytes(last.to.row(0, row), last.bytes);
    } else if (length > last.first && length <= last.first + last.steps) {
      copy_bytes(last.to.row(0, row), last.from.row(length - 1 - last.first, row), last.bytes);
    }
  }
}

inline void read_data(DataMemory *memory, void *host, const void *from, size_t bytes) {
  if (kDataElsewhere && memory != nullptr) return memory->read(memory, host, from, bytes);
  copy_bytes(host, from, bytes);
}

inline void write_data(DataMemory *memory, void *to, const void *host, size_t bytes) {
  if (kDataElsewhere && memory != nullptr) return memory->write(memory, to, host, bytes);
  copy_bytes(to, host, bytes);
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_DATA_MEMORY_H_
