// array_files.cpp -- Contract: array_files.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/files/array_files.h"

#include <algorithm>

#include "compiler/files/npz.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

struct NamedFile {
  std::string name, path;  // no name: none was given
};

std::string names_of(const std::vector<rnnp_tensor_info> &tensors) {
  std::string text;
  for (const rnnp_tensor_info &facts : tensors) text += (text.empty() ? "" : ", ") + quote(facts.name);
  return text.empty() ? "none" : text;
}

bool is_named(const std::vector<rnnp_tensor_info> &tensors, const std::string &name) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const rnnp_tensor_info &facts) { return name == facts.name; });
}

// A file's own name may hold a '='; then what stands before it is no tensor's name and has a '/'.
NamedFile split(const std::string &text, const std::vector<rnnp_tensor_info> &tensors, const char *what) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  const std::string name = text.substr(0, equals);
  if (is_named(tensors, name)) return {name, text.substr(equals + 1)};
  if (name.find('/') == std::string::npos)
    throw UsageError(std::string("the model has no ") + what + " " + quote(name) + "; it has: " + names_of(tensors));
  return {"", text};
}

}  // namespace

std::vector<std::string> file_names(const std::vector<std::string> &given, const std::vector<rnnp_tensor_info> &tensors) {
  std::vector<std::string> paths;
  for (const std::string &text : given) paths.push_back(split(text, tensors, "input").path);
  return paths;
}

std::map<std::string, std::string> files_by_name(const std::vector<std::string> &given,
                                                 const std::vector<rnnp_tensor_info> &tensors, const char *what) {
  std::map<std::string, std::string> files;
  for (const std::string &text : given) {
    NamedFile file = split(text, tensors, what);
    if (file.name.empty() && tensors.empty()) throw UsageError(std::string("the model has no ") + what + "s");
    if (file.name.empty()) file.name = tensors[0].name;
    if (!files.emplace(file.name, file.path).second)
      throw UsageError(std::string(what) + " " + quote(file.name) + " is given twice");
  }
  return files;
}

Arrays read_inputs(const std::vector<std::string> &given, const std::vector<rnnp_tensor_info> &inputs) {
  Arrays arrays;
  const auto put = [&](const std::string &name, Array array) {
    if (!arrays.emplace(name, std::move(array)).second) throw UsageError("input " + quote(name) + " is given twice");
  };
  for (const std::string &text : given) {
    const NamedFile file = split(text, inputs, "input");
    if (inputs.empty()) throw UsageError("the model has no inputs");
    if (!is_npz(file.path)) {
      put(file.name.empty() ? inputs[0].name : file.name, read_npy(file.path));
      continue;
    }
    size_t taken = 0;
    for (auto &array : read_npz(file.path)) {
      if (file.name.empty() ? !is_named(inputs, array.first) : array.first != file.name) continue;
      put(array.first, std::move(array.second));
      ++taken;
    }
    if (taken == 0)
      throw UsageError(file.path + " holds no array named " +
                       (file.name.empty() ? "like an input: " + names_of(inputs) : quote(file.name)));
  }
  return arrays;
}

}  // namespace rnnp::compiler
