// tflite_writer.h -- small TensorFlow Lite files, written table by table, for tests. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FRONT_ENDS_TFLITE_WRITER_H_
#define RNNPACK_TESTS_FRONT_ENDS_TFLITE_WRITER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace rnnp::testing_support {

// A table of a FlatBuffer that is to be written: fields by number.
class FlatOut {
 public:
  template <class T>
  FlatOut &number(int field, T value) {
    fields_.push_back({field, bytes_of(value), {}, {}, Kind::kNumber});
    return *this;
  }
  template <class T>
  FlatOut &vector(int field, const std::vector<T> &values) {
    std::string bytes = bytes_of(static_cast<uint32_t>(values.size()));
    for (const T &value : values) bytes += bytes_of(value);
    fields_.push_back({field, {}, bytes, {}, Kind::kVector});
    return *this;
  }
  FlatOut &text(int field, const std::string &value) {
    fields_.push_back({field, {}, bytes_of(static_cast<uint32_t>(value.size())) + value + std::string(1, '\0'), {}, Kind::kVector});
    return *this;
  }
  FlatOut &table(int field, const FlatOut &child) {
    fields_.push_back({field, {}, {}, {child}, Kind::kTable});
    return *this;
  }
  FlatOut &tables(int field, const std::vector<FlatOut> &children) {
    fields_.push_back({field, {}, {}, children, Kind::kTables});
    return *this;
  }
  // The file whose root this is.
  std::string file(const char *identifier) const;

 private:
  enum class Kind { kNumber, kVector, kTable, kTables };
  struct Field {
    int number;
    std::string inline_bytes, vector_bytes;
    std::vector<FlatOut> children;
    Kind kind;
  };
  template <class T>
  static std::string bytes_of(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
  }
  size_t append(std::string *file) const;  // where the table is

  std::vector<Field> fields_;
};

// What the schema calls them.
struct TfliteCode {
  enum {
    kAdd = 0,
    kAveragePool = 1,
    kConcatenation = 2,
    kConv = 3,
    kDepthwiseConv = 4,
    kDequantize = 6,
    kEmbeddingLookup = 7,
    kFullyConnected = 9,
    kL2Normalization = 11,
    kLogistic = 14,
    kMaxPool = 17,
    kMul = 18,
    kReshape = 22,
    kSoftmax = 25,
    kSvdf = 27,
    kTanh = 28,
    kCustom = 32,
    kPad = 34,
    kRnn = 35,
    kGather = 36,
    kBatchToSpace = 37,
    kSpaceToBatch = 38,
    kTranspose = 39,
    kMean = 40,
    kSub = 41,
    kLstm = 44,
    kStridedSlice = 45,
    kBidirectionalRnn = 46,
    kTopk = 48,
    kSplit = 49,
    kBidirectionalLstm = 52,
    kCast = 53,
    kArgMax = 56,
    kLess = 58,
    kGreater = 61,
    kSelect = 64,
    kSlice = 65,
    kTransposeConv = 67,
    kOneHot = 85,
    kReduceAny = 91,
    kZerosLike = 93,
    kGatherNd = 107,
    kIf = 118,
    kWhile = 119,
    kCallOnce = 129,
    kReduceAll = 140,
    kVarHandle = 142,
    kReadVariable = 143,
    kAssignVariable = 144
  };
};
struct TfliteType {
  enum { kFloat32 = 0, kFloat16 = 1, kInt32 = 2, kUint8 = 3, kInt8 = 9, kBool = 6, kResource = 13 };
};

struct TfliteGrid {
  std::vector<float> scales;
  std::vector<int64_t> zeros = {};
  int axis = 0;
};

class TfliteWriter {
 public:
  TfliteWriter();
  // Tensors and operators that follow are of a new subgraph; the first one is there.
  void begin_graph() { graphs_.emplace_back(); }
  int tensor(const std::string &name, const std::vector<int32_t> &shape, int type = TfliteType::kFloat32,
             const TfliteGrid &grid = {}, const std::string &data = "");
  int floats(const std::vector<int32_t> &shape, const std::vector<float> &values);
  // Of numbers that 16 bits hold exactly.
  int halves(const std::vector<int32_t> &shape, const std::vector<float> &values);
  int ints(const std::vector<int32_t> &values, bool is_number = false);
  int int8s(const std::vector<int32_t> &shape, const std::vector<int> &values, const TfliteGrid &grid);
  int int32s(const std::vector<int32_t> &values, const TfliteGrid &grid);
  void op(int code, const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs, const FlatOut &options = {},
          const std::string &custom = "");
  void graph_io(const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs);
  std::string file(uint32_t version = 3) const;

 private:
  struct Graph {
    std::vector<FlatOut> tensors, operators;
    std::vector<int32_t> inputs, outputs;
  };
  std::vector<Graph> graphs_;
  std::vector<FlatOut> buffers_, codes_;
};

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_FRONT_ENDS_TFLITE_WRITER_H_
