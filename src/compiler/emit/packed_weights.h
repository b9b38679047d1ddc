// packed_weights.h -- the weights of a blob while it is written: matrices packed into panels, vectors that lie as the panels do,
// any other data. What comes back is what the blob's structures say: an offset in the section of weights, or a matrix's number.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_PACKED_WEIGHTS_H_
#define RNNPACK_COMPILER_EMIT_PACKED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/blob_section.h"
#include "compiler/ir/storage.h"
#include "format/blob.h"
#include "pack/pack.h"

namespace rnnp::compiler {

class PackedWeights {
 public:
  // Matrices are as wide as `panels`; dense int8 is in the panels that `bytes` says.
  PackedWeights(const PanelFormat &panels, Scales bytes) : panels_(panels), bytes_(bytes) {}

  const PanelFormat &panels() const { return panels_; }
  const std::vector<uint8_t> &matrices() const { return matrices_.bytes(); }
  uint32_t size() const { return size_; }
  // Appends the section of weights to a file, at whose end it begins; they are here no more then.
  void move_to(std::vector<uint8_t> *file);

  // Whose weights are refused from here on.
  void begin_node(const std::string &name) { node_ = name; }

  // Equal data is stored once.
  template <class T>
  uint32_t add(const std::vector<T> &v) {
    const auto *first = reinterpret_cast<const uint8_t *>(v.data());
    return add_bytes(std::vector<uint8_t>(first, first + v.size() * sizeof(T)));
  }
  // kNone where there is none.
  template <class T>
  uint32_t add_if_any(const std::vector<T> &v) {
    return v.empty() ? kNone : add(v);
  }

  // What a matrix of this storage is packed in.
  PanelFormat panels_of(const Storage &storage) const;

  // `count` matrices of one shape, the source being the first of them. Throws ModelError where numbers that are not finite would
  // need a scale.
  uint32_t matrix(const PanelFormat &format, const Storage &storage, MatrixSource source, uint32_t count = 1);
  uint32_t matrix(const Storage &storage, const MatrixSource &source, uint32_t count = 1) {
    return matrix(panels_of(storage), storage, source, count);
  }

  // [count][gates][units], packed to lie as the sums of such panels do; kNone where there is none.
  uint32_t vector(const PanelFormat &format, const std::vector<float> &v, uint32_t units, uint32_t gates, uint32_t count = 1);
  uint32_t vector(const std::vector<float> &v, uint32_t units, uint32_t gates, uint32_t count = 1) {
    return vector(panels_, v, units, gates, count);
  }

 private:
  // What was added lies apart until the file is written, so that nothing is moved as it grows.
  struct Part {
    uint32_t offset = 0;
    std::vector<uint8_t> bytes;
  };

  uint32_t add_bytes(std::vector<uint8_t> bytes);
  void check_finite(const MatrixSource &source, uint32_t count) const;

  const PanelFormat panels_;
  const Scales bytes_;
  Section matrices_{8};
  std::vector<Part> parts_;
  uint32_t size_ = 0;
  std::string node_;
  std::map<uint64_t, std::vector<size_t>> parts_of_;  // by a hash of their bytes
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_PACKED_WEIGHTS_H_
