// load_model.cpp -- Contract: load_model.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/options/load_model.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/compile.h"
#include "compiler/files/files.h"
#include "compiler/files/npy.h"
#include "compiler/front_ends/front_ends.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/cut_graph.h"
#include "compiler/onnx/errors.h"
#include "compiler/onnx/specialise.h"
#include "compiler/quantize/prune.h"

namespace rnnp::compiler {
namespace {

struct Pair {
  std::string name, value;
};

Pair split(const std::string &text, const char *option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError(std::string(option) + " " + quote(text) + "; accepted: NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// "1,576" as numbers; the whole text must be used up.
std::vector<double> numbers(const std::string &text, const char *option) {
  std::vector<double> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    size_t used = 0;
    try {
      out.push_back(std::stod(part, &used));
    } catch (const std::exception &) {
      used = 0;
    }
    if (used == 0 || used != part.size()) throw UsageError(std::string(option) + ": " + quote(part) + " is not a number");
    at = comma + 1;
  }
  return out;
}

std::vector<int64_t> integers(const std::string &text, const char *option) {
  std::vector<int64_t> out;
  for (double v : numbers(text, option)) {
    out.push_back(to_int(v));
    if (static_cast<double>(out.back()) != v) throw UsageError(std::string(option) + ": " + quote(text) + " has a fraction");
  }
  return out;
}

bool is_npy(const std::string &text) {
  return text.size() > 4 && text.compare(text.size() - 4, 4, ".npy") == 0;
}

Tensor value_of(const std::string &text) {
  Tensor value;
  if (is_npy(text)) {
    const Array array = read_npy(text);
    value.shape = array.shape;
    value.data.assign(array.f32.begin(), array.f32.end());
    if (array.is_int) value.data.assign(array.i32.begin(), array.i32.end());
    return value;
  }
  value.data = numbers(text, "--set");
  if (value.data.size() > 1) value.shape = {value.size()};
  return value;
}

}  // namespace

// What the options ask for.
static Specialisation specialisation_of(const ModelOptions &options) {
  Specialisation wanted;
  wanted.cut.to = options.to;
  for (const std::string &text : options.from) {
    const size_t equals = text.find('=');
    wanted.cut.from[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  for (const std::string &text : options.set) {
    const Pair pair = split(text, "--set");
    wanted.values[pair.name] = value_of(pair.value);
  }
  for (const std::string &text : options.dims) {
    const Pair pair = split(text, "--dim");
    const std::vector<int64_t> sizes = integers(pair.value, "--dim");
    if (sizes.size() != 1) throw UsageError("--dim " + quote(text) + "; accepted: one size");
    wanted.dims[pair.name] = sizes[0];
  }
  for (const std::string &text : options.shapes) {
    const Pair pair = split(text, "--shape");
    wanted.shapes[pair.name] = integers(pair.value, "--shape");
  }
  for (const std::string &text : options.axes) {
    const Pair pair = split(text, "--axes");
    std::vector<std::string> &roles = wanted.axes[pair.name];
    for (size_t at = 0; at <= pair.value.size();) {
      const size_t comma = std::min(pair.value.find(',', at), pair.value.size());
      roles.push_back(pair.value.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return wanted;
}

static std::unique_ptr<OnnxModel> parsed(const ModelSource &source, const ReadOptions &how) {
  const std::string folder = std::filesystem::path(source.path).parent_path().string();
  if (source.bytes != nullptr) {
    const auto *bytes = static_cast<const uint8_t *>(source.bytes);
    return read_model_file({bytes, source.size, source.path.empty() ? nullptr : &folder}, how);
  }
  const std::vector<uint8_t> bytes = read_file(source.path);
  if (bytes.empty()) throw IoError(quote(source.path) + " is empty; a model's file is expected");
  return read_model_file({bytes.data(), bytes.size(), &folder}, how);
}

std::unique_ptr<OnnxModel> load_model(const ModelSource &source, const ModelOptions &options) {
  const Specialisation wanted = specialisation_of(options);
  auto model = parsed(source, {options.quality});
  specialise(model.get(), wanted);
  std::set<std::string> kept;
  for (const StatePair &pair : state_pairs(options, *model)) kept.insert(pair.input);
  leave_out_unread(model.get(), kept);
  return model;
}

std::unique_ptr<OnnxModel> load_model(const std::string &path, const ModelOptions &options) {
  return load_model(ModelSource{path}, options);
}

std::vector<StatePair> state_pairs(const ModelOptions &options, const OnnxModel &model) {
  std::vector<StatePair> pairs;
  for (const auto &state : model.states) {
    const auto is_input = [&](const DeclaredInput &input) { return input.name == state.first; };
    if (std::any_of(model.inputs.begin(), model.inputs.end(), is_input)) pairs.push_back({state.first, state.second});
  }
  for (const std::string &text : options.states) {
    const Pair pair = split(text, "--state");
    pairs.push_back({pair.name, pair.value});
  }
  return pairs;
}

// Convolutions may lie otherwise for weights of f32 and of other types, and for --winograd off.
std::optional<Graph> graph_of_blob(const OnnxModel &model, const ModelOptions &options, const std::string &pruning, uint64_t id) {
  struct Form {
    const char *weights;
    bool winograd;
  };
  for (const Form &form : {Form{"f32", true}, Form{"f32", false}, Form{"int8", false}}) {
    CompileOptions how{"generic", state_pairs(options, model)};
    how.weights = form.weights;
    how.winograd = form.winograd;
    Graph graph = compile_graph(model, how);
    if (!pruning.empty()) prune(&graph, pruning_named(pruning));
    if (model_id(graph) == id) return graph;
  }
  return std::nullopt;
}

}  // namespace rnnp::compiler
