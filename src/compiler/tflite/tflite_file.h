// tflite_file.h -- what a TensorFlow Lite file holds: subgraphs of tensors and operators, with the numbers of the schema's fields
// checked. Constants stay in the file's bytes, which must outlive it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_TFLITE_TFLITE_FILE_H_
#define RNNPACK_COMPILER_TFLITE_TFLITE_FILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/tflite/flatbuffer.h"

namespace rnnp::compiler {

enum class TfType : int32_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUint8 = 3,
  kInt64 = 4,
  kBool = 6,
  kInt16 = 7,
  kInt8 = 9,
  kResource = 13,
  kInt4 = 17,
  kBfloat16 = 18
};

struct TfTensor {
  std::string name;
  std::vector<int64_t> shape;  // -1: open
  TfType type = TfType::kFloat32;
  FlatBytes data;  // of a constant
  bool is_variable = false;
  std::vector<float> scales;  // one, or one for each index of `axis`; empty where it is not quantized
  std::vector<int64_t> zeros;
  size_t axis = 0;

  bool is_constant() const { return data.data != nullptr; }
  bool is_quantized() const { return !scales.empty(); }
  int64_t elements() const;  // 0 where a size is open
};

struct TfOperator {
  int code = 0;
  std::string custom;                    // the name of an operator that is not built in
  std::vector<int32_t> inputs, outputs;  // tensors of the subgraph; -1: left out
  FlatTable options;
};

struct TfSubgraph {
  std::string name;
  std::vector<TfTensor> tensors;
  std::vector<TfOperator> operators;
  std::vector<int32_t> inputs, outputs;
};

struct TfModel {
  std::unique_ptr<FlatFile> file;
  std::vector<TfSubgraph> graphs;
  std::vector<std::pair<std::string, int32_t>> input_names, output_names;  // tensors of graph 0, as the file's signature calls them
};

bool is_tflite(FlatBytes bytes);
// Throws ModelError.
TfModel read_tflite(FlatBytes bytes);

// "UNIDIRECTIONAL_SEQUENCE_LSTM"; of others than the schema's "operator 999".
std::string tflite_operator_name(const TfOperator &op);
// "int8"
std::string tflite_type_name(TfType type);
// Bits of an element; 0 for types that are not read.
int tflite_type_bits(TfType type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_TFLITE_TFLITE_FILE_H_
