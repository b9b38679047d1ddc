// flatbuffer.h -- tables of a FlatBuffer, by the numbers of their fields. Every offset, length and number is checked against the
// file's bytes, and what is read in all is bounded by them, however often offsets name the same bytes.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_TFLITE_FLATBUFFER_H_
#define RNNPACK_COMPILER_TFLITE_FLATBUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace rnnp::compiler {

// Numbers in a file, little-endian at any alignment.
template <class T>
T little_endian(const uint8_t *bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits |= uint64_t{bytes[i]} << (8 * i);
  T value;
  if constexpr (sizeof(T) == 8) {
    std::memcpy(&value, &bits, 8);
  } else if constexpr (sizeof(T) == 4) {
    const uint32_t word = static_cast<uint32_t>(bits);
    std::memcpy(&value, &word, 4);
  } else {
    value = static_cast<T>(bits);
  }
  return value;
}

struct FlatBytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
};

class FlatFile {
 public:
  // `kind` begins the refusals: "the TensorFlow Lite file".
  FlatFile(FlatBytes bytes, std::string kind) : bytes_(bytes), kind_(std::move(kind)), left_(8 * bytes.size + 4096) {}

  // The bytes from `at` on, which are read now; throws ModelError where they are not in the file. `what` names them.
  const uint8_t *bytes(uint64_t at, uint64_t count, const char *what);
  // Bytes that are in the file but stay unread.
  const uint8_t *place(uint64_t at, uint64_t count, const char *what) const;
  template <class T>
  T number(uint64_t at, const char *what) {
    return little_endian<T>(bytes(at, sizeof(T), what));
  }
  // Where the offset at `at` leads.
  uint64_t target(uint64_t at, const char *what) { return at + number<uint32_t>(at, what); }
  size_t size() const { return bytes_.size; }
  [[noreturn]] void refuse(const std::string &why) const;

 private:
  FlatBytes bytes_;
  std::string kind_;
  uint64_t left_;  // bytes that may still be read
};

class FlatTable {
 public:
  // Has no field.
  FlatTable() = default;
  // `name`: what the schema calls it, for refusals.
  FlatTable(FlatFile *file, uint64_t at, const char *name);
  static FlatTable root(FlatFile *file, const char *name) { return FlatTable(file, file->target(0, name), name); }

  template <class T>
  T number(int field, T otherwise) const {
    const uint64_t at = place(field, sizeof(T));
    return at == 0 ? otherwise : file_->number<T>(at, name_);
  }
  bool flag(int field, bool otherwise = false) const { return number<uint8_t>(field, otherwise ? 1 : 0) != 0; }
  std::optional<FlatTable> table(int field, const char *name) const;
  std::vector<FlatTable> tables(int field, const char *name) const;
  template <class T>
  std::vector<T> numbers(int field) const {
    const FlatBytes list = vector(field, sizeof(T), true);
    std::vector<T> out(list.size / sizeof(T));
    for (size_t i = 0; i < out.size(); ++i) out[i] = little_endian<T>(list.data + i * sizeof(T));
    return out;
  }
  std::string text(int field) const;
  // A vector's bytes in place.
  FlatBytes span(int field) const { return vector(field, 1, false); }
  bool has(int field) const { return place(field, 1) != 0; }
  int field_count() const { return static_cast<int>(field_count_); }
  const char *name() const { return name_; }

 private:
  uint64_t place(int field, size_t bytes) const;  // 0: the field is left out
  FlatBytes vector(int field, size_t element, bool is_read) const;

  FlatFile *file_ = nullptr;
  const char *name_ = "nothing";
  uint64_t at_ = 0, fields_ = 0;
  uint32_t field_count_ = 0, table_bytes_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_TFLITE_FLATBUFFER_H_
