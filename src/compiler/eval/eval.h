// eval.h -- ONNX operators in double, written from the ONNX text and independent of everything the device runs.
// Used to fold constants and by `rnnpack verify`. One function per operator, found by name in a table: an operator is added by
// writing its function in an eval_*.cpp and one row in its table.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_EVAL_H_
#define RNNPACK_COMPILER_EVAL_EVAL_H_

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/eval/progress.h"
#include "compiler/onnx/attributes.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

struct EvalCall {
  const OnnxNode &node;
  Attributes attributes;
  int64_t opset;
  std::vector<const Tensor *> in;  // nullptr: absent
  std::vector<Tensor> out;         // one per output name of the node

  bool has(size_t i) const { return i < in.size() && in[i] != nullptr; }
  const Tensor &input(size_t i) const;  // throws Refusal when absent
  bool wants(size_t i) const;
  void give(Tensor value) { give(0, std::move(value)); }
  void give(size_t i, Tensor value);
};

using EvalFn = void (*)(EvalCall &);

struct EvalRow {
  const char *op_type;
  EvalFn function;
};

// nullptr when the operator is unknown here.
EvalFn find_eval(const std::string &op_type);
std::vector<std::string> eval_operators();  // sorted
std::vector<Tensor> eval_node(const OnnxNode &node, int64_t opset, const std::vector<const Tensor *> &in);

// Outputs of a node that are taken in the place of its evaluation; nothing where it is evaluated. Not asked for nodes of subgraphs.
using EvalInstead = std::function<std::optional<std::vector<Tensor>>(const OnnxNode &node, const std::vector<const Tensor *> &in)>;

// The whole graph. `inputs` by name; gives all graph outputs by name. Throws ModelError naming the node that failed.
std::map<std::string, Tensor> eval_graph(const OnnxModel &model, const std::map<std::string, Tensor> &inputs,
                                         const Progress &progress = {}, const EvalInstead &instead = {});

// The tables, one per file.
extern const std::vector<EvalRow> kEvalMath;
extern const std::vector<EvalRow> kEvalShape;
extern const std::vector<EvalRow> kEvalLinear;
extern const std::vector<EvalRow> kEvalRecurrent;
extern const std::vector<EvalRow> kEvalUnary;
extern const std::vector<EvalRow> kEvalLogic;
extern const std::vector<EvalRow> kEvalReduce;
extern const std::vector<EvalRow> kEvalConv;
extern const std::vector<EvalRow> kEvalPlace;
extern const std::vector<EvalRow> kEvalPool;
extern const std::vector<EvalRow> kEvalNorm;
extern const std::vector<EvalRow> kEvalEinsum;
extern const std::vector<EvalRow> kEvalIndex;
extern const std::vector<EvalRow> kEvalQuantize;

// Shared by the operators.
// A small file may ask for a product of large constants; beyond this it would only keep the host busy. Throws Refusal.
void check_work(int64_t outer, int64_t m, int64_t n, int64_t k);
Shape broadcast_shape(const Shape &a, const Shape &b);
// Strides of `from` when read as `to`: 0 along broadcast axes.
Shape broadcast_strides(const Shape &from, const Shape &to);
// Calls visit(dense index, offset) for every index of `dims`, offset = sum(index * stride).
template <typename Visit>
void for_each_index(const Shape &dims, const Shape &strides, int64_t first, Visit visit) {
  // The axes beside an empty one may be of any size.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  int64_t total = 1;
  for (int64_t d : dims) total *= d;
  Shape index(dims.size(), 0);
  int64_t offset = first;
  for (int64_t n = 0; n < total; ++n) {
    visit(n, offset);
    for (size_t axis = dims.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}
// What a Slice node asks of each axis, normalised: first index, count and step. Covers all opsets.
struct SliceRange {
  size_t axis;
  int64_t first, count, step;
};
struct SliceSpec {
  std::vector<int64_t> starts, ends, axes, steps;
};
SliceSpec slice_spec(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in, size_t rank);
SliceRange slice_range(const SliceSpec &spec, size_t i, int64_t dim, size_t rank);
// The target of a Reshape with 0 and -1 resolved.
Shape reshape_target(const Shape &from, const std::vector<int64_t> &wanted, bool allow_zero);
// Axes of Squeeze and Unsqueeze: attribute before opset 13, second input from then on. False: none given.
bool squeeze_axes(const Attributes &attributes, const std::vector<const Tensor *> &in, std::vector<int64_t> *axes);
// Sizes of a Split's outputs.
std::vector<int64_t> split_sizes(const Attributes &attributes, const std::vector<const Tensor *> &in, int64_t dim, size_t outputs);
// Which axes a Reduce node folds: all that are named (attribute or second input), or all where none is, unless
// noop_with_empty_axes; then it folds over no axis, which still squares, takes absolute values and so on.
std::vector<bool> reduced_axes(const Attributes &attributes, const std::vector<const Tensor *> &in, size_t rank);
// What a Pad node adds to each axis (negative: cuts off). Covers all opsets; bounded, so that sums do not overflow.
enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
struct PadSpec {
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> before, after;
  double value = 0;
};
PadSpec pad_spec(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in, size_t rank);
// The place in [0, size) that is read for place `at`; -1: the constant.
int64_t pad_source(PadMode mode, int64_t at, int64_t size);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_EVAL_H_
