// json_cases.cpp -- onnxruntime's recurrent cases as JSON. Each is run with its states and lengths as graph inputs, as constants,
// and with open time and batch dimensions, and for each subset of outputs that upstream asks for.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "conformance_case.h"

namespace rnnp::conformance {
namespace {

using nlohmann::json;

enum class Form { kInputs, kConstants, kOpen };

constexpr const char *kInputNames[] = {"X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"};

void add_attributes(const json &attributes, onnx::NodeProto *node) {
  for (const auto &item : attributes.items()) {
    onnx::AttributeProto *out = node->add_attribute();
    out->set_name(item.key());
    const json &v = item.value();
    if (v.is_string()) {
      out->set_type(onnx::AttributeProto::STRING);
      out->set_s(v.get<std::string>());
    } else if (v.is_number_integer()) {
      out->set_type(onnx::AttributeProto::INT);
      out->set_i(v.get<int64_t>());
    } else if (v.is_number()) {
      out->set_type(onnx::AttributeProto::FLOAT);
      out->set_f(v.get<float>());
    } else if (!v.empty() && v[0].is_string()) {
      out->set_type(onnx::AttributeProto::STRINGS);
      for (const json &s : v) out->add_strings(s.get<std::string>());
    } else {
      out->set_type(onnx::AttributeProto::FLOATS);
      for (const json &f : v) out->add_floats(f.get<float>());
    }
  }
}

void add_dims(onnx::ValueInfoProto *info, const json &shape, int type, const std::vector<std::string> &open) {
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  for (size_t i = 0; i < shape.size(); ++i) {
    auto *dim = tensor->mutable_shape()->add_dim();
    if (i < open.size() && !open[i].empty())
      dim->set_dim_param(open[i]);
    else
      dim->set_dim_value(shape[i].get<int64_t>());
  }
}

onnx::TensorProto tensor_of(const std::string &name, const json &value, bool is_int) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  for (const json &dim : value["shape"]) tensor.add_dims(dim.get<int64_t>());
  tensor.set_data_type(is_int ? onnx::TensorProto::INT32 : onnx::TensorProto::FLOAT);
  for (const json &v : value["data"]) {
    if (is_int)
      tensor.add_int32_data(v.get<int32_t>());
    else
      tensor.add_float_data(v.get<float>());
  }
  return tensor;
}

std::vector<std::string> open_dims(const std::string &name) {
  if (name == "X") return {"steps", "batch", ""};
  if (name == "sequence_lens") return {"batch"};
  return {"", "batch", ""};
}

void add_input(const std::string &name, const json &value, Form form, Case *c) {
  const bool is_weight = name == "W" || name == "R" || name == "B" || name == "P", is_int = name == "sequence_lens";
  const onnx::TensorProto tensor = tensor_of(name, value, is_int);
  onnx::GraphProto *graph = c->model.mutable_graph();
  if (is_weight || (form == Form::kConstants && name != "X")) {
    *graph->add_initializer() = tensor;
    return;
  }
  onnx::ValueInfoProto *info = graph->add_input();
  info->set_name(name);
  add_dims(info, value["shape"], tensor.data_type(), form == Form::kOpen ? open_dims(name) : std::vector<std::string>());
  c->inputs[name] = to_array(compiler::read_tensor(tensor));
}

Case make_case(const json &from, const std::vector<std::string> &outputs, Form form) {
  Case c;
  c.model.set_ir_version(8);
  c.model.add_opset_import()->set_version(14);
  onnx::GraphProto *graph = c.model.mutable_graph();
  onnx::NodeProto *node = graph->add_node();
  node->set_op_type(from["op"].get<std::string>());
  node->set_name("case");
  add_attributes(from["attributes"], node);
  for (const char *name : kInputNames) {
    const bool present = from["inputs"].contains(name);
    node->add_input(present ? name : "");
    if (present) add_input(name, from["inputs"][name], form, &c);
  }
  for (const char *name : {"Y", "Y_h", "Y_c"}) {
    const bool wanted = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    node->add_output(wanted ? name : "");
    if (!wanted) continue;
    onnx::ValueInfoProto *info = graph->add_output();
    info->set_name(name);
    add_dims(info, json::array(), onnx::TensorProto::FLOAT, {});
    if (from.contains("expected") && from["expected"].contains(name))
      c.expected[name] = compiler::read_tensor(tensor_of(name, from["expected"][name], false));
  }
  c.tolerance = from.value("recommended_abs_tol", 1e-5);
  return c;
}

std::vector<std::vector<std::string>> subsets_of(const json &from) {
  std::vector<std::vector<std::string>> subsets;
  if (from.contains("output_subsets_tested")) subsets = from["output_subsets_tested"].get<std::vector<std::vector<std::string>>>();
  std::vector<std::string> all;
  for (const auto &output : from["expected"].items()) all.push_back(output.key());
  subsets.push_back(all);
  return subsets;
}

class JsonTest : public testing::Test {
 public:
  explicit JsonTest(json from) : from_(std::move(from)) {}
  void TestBody() override {
    for (const auto &outputs : subsets_of(from_)) {
      for (Form form : {Form::kInputs, Form::kConstants, Form::kOpen}) {
        SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)));
        check_case(make_case(from_, outputs, form));
      }
    }
  }

 private:
  json from_;
};

// Refused by the compiler or, where only run-time values are wrong, by the run.
class NegativeTest : public testing::Test {
 public:
  explicit NegativeTest(json from) : from_(std::move(from)) {}
  void TestBody() override {
    for (Form form : {Form::kInputs, Form::kConstants, Form::kOpen}) {
      const Case c = make_case(from_, {"Y", "Y_h"}, form);
      EXPECT_ANY_THROW({
        const auto model = compiler::check_model(c.model);
        compiler::Runner runner(compiler::compile_model(*model, "generic").blob);
        runner.run(c.inputs, {});
      }) << "form "
         << static_cast<int>(form);
    }
  }

 private:
  json from_;
};

template <typename TestClass>
size_t register_all(const std::string &path, const char *suite) {
  std::ifstream file(path);
  const json document = json::parse(file);
  for (const json &from : document["cases"]) {
    std::string name = from["name"].get<std::string>();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    // gtest keeps names that begin with DISABLED_ out of its runs; these are upstream's, and pass.
    for (size_t at = name.find("DISABLED_"); at != std::string::npos; at = name.find("DISABLED_"))
      name.replace(at, 9, "upstream_disabled_");
    testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [from]() -> testing::Test * { return new TestClass(from); });
  }
  return document["cases"].size();
}

}  // namespace

size_t register_json_cases(const std::string &path) {
  return register_all<JsonTest>(path, "onnxruntime_json");
}
size_t register_negative_json_cases(const std::string &path) {
  return register_all<NegativeTest>(path, "onnxruntime_negative");
}

}  // namespace rnnp::conformance
