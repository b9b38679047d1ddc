// conformance_case.cpp -- Contract: conformance_case.h.
// SPDX-License-Identifier: Apache-2.0
#include "conformance_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"

namespace rnnp::conformance {

using namespace rnnp::compiler;

namespace {

template <typename Values>
void compare(const std::string &what, const Values &got, const Tensor &want, double tolerance) {
  ASSERT_EQ(got.size(), want.data.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double value = static_cast<double>(got[i]), limit = tolerance * std::max(1.0, std::fabs(want.data[i]));
    ASSERT_TRUE(std::fabs(value - want.data[i]) <= limit)
        << what << " element " << i << ": " << value << ", expected " << want.data[i];
  }
}

}  // namespace

void compare_outputs(const std::string &what, const Arrays &got, const Case &c) {
  for (const auto &output : c.expected) {
    const Array &array = got.at(output.first);
    // An axis that merges the batch with others is given as axes of their own.
    if (array.shape.size() <= output.second.shape.size()) {
      EXPECT_EQ(array.shape, output.second.shape) << what << " " << output.first;
    }
    compare(what + " " + output.first, array.f32, output.second, c.tolerance);
  }
}

void check_evaluation(const OnnxModel &model, const Case &c) {
  std::map<std::string, Tensor> tensors;
  for (const auto &input : c.inputs) {
    Tensor tensor(input.second.is_int ? Elem::kInt : Elem::kFloat, input.second.shape);
    if (input.second.is_int)
      std::copy(input.second.i32.begin(), input.second.i32.end(), tensor.data.begin());
    else
      std::copy(input.second.f32.begin(), input.second.f32.end(), tensor.data.begin());
    tensors[input.first] = tensor;
  }
  const auto got = eval_graph(model, tensors);
  for (const auto &output : c.expected)
    compare("evaluation " + output.first, got.at(output.first).data, output.second, c.tolerance);
}

Array to_array(const Tensor &tensor) {
  Array array;
  array.shape = tensor.shape;
  array.is_int = tensor.elem == Elem::kInt;
  for (double v : tensor.data) {
    if (array.is_int)
      array.i32.push_back(static_cast<int32_t>(v));
    else
      array.f32.push_back(static_cast<float>(v));
  }
  return array;
}

void weights_to_initializers(onnx::ModelProto *model, std::map<std::string, onnx::TensorProto> *inputs) {
  std::set<std::string> weights;
  for (const onnx::NodeProto &node : model->graph().node()) {
    if (node.op_type() != "RNN" && node.op_type() != "GRU" && node.op_type() != "LSTM") continue;
    for (int i : {1, 2, 3, 7}) {
      if (i < node.input_size() && !node.input(i).empty()) weights.insert(node.input(i));
    }
  }
  for (auto it = inputs->begin(); it != inputs->end();) {
    if (weights.count(it->first) == 0) {
      ++it;
      continue;
    }
    onnx::TensorProto *tensor = model->mutable_graph()->add_initializer();
    *tensor = it->second;
    tensor->set_name(it->first);
    it = inputs->erase(it);
  }
}

}  // namespace rnnp::conformance
