// graph_builder.h -- graphs as front ends of other formats make them: an ONNX graph in memory, in the newest form the importer
// knows. Names are the caller's where it gives them, else made up from the operator. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_GRAPH_BUILDER_GRAPH_BUILDER_H_
#define RNNPACK_COMPILER_GRAPH_BUILDER_GRAPH_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

constexpr int64_t kBuiltOpset = 21;

// A size, or the name of an open one.
struct BuiltDim {
  int64_t value = 0;
  std::string name;
  BuiltDim(int64_t v) : value(v) {}                      // NOLINT: brief call sites
  BuiltDim(std::string open) : name(std::move(open)) {}  // NOLINT
  BuiltDim(const char *open) : name(open) {}             // NOLINT
};

// Attributes of a node that was added; valid until the builder is taken.
class BuiltNode {
 public:
  explicit BuiltNode(onnx::NodeProto *node) : node_(node) {}
  BuiltNode &with(const char *name, int64_t value);
  BuiltNode &with(const char *name, int value) { return with(name, static_cast<int64_t>(value)); }
  BuiltNode &with(const char *name, float value);
  BuiltNode &with(const char *name, const char *value);
  BuiltNode &with(const char *name, const std::vector<int64_t> &values);
  BuiltNode &with(const char *name, const std::vector<std::string> &values);
  BuiltNode &with_floats(const char *name, const std::vector<float> &values);
  BuiltNode &with_graph(const char *name, onnx::GraphProto graph);
  // Names of its outputs.
  const std::string &output(int index = 0) const { return node_->output(index); }
  operator const std::string &() const { return output(); }  // NOLINT: a node of one output is its value

 private:
  onnx::AttributeProto *add(const char *name, onnx::AttributeProto::AttributeType type);
  onnx::NodeProto *node_;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string &graph_name);

  // A name that no tensor has yet: `wished`, or with a number behind it.
  std::string unused(const std::string &wished);

  // `type`: onnx::TensorProto::DataType. Returns the name.
  std::string input(const std::string &name, const std::vector<BuiltDim> &dims, int type = kOnnxFloat);
  void output(const std::string &name, int type = kOnnxFloat);
  // The library keeps `input` from step to step: `next` is what it is in the next one. Neither is the caller's.
  void state(const std::string &input, const std::string &next);

  std::string constant(const std::string &wished, const std::vector<int64_t> &shape, const std::vector<float> &values);
  std::string constant_ints(const std::string &wished, const std::vector<int64_t> &shape, const std::vector<int64_t> &values);
  // Of any other type, its elements as ONNX stores them in raw_data (little-endian).
  std::string constant_raw(const std::string &wished, int type, const std::vector<int64_t> &shape, std::string raw);

  // A node of one output, named by `wished` or its operator; "" in `inputs`: an operand left out.
  BuiltNode node(const std::string &op, const std::vector<std::string> &inputs, const std::string &wished = "");
  // Outputs of these very names; "" leaves one out.
  BuiltNode node_to(const std::string &op, const std::vector<std::string> &inputs, const std::vector<std::string> &outputs);

  // What the blob carries beside the network (rnnp_model_meta).
  void metadata(const std::string &key, const std::string &value);

  // The model, checked as one that was read from an ONNX file; the builder is empty afterwards. Throws ModelError.
  std::unique_ptr<OnnxModel> take();
  // The graph alone, as the body of a Loop or Scan.
  onnx::GraphProto take_graph() { return std::move(*proto_.mutable_graph()); }

 private:
  onnx::TensorProto *add_constant(const std::string &wished, const std::vector<int64_t> &shape, int type);
  onnx::ModelProto proto_;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, std::string>> states_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_GRAPH_BUILDER_GRAPH_BUILDER_H_
