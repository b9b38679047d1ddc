// tflite_writer.cpp -- Contract: tflite_writer.h. SPDX-License-Identifier: Apache-2.0
#include "tflite_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rnnp::testing_support {
namespace {

void patch(std::string *file, size_t at, uint32_t value) {
  std::memcpy(&(*file)[at], &value, sizeof value);
}

void align(std::string *file, size_t to) {
  while (file->size() % to != 0) *file += '\0';
}

}  // namespace

// The list of fields, the table behind it, then what its fields lead to.
size_t FlatOut::append(std::string *file) const {
  int most = -1;
  for (const Field &field : fields_) most = std::max(most, field.number);
  std::vector<uint16_t> places(static_cast<size_t>(most + 1), 0);
  std::string inlined(4, '\0');
  for (const Field &field : fields_) {
    const std::string bytes = field.kind == Kind::kNumber ? field.inline_bytes : std::string(4, '\0');
    while (inlined.size() % bytes.size() != 0) inlined += '\0';
    places[static_cast<size_t>(field.number)] = static_cast<uint16_t>(inlined.size());
    inlined += bytes;
  }
  align(file, 8);
  const size_t list = file->size();
  *file += bytes_of(static_cast<uint16_t>(4 + 2 * places.size())) + bytes_of(static_cast<uint16_t>(inlined.size()));
  for (const uint16_t place : places) *file += bytes_of(place);
  align(file, 8);
  const size_t at = file->size();
  *file += inlined;
  patch(file, at, static_cast<uint32_t>(at - list));
  for (const Field &field : fields_) {
    if (field.kind == Kind::kNumber) continue;
    align(file, 4);
    const size_t from = at + places[static_cast<size_t>(field.number)];
    if (field.kind == Kind::kTable) {
      const size_t child = field.children[0].append(file);
      patch(file, from, static_cast<uint32_t>(child - from));
      continue;
    }
    if (field.kind == Kind::kVector) {
      while (file->size() % 16 != 12) *file += '\0';  // its elements begin at a multiple of 16
    }
    const size_t vector = file->size();
    patch(file, from, static_cast<uint32_t>(vector - from));
    if (field.kind == Kind::kVector) {
      *file += field.vector_bytes;
      continue;
    }
    *file += bytes_of(static_cast<uint32_t>(field.children.size())) + std::string(4 * field.children.size(), '\0');
    for (size_t i = 0; i < field.children.size(); ++i) {
      const size_t child = field.children[i].append(file), offset = vector + 4 + 4 * i;
      patch(file, offset, static_cast<uint32_t>(child - offset));
    }
  }
  return at;
}

std::string FlatOut::file(const char *identifier) const {
  std::string out = std::string(4, '\0') + identifier;
  patch(&out, 0, static_cast<uint32_t>(append(&out)));
  return out;
}

TfliteWriter::TfliteWriter() : graphs_(1), buffers_(1) {}

int TfliteWriter::tensor(const std::string &name, const std::vector<int32_t> &shape, int type, const TfliteGrid &grid,
                         const std::string &data) {
  FlatOut out;
  out.vector(0, shape).number(1, static_cast<int8_t>(type)).text(3, name);
  if (!data.empty()) {
    out.number(2, static_cast<uint32_t>(buffers_.size()));
    FlatOut buffer;
    buffer.vector(0, std::vector<char>(data.begin(), data.end()));
    buffers_.push_back(buffer);
  }
  if (!grid.scales.empty()) {
    FlatOut quantization;
    quantization.vector(2, grid.scales)
        .vector(3, grid.zeros.empty() ? std::vector<int64_t>(grid.scales.size(), 0) : grid.zeros)
        .number(6, static_cast<int32_t>(grid.axis));
    out.table(4, quantization);
  }
  graphs_.back().tensors.push_back(out);
  return static_cast<int>(graphs_.back().tensors.size()) - 1;
}

int TfliteWriter::floats(const std::vector<int32_t> &shape, const std::vector<float> &values) {
  return tensor("", shape, TfliteType::kFloat32, {}, std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4));
}

int TfliteWriter::halves(const std::vector<int32_t> &shape, const std::vector<float> &values) {
  std::string bytes;
  for (const float value : values) {
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);  // [1/2, 1)
    const int bits = value == 0 ? 0 : ((exponent + 14) << 10) + static_cast<int>(fraction * 2048) - 1024;
    const uint16_t half = static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0));
    bytes.append({static_cast<char>(half & 255), static_cast<char>(half >> 8)});
  }
  return tensor("", shape, TfliteType::kFloat16, {}, bytes);
}

int TfliteWriter::ints(const std::vector<int32_t> &values, bool is_number) {
  const std::vector<int32_t> shape = is_number ? std::vector<int32_t>() : std::vector<int32_t>{static_cast<int32_t>(values.size())};
  return tensor("", shape, TfliteType::kInt32, {}, std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4));
}

int TfliteWriter::int8s(const std::vector<int32_t> &shape, const std::vector<int> &values, const TfliteGrid &grid) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return tensor("", shape, TfliteType::kInt8, grid, bytes);
}

int TfliteWriter::int32s(const std::vector<int32_t> &values, const TfliteGrid &grid) {
  return tensor("", {static_cast<int32_t>(values.size())}, TfliteType::kInt32, grid,
                std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4));
}

void TfliteWriter::op(int code, const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs, const FlatOut &options,
                      const std::string &custom) {
  FlatOut kind, out;
  kind.number(0, static_cast<int8_t>(std::min(code, 127))).number(3, static_cast<int32_t>(code));
  if (!custom.empty()) kind.text(1, custom);
  out.number(0, static_cast<uint32_t>(codes_.size())).vector(1, inputs).vector(2, outputs).table(4, options);
  codes_.push_back(kind);
  graphs_.back().operators.push_back(out);
}

void TfliteWriter::graph_io(const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs) {
  graphs_.back().inputs = inputs;
  graphs_.back().outputs = outputs;
}

std::string TfliteWriter::file(uint32_t version) const {
  std::vector<FlatOut> graphs;
  for (const Graph &graph : graphs_) {
    FlatOut out;
    out.tables(0, graph.tensors).vector(1, graph.inputs).vector(2, graph.outputs).tables(3, graph.operators);
    graphs.push_back(out);
  }
  FlatOut model;
  model.number(0, version).tables(1, codes_).tables(2, graphs).tables(4, buffers_);
  return model.file("TFL3");
}

}  // namespace rnnp::testing_support
