// conformance_case.h -- one published case: a model, its inputs and expected outputs; and its road through compiler and library.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CONFORMANCE_CASE_H_
#define RNNPACK_TESTS_CONFORMANCE_CASE_H_

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"
#include "compiler/onnx/read_proto.h"
#include "compiler/run/runner.h"

namespace rnnp::conformance {

using compiler::Arrays;
using compiler::Tensor;

struct Case {
  onnx::ModelProto model;
  Arrays inputs;
  std::map<std::string, Tensor> expected;
  double tolerance = 1e-5;  // relative to max(1, |expected|)
};

// Compares what a run gave, or the f64 evaluation, with the expected outputs. Adds gtest failures.
void compare_outputs(const std::string &what, const Arrays &got, const Case &c);
void check_evaluation(const compiler::OnnxModel &model, const Case &c);

// On a CPU: compiles for every layout and compares the library's results (whole, in pieces, reference kernels) and the f64
// evaluation with the expected outputs. On a GPU: for one layout, whole and in pieces; one that is refused must be listed.
void check_case(const Case &c);

// Graph inputs that are weights of recurrent nodes (W, R, B, P) become initializers with the values in `inputs`.
void weights_to_initializers(onnx::ModelProto *model, std::map<std::string, onnx::TensorProto> *inputs);

// A case of ONNX's node tests: <folder>/model.onnx and <folder>/test_data_set_0.
struct NodeCase {
  onnx::ModelProto model;
  std::map<std::string, Tensor> inputs, outputs;
};
std::vector<std::string> case_folders(const std::string &root);
onnx::ModelProto load_model(const std::string &folder);
NodeCase load_node_case(const std::string &folder);
// Its opset is not too old, and its inputs and outputs are tensors of numbers or truth values.
bool has_plain_tensors(const onnx::ModelProto &model);

// listed_cases.txt names the cases that do not pass, with the reason: fails where `problem` is not empty and the case is not
// listed under this kind ("f64", "compile", "gpu"), and where it is empty and the case is.
void check_listed(const std::string &kind, const std::string &name, const std::string &problem);

compiler::Array to_array(const Tensor &tensor);

// Registers one test per case found; gives how many.
size_t register_node_folder(const std::string &suite, const std::string &folder);
// Single-node cases of the operators that the importer claims.
size_t register_operator_folder(const std::string &suite, const std::string &folder);
// The f64 evaluation of every operator that it knows.
size_t register_eval_folder(const std::string &suite, const std::string &folder);
size_t register_json_cases(const std::string &path);
size_t register_negative_json_cases(const std::string &path);

}  // namespace rnnp::conformance
#endif  // RNNPACK_TESTS_CONFORMANCE_CASE_H_
