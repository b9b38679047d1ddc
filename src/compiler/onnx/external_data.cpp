// external_data.cpp -- Contract: external_data.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/external_data.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
namespace {

namespace fs = std::filesystem;
using Visit = std::function<void(onnx::TensorProto *)>;

void visit_graph(onnx::GraphProto *graph, const Visit &visit);

void visit_nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto> *nodes, const Visit &visit) {
  for (onnx::NodeProto &node : *nodes) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) visit(attribute.mutable_t());
      for (onnx::TensorProto &tensor : *attribute.mutable_tensors()) visit(&tensor);
      if (attribute.has_g()) visit_graph(attribute.mutable_g(), visit);
      for (onnx::GraphProto &graph : *attribute.mutable_graphs()) visit_graph(&graph, visit);
    }
  }
}

void visit_graph(onnx::GraphProto *graph, const Visit &visit) {
  for (onnx::TensorProto &tensor : *graph->mutable_initializer()) visit(&tensor);
  visit_nodes(graph->mutable_node(), visit);
}

struct Place {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> bytes;  // none: to the file's end
};

uint64_t number(const std::string &key, const std::string &text) {
  const bool digits =
      !text.empty() && text.size() < 20 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw Refusal("the " + key + " of its data is " + quote(text) + "; accepted: a number of bytes");
  return std::stoull(text);
}

Place place_of(const onnx::TensorProto &tensor) {
  Place place;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location") place.file = entry.value();
    if (entry.key() == "offset") place.offset = number("offset", entry.value());
    if (entry.key() == "length") place.bytes = number("length", entry.value());
  }
  return place;
}

class Folder {
 public:
  explicit Folder(const std::string &path) : root_(fs::canonical(path.empty() ? "." : path)) {}

  // Gives what is missing, one cause for many tensors; empty where nothing is.
  std::string fill(onnx::TensorProto *tensor) {
    const Place place = place_of(*tensor);
    File &file = open(place.file);
    if (!file.stream.is_open())
      return "they are in " + quote(place.file) + ", which is not beside the model: keep the two files together";
    const uint64_t left = place.offset <= file.bytes ? file.bytes - place.offset : 0, bytes = place.bytes.value_or(left);
    if (place.offset > file.bytes || bytes > left)
      throw Refusal("its data reach beyond the end of " + quote(place.file) + ", which has " + std::to_string(file.bytes) +
                    " bytes: is it another model's, or cut off?");
    file.taken += bytes;
    if (file.taken > file.bytes)
      throw Refusal("more data are asked of " + quote(place.file) + " than the " + std::to_string(file.bytes) + " bytes it has");
    std::string *to = tensor->mutable_raw_data();
    to->resize(bytes);
    file.stream.seekg(static_cast<std::streamoff>(place.offset));
    if (!file.stream.read(to->data(), static_cast<std::streamsize>(bytes)))
      throw Refusal("its data in " + quote(place.file) + " cannot be read");
    tensor->clear_external_data();
    tensor->set_data_location(onnx::TensorProto::DEFAULT);
    return "";
  }

  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    for (const auto &file : files_) paths.push_back(file.first);
    return paths;
  }

 private:
  struct File {
    std::ifstream stream;
    uint64_t bytes = 0, taken = 0;
  };

  File &open(const std::string &name) {
    const fs::path path = name;
    if (name.find('\0') != std::string::npos) throw Refusal("its data are in " + quote(name) + ", a name with a NUL byte in it");
    const bool leaves = name.empty() || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
    std::error_code error;
    const fs::path full = leaves ? fs::path() : fs::weakly_canonical(root_ / path, error);
    if (leaves || error || std::mismatch(root_.begin(), root_.end(), full.begin(), full.end()).first != root_.end())
      throw Refusal("its data are in " + quote(name) + "; accepted: a file in the model's own folder");
    const auto known = files_.find(full.string());
    if (known != files_.end()) return known->second;
    File file;
    if (fs::is_regular_file(full, error)) file.stream.open(full, std::ios::binary);
    if (file.stream.is_open()) file.bytes = fs::file_size(full);
    return files_.emplace(full.string(), std::move(file)).first->second;
  }

  fs::path root_;
  std::map<std::string, File> files_;
};

}  // namespace

std::vector<std::string> read_external_data(onnx::ModelProto *model, const std::string &folder) {
  Folder files(folder);
  Problems problems;
  const Visit visit = [&](onnx::TensorProto *tensor) {
    if (tensor->data_location() != onnx::TensorProto::EXTERNAL && tensor->external_data_size() == 0) return;
    std::string missing;
    const auto refusal = refusal_of([&] { missing = files.fill(tensor); });
    if (refusal) problems.add("", "tensor " + quote(tensor->name()), *refusal);
    if (!missing.empty()) problems.add("", "weights", missing);
  };
  visit_graph(model->mutable_graph(), visit);
  for (onnx::FunctionProto &function : *model->mutable_functions()) visit_nodes(function.mutable_node(), visit);
  problems.raise();
  return files.files();
}

}  // namespace rnnp::compiler
