// json_models.cpp -- Contract: json_models.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/front_ends/json_models.h"

#include <algorithm>

#include "compiler/json/json_value.h"
#include "compiler/nam/nam_model.h"
#include "compiler/onnx/problem.h"
#include "compiler/rtneural/rtneural.h"
#include "compiler/rtneural/state_dict.h"

namespace rnnp::compiler {
namespace {

struct JsonKind {
  const char *name;
  bool (*is)(const JsonValue &file);
  std::unique_ptr<OnnxModel> (*read)(const JsonValue &file, const ReadOptions &options);
  bool has_quality;
};

constexpr JsonKind kJsonKinds[] = {
    {"Neural Amp Modeler", is_nam, read_nam, true},
    {"RTNeural or AIDA-X", is_rtneural, read_rtneural, false},
    {"GuitarML (Proteus)", is_guitarml, read_guitarml, false},
    {"PyTorch state_dict", is_state_dict, read_state_dict, false},
};

bool is_json(const ModelFile &file) {
  const uint8_t *const end = file.bytes + file.size;
  const auto space = [](uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  const uint8_t *at = std::find_if_not(file.bytes, end, space);
  if (at == end || *at != '{') return false;
  at = std::find_if_not(at + 1, end, space);
  return at == end || *at == '"' || *at == '}';
}

nlohmann::ordered_json parse_json(const ModelFile &file) {
  constexpr size_t kLargest = size_t{64} << 20;  // a parsed value is some ten times its text
  constexpr int kDeepest = 64;
  constexpr size_t kMostMembers = 20000;  // they are looked for one after the other
  size_t members = 0;
  if (file.size > kLargest) throw ModelError("the JSON file is larger than 64 MiB");
  const auto limits = [&](int depth, nlohmann::ordered_json::parse_event_t event, nlohmann::ordered_json &) {
    if (depth > kDeepest) throw ModelError("the JSON file is nested too deep");
    if (event == nlohmann::ordered_json::parse_event_t::key && ++members > kMostMembers)
      throw ModelError("the JSON file has more than " + std::to_string(kMostMembers) + " members");
    return true;
  };
  try {
    // libc++ has no traits of unsigned char, which the parser asks for.
    const char *text = reinterpret_cast<const char *>(file.bytes);
    return nlohmann::ordered_json::parse(text, text + file.size, limits);
  } catch (const nlohmann::ordered_json::exception &error) {
    const std::string why = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    const size_t bracket = why.find("] ");
    const std::string quoted = quote(bracket == std::string::npos ? why : why.substr(bracket + 2));
    throw ModelError("the file is not whole or damaged: it begins as JSON; " + quoted.substr(1, quoted.size() - 2));
  }
}

std::unique_ptr<OnnxModel> read_json(const ModelFile &file, const ReadOptions &options) {
  const nlohmann::ordered_json parsed = parse_json(file);
  const JsonValue root(parsed);
  std::string accepted;
  for (const JsonKind &kind : kJsonKinds) {
    if (kind.is(root)) {
      if (options.quality && !kind.has_quality)
        throw UsageError(std::string("--quality is of files that hold several networks; this one is of the kind ") + kind.name);
      return kind.read(root, options);
    }
    accepted += std::string(accepted.empty() ? "" : ", ") + kind.name;
  }
  throw ModelError("the file is JSON of a kind that is not known; accepted: " + accepted);
}

}  // namespace

const FrontEnd &json_models() {
  static const FrontEnd kJson = {"JSON", is_json, read_json, true};
  return kJson;
}

}  // namespace rnnp::compiler
