// what_helps.cpp -- Contract: what_helps.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/what_helps.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr const char *kTriedSize = "16";
constexpr size_t kMostTries = 4;

struct Try {
  std::string option, value, shown;  // shown: with SIZE in the place of the size
};

// What stands in a command line as it is.
bool is_plain(const std::string &name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string("_-./:+").find(char(c)) != std::string::npos;
  });
}

// An unnamed open axis by its place.
Try shape_with(const DeclaredInput &input, size_t axis) {
  Try out{"--shape", input.name + "=", input.name + "="};
  for (size_t i = 0; i < input.dims.size(); ++i) {
    const std::string comma = i == 0 ? "" : ",", other = input.dims[i].value ? std::to_string(input.dims[i].value) : "-1";
    out.value += comma + (i == axis ? kTriedSize : other);
    out.shown += comma + (i == axis ? "SIZE" : other);
  }
  return out;
}

std::vector<Try> fixed_sizes(const OnnxModel &model) {
  std::vector<Try> out;
  std::set<std::string> known;
  for (const DeclaredInput &input : model.inputs) {
    for (size_t axis = 0; axis < input.dims.size(); ++axis) {
      const DeclaredDim &dim = input.dims[axis];
      if (dim.value) continue;
      if (dim.name.empty() && is_plain(input.name)) out.push_back(shape_with(input, axis));
      if (is_plain(dim.name) && known.insert(dim.name).second)
        out.push_back({"--dim", dim.name + "=" + kTriedSize, dim.name + "=SIZE"});
    }
  }
  return out;
}

// All axes of all inputs as the file has them.
std::vector<Try> plain_axes(const OnnxModel &model) {
  std::vector<Try> out;
  for (const DeclaredInput &input : model.inputs) {
    if (input.dims.empty() || !is_plain(input.name)) continue;
    std::string value = input.name + "=features";
    for (size_t i = 1; i < input.dims.size(); ++i) value += ",features";
    out.push_back({"--axes", value, value});
  }
  return out;
}

bool compiles(const std::string &path, ModelOptions options, const std::vector<Try> &tries, const CompileOptions &how) {
  for (const Try &one : tries) {
    (one.option == "--dim" ? options.dims : one.option == "--axes" ? options.axes : options.shapes).push_back(one.value);
  }
  try {
    CompileOptions plain{how.target, how.states, how.stream_steps};
    compile_graph(*load_model(path, options), plain);
  } catch (const std::exception &) {
    return false;
  }
  return true;
}

}  // namespace

std::string with_what_helps(const std::string &refusal, const std::string &path, const ModelOptions &given,
                            const CompileOptions &how) {
  if (refusal.find("try: --") != std::string::npos || refusal.find("--set ") != std::string::npos) return refusal;
  const auto model = load_model(path, given);
  const std::vector<Try> sizes = fixed_sizes(*model);
  for (size_t i = 0; i < std::min(sizes.size(), kMostTries); ++i) {
    if (compiles(path, given, {sizes[i]}, how))
      return refusal + "\ntry: " + sizes[i].option + " " + sizes[i].shown + " (with a fixed size it compiles)";
  }
  const std::vector<Try> axes = plain_axes(*model);
  if (!sizes.empty() || !given.axes.empty() || axes.empty() || !compiles(path, given, axes, how)) return refusal;
  std::string text = refusal + "\ntry:";
  for (const Try &one : axes) text += " " + one.option + " " + one.shown;
  return text + " (with its own sizes alone it compiles)";
}

}  // namespace rnnp::compiler
