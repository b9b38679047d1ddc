// call_tensor.h -- one tensor of a call, with any strides that the API allows, in memory that ends with its last row.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_CALL_TENSOR_H_
#define RNNPACK_TESTS_SUPPORT_CALL_TENSOR_H_

#include "fuzz/byte_source.h"
#include "rnnpack/rnnpack.h"
#include "support/walk_memory.h"

namespace rnnp_test {

class CallTensor {
 public:
  struct Shape {
    uint32_t elems;
    size_t steps, batch;
    bool sequence, packed;
    uint32_t gap;           // what lies between rows, and in rows until they are written
    size_t also_words = 0;  // room for another tensor in the same memory
  };
  // False: there is no room. One that was never placed is left out of its call.
  bool place(const Shape &shape, uint64_t most_bytes, WalkMemory *memory, rnnp_fuzz::ByteSource *choices);
  // Packed, where `other` lies.
  void place_on(const Shape &shape, const CallTensor &other);

  uint32_t *row(size_t step, size_t row) const { return words_ + step * step_words_ + row * row_words_; }
  const rnnp_buffer &buffer() const { return buffer_; }
  bool given() const { return words_ != nullptr; }
  bool shared() const { return shared_; }
  bool untouched() const;
  // Words that are in no row and are no longer the gap's. Overwrites the rows.
  size_t strays();

 private:
  uint32_t *words_ = nullptr;
  size_t count_ = 0, elems_ = 0, steps_ = 0, batch_ = 0, step_words_ = 0, row_words_ = 0;
  uint32_t gap_ = 0;
  bool shared_ = false;
  rnnp_buffer buffer_ = {};
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_CALL_TENSOR_H_
