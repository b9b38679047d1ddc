// specialise.cpp -- Contract: specialise.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/specialise.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

DeclaredInput &find_input(OnnxModel *model, const std::string &name) {
  std::vector<std::string> known;
  for (DeclaredInput &input : model->inputs) {
    if (input.name == name) return input;
    known.push_back(input.name);
  }
  throw UsageError("the model has no input " + quote(name) + "; it has: " + quoted_list(known));
}

std::string declared_text(const DeclaredInput &input) {
  std::string text = "[";
  for (size_t i = 0; i < input.dims.size(); ++i) {
    const DeclaredDim &dim = input.dims[i];
    text += (i ? ", " : "") + (dim.value ? std::to_string(dim.value) : dim.name.empty() ? "?" : quote(dim.name));
  }
  return text + "]";
}

void fix_dim(OnnxModel *model, const std::string &name, int64_t size) {
  std::set<std::string> known;
  bool found = false;
  if (size < 1 || size > kMaxDim) throw UsageError("dimension " + quote(name) + " cannot have the size " + std::to_string(size));
  for (DeclaredInput &input : model->inputs) {
    for (DeclaredDim &dim : input.dims) {
      if (dim.value == 0 && !dim.name.empty()) known.insert(dim.name);
      if (dim.value != 0 || name.empty() || dim.name != name) continue;
      dim.value = size;
      found = true;
    }
  }
  if (!found) {
    throw UsageError("no input has a dimension " + quote(name) +
                     "; there are: " + quoted_list(std::vector<std::string>(known.begin(), known.end())));
  }
}

void fix_shape(OnnxModel *model, const std::string &name, const std::vector<int64_t> &sizes) {
  DeclaredInput &input = find_input(model, name);
  bool fits = sizes.size() == input.dims.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    DeclaredDim &dim = input.dims[i];
    fits = sizes[i] == -1 || (sizes[i] >= 1 && sizes[i] <= kMaxDim && (dim.value == 0 || dim.value == sizes[i]));
    if (fits && sizes[i] != -1) dim.value = sizes[i];
  }
  if (!fits) throw UsageError("shape " + shape_text(sizes) + " does not fit input " + quote(name) + " " + declared_text(input));
}

void say_axes(OnnxModel *model, const std::string &name, const std::vector<std::string> &roles) {
  DeclaredInput &input = find_input(model, name);
  if (roles.size() != input.dims.size())
    throw UsageError(std::to_string(roles.size()) + " axes do not fit input " + quote(name) + " " + declared_text(input));
  for (size_t i = 0; i < roles.size(); ++i) {
    DimRole &role = input.dims[i].role;
    role = roles[i] == "time" ? DimRole::kTime : roles[i] == "batch" ? DimRole::kBatch : DimRole::kFeatures;
    if (role == DimRole::kFeatures && roles[i] != "features")
      throw UsageError("--axes " + name + ": " + quote(roles[i]) + " is no kind of axis; accepted: time, batch, features");
  }
}

Elem elem_of(const DeclaredInput &input) {
  switch (input.elem_type) {
    case kOnnxFloat:
    case kOnnxFloat16:
    case kOnnxDouble:
      return Elem::kFloat;
    case kOnnxBool:
      return Elem::kBool;
    default:
      return Elem::kInt;
  }
}

// One element fills the declared shape; more must have it.
Tensor value_for(const DeclaredInput &input, const Tensor &given) {
  Shape shape;
  bool fixed = true;
  for (const DeclaredDim &dim : input.dims) {
    shape.push_back(dim.value);
    fixed = fixed && dim.value != 0;
  }
  if (given.size() == 1 && given.shape.empty() && fixed) {
    Tensor filled(elem_of(input), shape);
    std::fill(filled.data.begin(), filled.data.end(), given.data[0]);
    return filled;
  }
  bool fits = given.rank() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] == 0 || shape[i] == given.shape[i];
  Tensor out = given;
  if (!fits && fixed && given.rank() == 1 && given.size() == element_count(shape)) {
    out.shape = shape;
    fits = true;
  }
  if (!fits) {
    throw UsageError("a value of shape " + shape_text(given.shape) + " does not fit input " + quote(input.name) + " " +
                     declared_text(input));
  }
  out.elem = elem_of(input);
  return out;
}

void fix_value(OnnxModel *model, const std::string &name, const Tensor &given) {
  const DeclaredInput input = find_input(model, name);
  Tensor value = value_for(input, given);
  for (double &v : value.data) {
    if (value.elem == Elem::kFloat)
      v = static_cast<double>(static_cast<float>(v));
    else if (v != static_cast<double>(to_int(v)))
      throw UsageError("input " + quote(name) + " holds integers; " + std::to_string(v) + " is none");
  }
  model->constants[name] = std::make_shared<const Tensor>(std::move(value));
  model->inputs.erase(
      std::find_if(model->inputs.begin(), model->inputs.end(), [&](const DeclaredInput &i) { return i.name == name; }));
}

}  // namespace

std::string quoted_list(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + quote(name);
  return text.empty() ? "none" : text;
}

void specialise(OnnxModel *model, const Specialisation &wanted) {
  cut_graph(model, wanted.cut);
  for (const auto &dim : wanted.dims) fix_dim(model, dim.first, dim.second);
  for (const auto &shape : wanted.shapes) fix_shape(model, shape.first, shape.second);
  for (const auto &axes : wanted.axes) say_axes(model, axes.first, axes.second);
  for (const auto &value : wanted.values) fix_value(model, value.first, value.second);
}

}  // namespace rnnp::compiler
