// input_kinds.cpp -- Contract: input_kinds.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/input_kinds.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {
namespace {

bool is_real(int type) {
  return type == kOnnxFloat || type == kOnnxFloat16 || type == kOnnxDouble || type == kOnnxBfloat16;
}

bool is_whole(int64_t type) {
  return type == kOnnxInt8 || type == kOnnxUint8 || type == kOnnxInt16 || type == kOnnxUint16 || type == kOnnxInt32 ||
         type == kOnnxInt64 || type == kOnnxUint32 || type == kOnnxUint64;
}

struct Ends {
  bool index = false, length = false, branch = false, compared = false, other = false;
  int64_t rows = 0;
};

class Ways {
 public:
  explicit Ways(const OnnxModel &model) : model_(model) {
    for (const OnnxNode *node : model.nodes) {
      for (const std::string &name : names_read(*node)) readers_[name].push_back(node);
    }
  }

  // Where the elements of a name end up, moved or cast to other numbers on their way.
  Ends ends(const std::string &name) const {
    Ends out;
    std::set<std::string> seen = {name};
    std::vector<std::string> open = {name};
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      out.other = out.other || std::find(model_.outputs.begin(), model_.outputs.end(), next) != model_.outputs.end();
      const auto found = readers_.find(next);
      for (const OnnxNode *reader : found == readers_.end() ? std::vector<const OnnxNode *>{} : found->second) {
        if (!passes_on(*reader, next)) {
          add_end(*reader, next, &out);
        } else {
          for (const std::string &made : reader->output()) {
            if (seen.insert(made).second) open.push_back(made);
          }
        }
      }
    }
    return out;
  }

 private:
  bool passes_on(const OnnxNode &node, const std::string &name) const {
    static const std::set<std::string> kMoves = {"Identity", "Squeeze", "Unsqueeze", "Reshape", "Transpose", "Flatten"};
    if (node.input_size() == 0 || node.input(0) != name) return false;
    if (node.op_type() == "ReverseSequence" || is_flip(node)) return true;
    return kMoves.count(node.op_type()) != 0 || (node.op_type() == "Cast" && Attributes(node).integer("to", 0) != kOnnxBool);
  }

  bool is_flip(const OnnxNode &node) const {
    if (node.op_type() != "Slice" || node.input_size() != 5) return false;
    const auto given = model_.constants.find(node.input(4));
    if (given == model_.constants.end()) return false;
    const TensorData &steps = given->second->data;
    return std::all_of(steps.begin(), steps.end(), [](double step) { return step == -1; });
  }

  // 0 of what is no constant.
  int64_t rows_of_table(const std::string &name) const {
    const auto given = model_.constants.find(name);
    return given == model_.constants.end() || given->second->rank() == 0 ? 0 : given->second->shape[0];
  }

  // With a constant, as the mask of ids is: Keras declares both of float.
  bool is_compared(const OnnxNode &node) const {
    static const std::set<std::string> kComparisons = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
    return kComparisons.count(node.op_type()) != 0 && node.input_size() == 2 &&
           (model_.constants.count(node.input(0)) != 0 || model_.constants.count(node.input(1)) != 0);
  }

  void add_end(const OnnxNode &node, const std::string &name, Ends *out) const {
    const std::string &op = node.op_type();
    if (op == "Shape" || op == "Size") return;
    const bool layer = op == "LSTM" || op == "GRU" || op == "RNN";
    if (layer && node.input_size() > 4 && node.input(4) == name) {
      out->length = true;
    } else if (op == "ReverseSequence" && node.input_size() > 1 && node.input(1) == name) {
      out->length = true;
    } else if (op == "Gather" && node.input_size() > 1 && node.input(1) == name && rows_of_table(node.input(0)) > 0) {
      const int64_t rows = rows_of_table(node.input(0));
      out->index = true;
      out->rows = out->rows == 0 ? rows : std::min(out->rows, rows);
    } else if (op == "If") {
      out->branch = true;
    } else if (is_compared(node)) {
      out->compared = true;
    } else {
      out->other = true;
    }
  }

  const OnnxModel &model_;
  std::map<std::string, std::vector<const OnnxNode *>> readers_;
};

}  // namespace

std::vector<InputUse> input_uses(const OnnxModel &model) {
  const Ways ways(model);
  std::vector<InputUse> uses;
  for (const DeclaredInput &input : model.inputs) {
    const Ends ends = ways.ends(input.name);
    InputUse use{InputKind::kRefused, ends.rows};
    if (is_real(input.elem_type)) {
      use.kind = (ends.index || ends.length) && !ends.other && !ends.branch ? InputKind::kIndex : InputKind::kReal;
    } else if (input.elem_type == kOnnxBool) {
      use.kind = InputKind::kMask;
    } else if (is_whole(input.elem_type)) {
      use.kind =
          (ends.other || ends.compared) && !ends.index && !ends.length && !ends.branch ? InputKind::kWhole : InputKind::kIndex;
    }
    uses.push_back(use);
  }
  return uses;
}

std::string elem_type_name(int elem_type) {
  return onnx_type_name(elem_type);
}

}  // namespace rnnp::compiler
