// suggest_option.cpp -- Contract: suggest_option.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/job/suggest_option.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "compiler/onnx/errors.h"
#include "compiler/verify/self_check.h"

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

// Unnamed open axes by their places.
Try shape_with(const DeclaredInput &input, const std::vector<size_t> &axes, const std::string &size) {
  Try out{"--shape", input.name + "=", input.name + "="};
  for (size_t i = 0; i < input.dims.size(); ++i) {
    const std::string comma = i == 0 ? "" : ",", other = input.dims[i].value ? std::to_string(input.dims[i].value) : "-1";
    const bool fixed = std::find(axes.begin(), axes.end(), i) != axes.end();
    out.value += comma + (!fixed ? other : size.empty() ? kTriedSize : size);
    out.shown += comma + (!fixed ? other : size.empty() ? "SIZE" : size);
  }
  return out;
}

// Each open size fixed alone: at `size`, or where that is empty at one that the user is to choose.
std::vector<Try> fixed_sizes(const OnnxModel &model, const std::string &size) {
  std::vector<Try> out;
  std::set<std::string> known;
  const std::string value = size.empty() ? kTriedSize : size, shown = size.empty() ? "SIZE" : size;
  for (const DeclaredInput &input : model.inputs) {
    for (size_t axis = 0; axis < input.dims.size(); ++axis) {
      const DeclaredDim &dim = input.dims[axis];
      if (dim.value) continue;
      if (dim.name.empty() && is_plain(input.name)) out.push_back(shape_with(input, {axis}, size));
      if (is_plain(dim.name) && known.insert(dim.name).second)
        out.push_back({"--dim", dim.name + "=" + value, dim.name + "=" + shown});
    }
  }
  return out;
}

// All of them at once.
std::vector<Try> all_fixed(const OnnxModel &model) {
  std::vector<Try> out = fixed_sizes(model, "");
  out.erase(std::remove_if(out.begin(), out.end(), [](const Try &one) { return one.option == "--shape"; }), out.end());
  for (const DeclaredInput &input : model.inputs) {
    std::vector<size_t> open;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      if (!input.dims[i].value && input.dims[i].name.empty()) open.push_back(i);
    }
    if (!open.empty() && is_plain(input.name)) out.push_back(shape_with(input, open, ""));
  }
  return out;
}

// Sizes that stand in the shapes of a refusal: an exporter may have written one of the example's into the graph.
std::vector<std::string> sizes_in(const std::string &refusal) {
  std::vector<std::string> out;
  size_t depth = 0;
  for (size_t i = 0; i < refusal.size(); ++i) {
    depth += refusal[i] == '[' ? 1 : 0;
    depth -= refusal[i] == ']' && depth > 0 ? 1 : 0;
    size_t past = i;
    while (past < refusal.size() && std::isdigit(static_cast<unsigned char>(refusal[past]))) ++past;
    const std::string digits = refusal.substr(i, past - i);
    const bool alone = i > 0 && (refusal[i - 1] == '[' || refusal[i - 1] == ' ') && (refusal[past] == ',' || refusal[past] == ']');
    if (depth > 0 && alone && digits.size() < 6 && digits > "0" && digits != "1" &&
        std::find(out.begin(), out.end(), digits) == out.end())
      out.push_back(digits);
    i = std::max(i, past == i ? i : past - 1);
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

std::vector<std::string> &values_of(const std::string &option, ModelOptions *options) {
  if (option == "--dim") return options->dims;
  if (option == "--axes") return options->axes;
  if (option == "--state") return options->states;
  return options->shapes;
}

// To a blob that passes its check.
bool compiles(const ModelSource &source, ModelOptions options, const std::vector<Try> &tries, const CompileOptions &how) {
  for (const Try &one : tries) values_of(one.option, &options).push_back(one.value);
  try {
    const auto model = load_model(source, options);
    const CompileOptions plain{how.target, state_pairs(options, *model), how.stream_steps};
    Compiled compiled = compile_model(*model, plain);
    return check_compiled(model.get(), &compiled, plain, false).failure.empty();
  } catch (const std::exception &) {
    return false;
  }
}

constexpr const char *kProposal = " try: --";  // how a line of a refusal proposes something itself

// What the lines of a refusal propose, all together.
std::vector<Try> proposed_in(const std::string &refusal) {
  std::vector<Try> out;
  for (size_t at = refusal.find(kProposal); at != std::string::npos; at = refusal.find(kProposal, at + 1)) {
    const size_t first = refusal.find("--", at);
    std::istringstream words(refusal.substr(first, refusal.find('\n', at) - first));
    std::string option, value;
    while (words >> option >> value && option.compare(0, 2, "--") == 0) {
      std::string tried = value;
      if (const size_t size = tried.find("SIZE"); size != std::string::npos) tried.replace(size, 4, kTriedSize);
      out.push_back({option, tried, value});
    }
  }
  return out;
}

std::string without_proposals(std::string refusal) {
  for (size_t at = refusal.find(kProposal); at != std::string::npos; at = refusal.find(kProposal))
    refusal.erase(at, std::min(refusal.find('\n', at), refusal.size()) - at);
  return refusal;
}

std::string text_of(const std::vector<Try> &tries, const std::string &why) {
  std::string text = "\ntry:";
  for (const Try &one : tries) text += " " + one.option + " " + one.shown;
  return text + " (" + why + ")";
}

}  // namespace

std::string with_what_helps(const std::string &refused, const ModelSource &source, const ModelOptions &given,
                            const CompileOptions &how) {
  const std::vector<Try> proposed = proposed_in(refused);
  if (!proposed.empty() && compiles(source, given, proposed, how)) return refused;
  std::string refusal = without_proposals(refused);
  if (refusal.find("--set ") != std::string::npos) return refusal;
  if (compiles(source, given, {}, how)) return refusal;  // it is about what weights are stored as
  const auto model = load_model(source, given);
  const auto helps = [&](const std::vector<Try> &tries) { return !tries.empty() && compiles(source, given, tries, how); };
  const auto first_that_helps = [&](const std::string &size) {
    std::vector<Try> sizes = fixed_sizes(*model, size);
    sizes.resize(std::min(sizes.size(), kMostTries));
    const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const Try &one) { return helps({one}); });
    return found == sizes.end() ? std::vector<Try>() : std::vector<Try>{*found};
  };
  if (const auto one = first_that_helps(""); !one.empty()) return refusal + text_of(one, "with a fixed size it compiles");
  std::vector<std::string> written = sizes_in(refusal);
  written.resize(std::min(written.size(), kMostTries));
  for (const std::string &size : written) {
    if (const auto one = first_that_helps(size); !one.empty())
      return refusal + text_of(one, "the exporter wrote this size into the graph; with it, it compiles");
  }
  std::vector<Try> all = all_fixed(*model);
  if (all.size() > 1 && helps(all)) return refusal + text_of(all, "with fixed sizes it compiles");
  const bool open = !all.empty();
  const std::vector<Try> axes = plain_axes(*model);
  all.insert(all.end(), axes.begin(), axes.end());
  if (!given.axes.empty() || axes.empty() || !helps(all)) return refusal;
  return refusal + text_of(all, open ? "with fixed sizes alone it compiles" : "with its own sizes alone it compiles");
}

}  // namespace rnnp::compiler
