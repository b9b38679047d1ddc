// flatbuffer.cpp -- Contract: flatbuffer.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/tflite/flatbuffer.h"

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

void FlatFile::refuse(const std::string &why) const {
  throw ModelError(kind_ + " is truncated or damaged: " + why);
}

const uint8_t *FlatFile::place(uint64_t at, uint64_t count, const char *what) const {
  if (at > bytes_.size || count > bytes_.size - at)
    refuse(std::string(what) + " at byte " + std::to_string(at) + " with " + std::to_string(count) + " bytes, the file has " +
           std::to_string(bytes_.size));
  return bytes_.data + at;
}

const uint8_t *FlatFile::bytes(uint64_t at, uint64_t count, const char *what) {
  const uint8_t *found = place(at, count, what);
  if (count > left_) refuse("its tables name the same bytes again and again");
  left_ -= count;
  return found;
}

FlatTable::FlatTable(FlatFile *file, uint64_t at, const char *name) : file_(file), name_(name), at_(at) {
  const int64_t back = file->number<int32_t>(at, name);
  if (back > static_cast<int64_t>(at)) file->refuse(std::string(name) + ", whose list of fields begins before the file");
  fields_ = static_cast<uint64_t>(static_cast<int64_t>(at) - back);
  const uint32_t bytes = file->number<uint16_t>(fields_, name);
  table_bytes_ = file->number<uint16_t>(fields_ + 2, name);
  if (bytes < 4 || bytes % 2 != 0)
    file->refuse(std::string(name) + ", whose list of fields has " + std::to_string(bytes) + " bytes");
  field_count_ = (bytes - 4) / 2;
  file->place(fields_, bytes, name);
  file->place(at, table_bytes_, name);
}

uint64_t FlatTable::place(int field, size_t bytes) const {
  if (static_cast<uint32_t>(field) >= field_count_) return 0;
  const uint32_t offset = file_->number<uint16_t>(fields_ + 4 + 2 * static_cast<uint32_t>(field), name_);
  if (offset == 0) return 0;
  if (offset + bytes > table_bytes_)
    file_->refuse(std::string(name_) + ", whose field " + std::to_string(field) + " lies behind its end");
  return at_ + offset;
}

std::optional<FlatTable> FlatTable::table(int field, const char *name) const {
  const uint64_t at = place(field, 4);
  if (at == 0) return std::nullopt;
  return FlatTable(file_, file_->target(at, name_), name);
}

std::vector<FlatTable> FlatTable::tables(int field, const char *name) const {
  std::vector<FlatTable> out;
  const uint64_t at = place(field, 4);
  if (at == 0) return out;
  const uint64_t list = file_->target(at, name_);
  const uint32_t count = file_->number<uint32_t>(list, name);
  file_->place(list + 4, uint64_t{count} * 4, name);
  for (uint32_t i = 0; i < count; ++i) out.emplace_back(file_, file_->target(list + 4 + uint64_t{4} * i, name), name);
  return out;
}

FlatBytes FlatTable::vector(int field, size_t element, bool is_read) const {
  const uint64_t at = place(field, 4);
  if (at == 0) return {};
  const uint64_t list = file_->target(at, name_);
  const uint64_t bytes = uint64_t{file_->number<uint32_t>(list, name_)} * element;
  const uint8_t *data = is_read ? file_->bytes(list + 4, bytes, name_) : file_->place(list + 4, bytes, name_);
  return {data, static_cast<size_t>(bytes)};
}

std::string FlatTable::text(int field) const {
  const FlatBytes list = vector(field, 1, true);
  return std::string(reinterpret_cast<const char *>(list.data), list.size);
}

}  // namespace rnnp::compiler
