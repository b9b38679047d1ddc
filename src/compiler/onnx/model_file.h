// model_file.h -- an ONNX file as a checked graph: parsed, in topological order, names resolved, opset known.
// Everything later may rely on what check_model promises.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_MODEL_FILE_H_
#define RNNPACK_COMPILER_ONNX_MODEL_FILE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/onnx/typed_graph.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace rnnp::compiler {

constexpr int64_t kMinOpset = 7;
constexpr int64_t kMaxOpset = 25;
constexpr int64_t kMaxDim = int64_t{1} << 31;

// A dimension as declared: value > 0 when fixed, else dynamic with an optional name.
enum class DimRole : uint8_t { kUnknown, kTime, kBatch, kFeatures };
struct DeclaredDim {
  int64_t value = 0;
  std::string name;
  DimRole role = DimRole::kUnknown;  // what the user says that it is
};

struct DeclaredInput {
  std::string name;
  int elem_type = 0;  // OnnxType
  std::vector<DeclaredDim> dims;
  std::string loop = {};  // a state that this Loop or Scan carries, no input of the file; else empty
};

struct OnnxModel {
  OnnxGraph graph;                                            // the file's, and nodes that passes made
  std::vector<std::pair<std::string, std::string>> metadata;  // metadata_props
  int64_t opset = 0;
  int64_t file_bytes = 0;               // what budgets are measured by
  std::vector<std::string> data_files;  // in which weights were found, beside the model's file
  std::vector<const OnnxNode *> nodes;  // topological order
  std::vector<DeclaredInput> inputs;    // graph inputs that are not initialisers
  std::vector<std::string> outputs;
  int stand_ins = 0;                    // which numbers views compute with for open sizes: any give the same blob
  std::vector<std::string> notes;       // of the front end, for the user
  std::vector<std::string> loop_sizes;  // options that let loops be written out (WithoutLoops::sizes)
  std::vector<std::string> unread;      // graph inputs that no output needs, left out of `inputs`
  std::vector<std::string> joints;      // results of nodes that become outputs too, where they can be (verify/joint_check.h)
  std::map<std::string, std::shared_ptr<const Tensor>> constants;  // initialisers by name
  std::vector<std::pair<std::string, std::string>> states;         // inputs and what they are in the next step, as the file says

  OnnxModel() = default;
  OnnxModel(const OnnxModel &) = delete;
  OnnxModel &operator=(const OnnxModel &) = delete;
};

// The bytes of an ONNX file. Throws ModelError when they are not a usable model. Weights in other files (external_data.h) are
// looked for in `folder`; without one they are refused.
std::unique_ptr<OnnxModel> parse_model(const void *bytes, size_t size, const std::string *folder = nullptr);
std::unique_ptr<OnnxModel> check_model(onnx::ModelProto proto);

// The elements of a constant; nothing of what is none.
std::optional<std::vector<int64_t>> constant_ints(const OnnxModel &model, const std::string &name);

// nullptr: an input, a constant, or nothing.
const OnnxNode *node_that_makes(const OnnxModel &model, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_MODEL_FILE_H_
