// builder.h -- what the operators' importers share: names bound to views or constants, and helpers that add nodes to the graph.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_BUILDER_H_
#define RNNPACK_COMPILER_IMPORT_BUILDER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/axis_inference.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/one_copy.h"
#include "compiler/ir/view.h"
#include "compiler/onnx/attributes.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// What a name of the ONNX graph stands for. kUnknown: its node was refused, so nothing can be said of it.
struct Bound {
  enum class Kind : uint8_t { kUnknown, kConst, kView } kind = Kind::kUnknown;
  std::shared_ptr<const Tensor> tensor;
  View view;
};

// What stands before a value's step -lead and behind the last step but -trail: each row so many times, in the order of time.
struct RowsBeside {
  int64_t lead = 0, trail = 0;
  std::vector<std::pair<View, int64_t>> before, behind;
};

struct Builder {
  Graph graph;
  Origins *origins = nullptr;
  bool discovering = false;  // first reading: roles of axes are not known yet
  int64_t time_size = 1, batch_size = 1;
  bool time_dynamic = false, batch_dynamic = false;
  std::map<std::string, Bound> bound;
  std::set<std::string> outputs;                // of the ONNX graph
  std::set<std::string> kept;                   // inputs that the user wants kept from step to step
  std::vector<std::string> loop_sizes;          // options that let loops be written out
  std::map<uint32_t, std::string> off_steps;    // value index -> why its time axis is not the run's steps; see steps.h
  std::set<uint32_t> exact_beyond;              // convolutions' results that are right for steps before and behind the run too
  std::map<uint32_t, RowsBeside> rows_beside;   // value index -> what a Concat or Pad puts beside its steps; see steps.h
  std::map<uint32_t, std::string> reversed_by;  // value index -> what reversed its steps round
  bool steps_in_rows = false;      // the file's steps are features: an axis of one step is one of its own, not the run's
  bool one_row_reversed = false;   // one step of one row, [batch, steps, ...] in the inputs: a Reshape stands where a Transpose was
  std::set<uint32_t> step_counts;  // constants that stand for the number of steps, one for each row
  int unknown_dims = 0;            // made so far: names of their own
  bool float_weights = true;       // those that the file has as f32 stay so
  bool winograd = true;            // convolutions may be written for F(2x2, 3x3)
  std::map<uint32_t, std::string> const_names;  // value index of a graph input -> name
  std::map<uint32_t, int64_t> index_rows;       // value index of an i32 input -> rows of the smallest table that it looks up

  // Helpers that give a view of a new value. `name` is the ONNX node's name.
  bool is_sequence(const View &view) const { return graph.values[view.value].sequence; }
  uint32_t row_elems(const View &view) const { return graph.values[view.value].elems; }
  bool is_zero(const View &view) const;  // a constant of zeros
  View const_view(const Tensor &tensor);
  // A view over a whole row in order; copies when it is not one already.
  View dense(const View &view, const std::string &name);
  View copied(const View &view, bool sequence, const std::string &name);
  // The view itself, or a copy of a constant: most nodes compute on rows only.
  View as_row(const View &view, const std::string &name);
  // Two axes that meet element by element are one, whatever stands in for their open sizes while axes are looked for.
  void unify(Axis *a, Axis *b) const;
  // Where `constant` is the same for each of the rows or steps of a fixed number that `like` is: the axis becomes those.
  void spread_constant(View *constant, size_t axis, const Axis &like) const;
  // Of all views that are constants beside any other, along every axis but `apart`.
  void spread_constants(View *views, size_t count, size_t apart = SIZE_MAX) const;
  // What numbers an i32 input holds, as f32: a look-up in a table of them. Throws Refusal for an input that looks nothing up.
  View as_numbers(const View &x, const std::string &name);
  View unary(const View &x, const BlobActivation &act, const std::string &name);
  View binary(Binary op, const View &a, const View &b, const std::string &name);
  View time_step(const View &x, bool last, const std::string &name);
  // The axes that `over` marks are reduced: each becomes one of size 1, or goes away. Over time: since the state's beginning.
  View reduced(const View &x, const std::vector<bool> &over, Reduce op, bool keep, const std::string &name);
  uint32_t new_row(int64_t elems, bool sequence);
  // The graph's inputs that a value is computed from.
  std::vector<std::string> inputs_behind(uint32_t value) const;
  // One axis of an input: the symbol T, with the elements that each step holds, or B, or a plain feature.
  Axis input_axis(int origin) const;
  // Steps, each of so many elements, of stride 0.
  Axis steps_axis(int64_t elements) const;
  // A size computed in the graph as an axis: T, B or a feature of stride 0. Throws Refusal for any other open size.
  Axis symbol_axis(const Dim &size) const;
  // What the size of an axis is for every run.
  Dim dim_of(const Axis &axis) const;

 private:
  // A feature atom of a binary node's result and its strides in both operands.
  struct AlignedAtom {
    size_t axis, atom;
    int64_t stride[2];
  };
  // An operand of a binary node: strides over the result's features.
  struct Operand {
    uint32_t value = 0;
    int64_t first = 0;
    std::vector<int64_t> strides;
  };
  void keep_why(uint32_t from, uint32_t to);  // off_steps, of what is computed step by step
  View align(const View &a, const View &b, std::vector<AlignedAtom> *aligned);
  void make_plain(Operand *operand, const std::vector<int64_t> &sizes, const std::string &name);
};

// One node being imported.
struct OpCall {
  Builder &b;
  const OnnxNode &node;
  Attributes attributes;
  int64_t opset;
  std::string name;

  size_t input_count() const;
  bool has(size_t i) const;
  const Bound &input(size_t i) const;  // throws Refusal when absent
  bool is_const(size_t i) const;
  const Tensor &constant(size_t i, const char *what) const;  // whose elements are known; throws Refusal
  const Tensor &sizes(size_t i, const char *what) const;     // whose elements may follow from open dimensions
  View view(size_t i) const;                                 // any element type
  View real_view(size_t i) const;                            // f32
  View number_view(size_t i) const;                          // f32, of a float or an integer type
  View mask_view(size_t i) const;                            // bool
  View any_view(size_t i) const;  // for operators that know a time axis which is not the run's steps; see steps.h
  // f32, for operators on each element alone, which may make 0 of 0.
  View pointwise_view(size_t i, bool keeps_zero = false) const;
  // Input i, a number for each channel, as it broadcasts over x, whose axis 1 they are.
  View per_channel(size_t i, const View &x) const;
  bool wants(size_t i) const;
  size_t output_count() const;
  void give(size_t i, View view);
  void give(size_t i, Tensor tensor);
  void give(size_t i, std::shared_ptr<const Tensor> tensor);
  // The first input that is no constant, and what can be done about it: the end of a refusal.
  std::string run_time_input() const;
  // Inputs that are constants, nullptr for the others; for the attribute helpers of eval.h. Their elements are known; the others
  // may follow from open dimensions.
  std::vector<const Tensor *> constants() const;
  std::vector<const Tensor *> constants_and_sizes() const;
};

// Throws Refusal for what stands between QuantizeLinear and DequantizeLinear: its numbers are not the integers that the file means.
void check_not_quantized(const View &view, const std::string &what);

using ImportFn = void (*)(OpCall &);

// `limits` is the text of docs/OPERATORS.md; `since` the opset that brought the operator, where the compiler reads older ones.
struct ImportRow {
  const char *op_type;
  ImportFn function;
  const char *limits;
  int64_t since = kMinOpset;
};

extern const std::vector<ImportRow> kImportShape;
extern const std::vector<ImportRow> kImportMath;
extern const std::vector<ImportRow> kImportLinear;
extern const std::vector<ImportRow> kImportRecurrent;
extern const std::vector<ImportRow> kImportConv;
extern const std::vector<ImportRow> kImportPool;
extern const std::vector<ImportRow> kImportReduce;
extern const std::vector<ImportRow> kImportNorm;
extern const std::vector<ImportRow> kImportSelect;
extern const std::vector<ImportRow> kImportProduct;
extern const std::vector<ImportRow> kImportPieces;
extern const std::vector<ImportRow> kImportLoop;
extern const std::vector<ImportRow> kImportReverse;
extern const std::vector<ImportRow> kImportPlace;
extern const std::vector<ImportRow> kImportRunning;
extern const std::vector<ImportRow> kImportIndex;
extern const std::vector<ImportRow> kImportQuantize;
const std::vector<const std::vector<ImportRow> *> &import_tables();
ImportFn find_import(const std::string &op_type);

// one_copy; throws Refusal past kBlobMaxRank.
AttrCopy copy_attr(std::vector<CopyDim> dims, int64_t x_first, int64_t y_first);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_BUILDER_H_
