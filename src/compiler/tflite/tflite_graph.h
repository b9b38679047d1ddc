// tflite_graph.h -- one subgraph of a TensorFlow Lite file while its operators become ONNX nodes.
//
// A quantized tensor between operators is computed as the integers that the file stands for, less their zero point: floats that
// hold small integers exactly. An operator gives real numbers, or a factor of them, and `give` rounds them to the tensor's grid as
// the interpreter does. So a network of int8 layers has the interpreter's bits, but where two roundings of a sum fall on the two
// sides of a half. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_TFLITE_TFLITE_GRAPH_H_
#define RNNPACK_COMPILER_TFLITE_TFLITE_GRAPH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/graph_builder/graph_builder.h"
#include "compiler/onnx/problem.h"
#include "compiler/tflite/tflite_file.h"

namespace rnnp::compiler {

// The integers of a quantized tensor, less its zero point.
struct TfGrid {
  double scale = 1;
  double least = 0, most = 0;
  double zero = 0;
};

// SPACE_TO_BATCH_ND deals the elements of an axis out to `block` rows, so that a convolution of these is a dilated one of the axis.
// Its result and what follows are computed on the axis itself, up to BATCH_TO_SPACE_ND.
constexpr const char *kAmongDealt = "it stands between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND; accepted there: ";
struct TfDealt {
  int64_t block = 1;
  size_t axis = 1;
  int64_t pad_end = 0;  // zeros that the file puts behind the axis, and takes off again
};

// What becomes of all subgraphs: variables that the file keeps from call to call, and where constants go.
struct TfContext {
  struct Variable {
    const TfTensor *start = nullptr, *like = nullptr;  // what it starts at; a tensor of its grid
    std::string input, now, offset;                    // names; `offset`: the start where that is not zero
    bool is_steps = false;
  };
  const TfModel &model;
  GraphBuilder *constants;  // the graph around all others
  Problems problems = {};
  std::map<std::string, Variable> variables = {};
  std::map<std::string, std::string> next = {};  // of states
  int depth = 0;                                 // of loops
  std::set<std::string> notes = {};              // what the user should know
  // An int8 recurrent layer computes its cells in float, so the bits are not the interpreter's: other layers keep int8 weights,
  // too.
  bool keeps_int8 = false;

  // A tensor that the library keeps, zero at first; what it is in the next step is set later.
  std::string state(const std::string &wished, const std::vector<int64_t> &shape);
  void set_next(const std::string &state_name, const std::string &value) { next[state_name] = value; }
};

class TfCall;

class TfGraph {
 public:
  // Names of nodes begin with `prefix`. Nodes go to `nodes`.
  TfGraph(TfContext *context, const TfSubgraph &graph, GraphBuilder *nodes, std::string prefix);

  // What an input of the subgraph is called: as real numbers, or as steps of its grid.
  void set(int32_t tensor, const std::string &name, bool is_steps);
  bool is_known(int32_t tensor) const { return values_.count(tensor) != 0; }
  // Converts the operators that the tensors need; what fails goes to the context's problems.
  void convert_for(const std::vector<int32_t> &tensors);

  // Real numbers; a constant where the file has one.
  std::string real(int32_t tensor);
  // The same of what the subgraph gives out, which is as the file has it.
  std::string result(int32_t tensor);
  // Steps of the tensor's grid.
  std::string steps(int32_t tensor);
  bool is_steps(int32_t tensor) const;
  // `factors`: what the numbers of the last axis are multiplied by to become real; one for all, or one each. `activation`: the
  // schema's number of a fused one, 0 for none.
  void give(int32_t tensor, const std::string &name, const std::vector<double> &factors = {1}, int activation = 0);
  // Sums of integers. `is_twice`: the interpreter rounds them two times; see the definition.
  void give_sums(int32_t tensor, const std::string &name, const std::vector<double> &factors, int activation, bool is_twice);
  void give_steps(int32_t tensor, const std::string &name);

  // The tensor of shape [1, N] that this one of shape [N] was reshaped from, or -1.
  int32_t squeezed_from(int32_t tensor) const;
  void set_squeezed(int32_t tensor, int32_t from) { squeezed_[tensor] = from; }

  const TfDealt *dealt(int32_t tensor) const {
    const auto found = dealt_.find(tensor);
    return found == dealt_.end() ? nullptr : &found->second;
  }
  void set_dealt(int32_t tensor, const TfDealt &how) { dealt_[tensor] = how; }

  const TfTensor &tensor(int32_t index) const { return graph_.tensors[static_cast<size_t>(index)]; }
  const TfSubgraph &graph() const { return graph_; }
  TfContext &context() { return *context_; }
  GraphBuilder &nodes() { return *nodes_; }
  std::string node(const std::string &op, const std::vector<std::string> &inputs, const std::string &wished);
  std::string number(double value);

 private:
  friend class TfCall;
  struct Value {
    std::string name;
    bool is_steps;
  };
  void convert(size_t op);
  std::string constant_of(int32_t tensor);
  std::string vector(const std::string &wished, const std::vector<double> &values);
  std::string scaled(const std::string &name, const std::vector<double> &factors);
  void give_floored(int32_t tensor, const std::string &name, int activation);

  TfContext *context_;
  const TfSubgraph &graph_;
  GraphBuilder *nodes_;
  std::string prefix_;
  std::map<int32_t, Value> values_;
  std::map<int32_t, std::string> reals_;
  std::map<int32_t, int32_t> squeezed_;
  std::map<int32_t, TfDealt> dealt_;
};

// One operator, with its operands by position.
class TfCall {
 public:
  TfCall(TfGraph *graph, const TfOperator &op, std::string title) : graph_(*graph), op_(op), title_(std::move(title)) {}

  TfGraph &graph() { return graph_; }
  const TfOperator &op() const { return op_; }
  const std::string &title() const { return title_; }
  const FlatTable &options() const { return op_.options; }

  size_t inputs() const { return op_.inputs.size(); }
  bool has(size_t i) const { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  int32_t in(size_t i) const;
  int32_t out(size_t i = 0) const;
  const TfTensor &x(size_t i) const { return graph_.tensor(in(i)); }
  const TfTensor &y(size_t i = 0) const { return graph_.tensor(out(i)); }
  std::string real(size_t i) { return graph_.real(in(i)); }
  // The integers of a constant; throws Refusal where it is computed.
  std::vector<int64_t> ints(size_t i, const char *what) const;
  std::vector<double> numbers(size_t i, const char *what) const;
  // Real numbers that int8 products know as integers of one scale.
  std::string on_grid(size_t i);
  // The rank of an input, axes counted from either end.
  size_t rank(size_t i) const { return x(i).shape.size(); }
  int64_t axis(int64_t given, size_t rank) const;

  void give(const std::string &name, const std::vector<double> &factors = {1}, int activation = 0, size_t o = 0) {
    graph_.give(out(o), name, factors, activation);
  }
  void give_sums(const std::string &name, const std::vector<double> &factors, int activation, bool is_twice) {
    graph_.give_sums(out(), name, factors, activation, is_twice);
  }
  // The operator's result where it chooses or moves numbers: computed on steps where input and output share the grid.
  bool moves_steps(size_t i, size_t o = 0) const;
  std::string moved(size_t i, size_t o = 0) { return moves_steps(i, o) ? graph_.steps(in(i)) : graph_.real(in(i)); }
  void give_moved(size_t i, const std::string &name, size_t o = 0);

  // A node named after the operator.
  std::string node(const std::string &onnx, const std::vector<std::string> &inputs) { return graph_.node(onnx, inputs, title_); }
  BuiltNode open_node(const std::string &onnx, const std::vector<std::string> &inputs);
  std::string ints_constant(const std::vector<int64_t> &values);
  std::string floats_constant(const std::vector<int64_t> &shape, const std::vector<double> &values, const char *what);
  std::string transposed(const std::string &name, const std::vector<int64_t> &axes);

 private:
  TfGraph &graph_;
  const TfOperator &op_;
  std::string title_;
};

struct TfRow {
  const char *name;
  void (*convert)(TfCall &call);
  int options;               // how many fields of its options are known: a newer one is refused, never passed over
  bool takes_dealt = false;  // knows that an operand may be TfDealt
};
extern const std::vector<TfRow> kTfArithmetic, kTfLayers, kTfShapes, kTfSequences, kTfLoops, kTfVariables;
// Every operator that is read.
const std::vector<const std::vector<TfRow> *> &tflite_tables();

// The operator that gives a tensor; nullptr for inputs and constants. Charges the budget.
const TfOperator *maker_of(const TfSubgraph &graph, int32_t tensor);
// The variable that an operator reads, "" for none. Whether an operator may assign one of these, beside what it gives out.
std::string variable_read(const TfSubgraph &graph, const TfOperator &op);
bool acts_on(const TfSubgraph &graph, const TfOperator &op, const std::set<std::string> &variables);

int onnx_element_type(TfType type);
bool has_single_scale(const TfTensor &tensor);
// Throws Refusal where the tensor has a scale a channel.
TfGrid grid_of(const TfTensor &tensor);
bool is_same_grid(const TfTensor &a, const TfTensor &b);
// The elements of a constant: those of the file, without scale and zero point. Charges the budget.
std::vector<double> elements_of(const TfTensor &tensor);
std::vector<double> reals_of(const TfTensor &tensor);
// Elements without their zero points: integers whose scales are known.
std::vector<double> integers_of(const TfTensor &tensor);
// A constant with its integers and scales, so that they stay what they are: DequantizeLinear of it.
std::string dequantized_constant(GraphBuilder *nodes, GraphBuilder *constants, const TfTensor &tensor, const std::string &wished);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_TFLITE_TFLITE_GRAPH_H_
