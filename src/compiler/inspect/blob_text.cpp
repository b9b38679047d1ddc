// blob_text.cpp -- a blob's document for people. Contract: blob_view.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "compiler/inspect/blob_view.h"
#include "compiler/ir/state_names.h"
#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

std::string dims_text(const Json &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + (dims[i].is_string() ? dims[i].get<std::string>() : dims[i].dump());
  return text + "]";
}

std::string act_text(const Json &act) {
  const std::string name = act["name"];
  const bool plain = act["alpha"] == 0.0 && act["beta"] == 0.0;
  return plain ? name : name + "(" + act["alpha"].dump() + ", " + act["beta"].dump() + ")";
}

std::string value_text(const Json &doc, const Json &index) {
  if (index.is_null()) return "-";
  const Json &value = doc["values"][index.get<size_t>()];
  return value["kind"].get<std::string>().substr(0, 3) + index.dump() + "[" + value["row_elems"].dump() + "]";
}

std::string list_text(const Json &doc, const Json &indices) {
  std::string text;
  size_t count = indices.size();
  while (count > 0 && indices[count - 1].is_null()) --count;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + value_text(doc, indices[i]);
  return text;
}

std::string recurrent_text(const Json &attr) {
  std::string text = attr["cell"].get<std::string>() + " " + attr["input_size"].dump() + " -> " + attr["hidden_size"].dump();
  const Json &directions = attr["directions"];
  if (directions.empty()) text += ", no direction";
  if (directions.size() == 2) text += ", bidirectional";
  if (directions.size() == 1 && directions[0]["reverse"] == true) text += ", reverse";
  for (const Json &direction : directions) {
    text += ",";
    for (const Json &act : direction["activations"]) text += " " + act_text(act);
    if (!direction["peephole"].is_null()) text += ", peepholes";
  }
  if (attr["clip"] != 0.0) text += ", clip " + attr["clip"].dump();
  if (attr["input_forget"] == true) text += ", input_forget";
  if (attr["mask"] == true) text += ", mask";
  return text;
}

std::string conv_text(const Json &attr, const Json &matrices) {
  const auto channels = [&](const char *which) {
    return std::to_string(attr[which].get<uint64_t>() * attr["groups"].get<uint64_t>());
  };
  std::string text = dims_text(attr["in_size"]) + " x " + channels("in_channels") + " -> " + dims_text(attr["out_size"]) + " x " +
                     channels("out_channels") + ", kernel " + dims_text(attr["kernel"]);
  if (attr["time_taps"] != 1 || attr["lead"] != 0)
    text +=
        ", " + attr["time_taps"].dump() + " steps " + attr["time_dilation"].dump() + " apart from " + attr["lead"].dump() + " back";
  if (attr["groups"] != 1) text += ", " + attr["groups"].dump() + " groups";
  if (attr["y_plane"] != 0) text += ", channel by channel";
  const size_t matrix = attr["matrix"];
  if (matrix < matrices.size()) {
    const Json &kernel = attr["kernel"], &k = matrices[matrix]["k"];
    if (attr["y_plane"] == 0 && attr["groups"] == 1 &&
        are_line_points(kernel[0], kernel[1], attr["time_taps"], attr["in_channels"], k))
      text += ", by F(2, 3)";
    if (attr["y_plane"] != 0 && are_winograd_weights(kernel[0], kernel[1], attr["in_channels"], k)) text += ", by F(2x2, 3x3)";
  }
  return text + (attr["bias"].is_null() ? "" : ", bias") + ", " + act_text(attr["activation"]);
}

std::string attr_text(const Json &doc, const Json &node) {
  const Json &attr = node["attr"];
  const std::string op = node["op"];
  if (attr.contains("unknown_bytes")) return attr["unknown_bytes"].dump() + " bytes of attributes that this tool does not know";
  if (op == "recurrent") return recurrent_text(attr);
  if (op == "feature_recurrent")
    return recurrent_text(attr) + " along " + attr["steps"].dump() + " of " + attr["rows"].dump() + " rows";
  if (op == "dense") {
    const std::string groups = attr["groups"] == 1 ? "" : ", " + attr["groups"].dump() + " groups";
    return attr["input_size"].dump() + " -> " + attr["output_size"].dump() + groups + (attr["bias"].is_null() ? "" : ", bias") +
           ", " + act_text(attr["activation"]);
  }
  if (op == "unary") return act_text(attr["activation"]);
  if (op == "binary") return attr["op"].get<std::string>() + " over " + dims_text(attr["dims"]);
  if (op == "softmax") return std::string(attr["log"] == true ? "log, " : "") + "axis of " + attr["axis"].dump();
  if (op == "copy") return dims_text(attr["dims"]) + " at " + attr["x_first"].dump() + " -> " + attr["y_first"].dump();
  if (op == "state_read" || op == "state_write")
    return "state " + attr["state"].dump() + (nodes_of_loop(node) == 0 ? "" : ", a loop of " + attr["nodes"].dump() + " nodes");
  if (op == "conv") return conv_text(attr, doc["matrices"]);
  if (op == "pool")
    return attr["pool"].get<std::string>() + " of " + dims_text(attr["kernel"]) + " over " + dims_text(attr["in_size"]) + " x " +
           attr["channels"].dump() + " channels";
  if (op == "reduce")
    return attr["op"].get<std::string>() + " over " + dims_text(attr["over_dims"]) + " of " + dims_text(attr["kept_dims"]);
  if (op == "time_reduce") return attr["op"].get<std::string>() + " over all steps, state " + attr["state"].dump();
  if (op == "time_reverse") return "each row inside its length";
  if (op == "norm")
    return attr["outer"].dump() + " x " + attr["elems"].dump() + (attr["centred"] == true ? "" : ", not centred") +
           (attr["scale"].is_null() ? "" : ", scale") + (attr["bias"].is_null() ? "" : ", bias");
  if (op == "where") return "over " + dims_text(attr["dims"]);
  if (op == "gather") return attr["count"].dump() + " of " + attr["rows"].dump() + " rows of " + attr["elems"].dump();
  if (op == "matmul") {
    const std::string sizes = attr["m"].dump() + " x " + attr["k"].dump() + " x " + attr["n"].dump();
    return attr["dims"].empty() ? sizes : dims_text(attr["dims"]) + " of " + sizes;
  }
  if (op == "time_step") return attr["last"] == true ? "last" : "first";
  return "";
}

std::string pad(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

bool has_steps_dim(const Json &io) {
  return std::any_of(io["dims"].begin(), io["dims"].end(), [](const Json &dim) { return dim == "steps"; });
}

// By name and shape: what the caller hands on from step to step.
std::string states_of_caller_text(const Json &doc) {
  std::string text;
  for (const Json &in : doc["inputs"]) {
    for (const Json &out : doc["outputs"]) {
      const bool per_step = in["role"] == "sequence" && !has_steps_dim(in);
      if (!per_step || in["row_elems"] != out["row_elems"] || !carries_on(out["name"], in["name"])) continue;
      text += (text.empty() ? "" : ", ") + in["name"].get<std::string>() + " from " + out["name"].get<std::string>();
    }
  }
  return text.empty() ? "" : "the caller hands its state on after every step: " + text + " (compile --state keeps it)\n";
}

// In quotes and escaped; the first bytes of long values.
std::string metadata_text(const Json &metadata) {
  constexpr size_t kShown = 100;
  std::string text = metadata.empty() ? "" : "metadata:\n";
  for (const auto &pair : metadata.items()) {
    const std::string all = pair.value().get<std::string>();
    const bool whole = all.size() <= kShown;
    const auto replace = Json::error_handler_t::replace;  // a character that was cut
    text += "  " + pad(pair.key(), 16) + " " + Json(whole ? all : all.substr(0, kShown)).dump(-1, ' ', false, replace) +
            (whole ? "" : " ... (" + std::to_string(all.size()) + " bytes)") + "\n";
  }
  return text;
}

}  // namespace

std::string blob_text(const Json &doc) {
  std::string text = "blob version " + doc["version"].dump() + ", " + doc["file_bytes"].dump() + " bytes, of which weights " +
                     doc["weight_bytes"].dump() + "\n";
  if (doc.contains("axes")) text += "axes: " + doc["axes"].get<std::string>() + "\n";
  text += "model id " + doc["model_id"].get<std::string>() + ", panels " + doc["panel_format"].get<std::string>() + "\n";
  text += doc["causal"] == true ? "causal: may run in pieces" : "not causal: runs whole sequences";
  const Json &all = doc["nodes"];
  const bool loops = std::any_of(all.begin(), all.end(), [](const Json &node) { return nodes_of_loop(node) != 0; });
  if (loops)
    text += ", its loops step by step";
  else if (doc["stepwise"] == true)
    text += ", one step at a time";
  if (doc["stream_steps"] != 0) text += ", a streaming model of " + doc["stream_steps"].dump() + " steps a call";
  text += doc["fixed_batch"] == 0 ? "\n" : ", batch fixed at " + doc["fixed_batch"].dump() + "\n";
  text += states_of_caller_text(doc);
  text += doc["macs_per_step"].dump() + " multiply-accumulates per step and row\n";
  text += metadata_text(doc["metadata"]);
  text += "pools: " + doc["pools"]["sequence_elems"].dump() + " f32 per step and row, " + doc["pools"]["row_elems"].dump() +
          " f32 per row\n";
  for (const char *list : {"inputs", "outputs"}) {
    text += std::string(list) + ":\n";
    for (const Json &io : doc[list])
      text += "  " + pad(io["name"].get<std::string>(), 16) + " " + pad(io["role"].get<std::string>(), 8) + " " +
              dims_text(io["dims"]) + "\n";
  }
  text += "states:\n";
  for (const Json &state : doc["states"]) {
    text += "  " + pad(state["name"].get<std::string>(), 24) + " " + state["elems"].dump() +
            (state["init"].is_null()    ? ""
             : state["per_row"] == true ? ", initial per row"
                                        : ", initial") +
            "\n";
  }
  text += "matrices:\n";
  for (size_t i = 0; i < doc["matrices"].size(); ++i) {
    const Json &m = doc["matrices"][i];
    text += "  " + pad(std::to_string(i), 6) + " " + pad(m["format"].get<std::string>(), 12) + " " +
            (m["count"] == 1 ? "" : m["count"].dump() + " of ") + (m["gates"] == 1 ? "" : m["gates"].dump() + " gates x ") +
            m["units"].dump() + " units x " + m["k"].dump() + "\n";
  }
  text += "nodes:\n";
  size_t left_of_loop = 0;
  for (const Json &node : doc["nodes"]) {
    left_of_loop = std::max(left_of_loop, nodes_of_loop(node));
    text += left_of_loop != 0 ? "  | " : "  ";
    left_of_loop -= left_of_loop != 0;
    text += pad(node["op"].get<std::string>() + " ", 12) + pad(node["name"].get<std::string>(), 24) + " " +
            list_text(doc, node["inputs"]) + " -> " + list_text(doc, node["outputs"]) + "  (" + attr_text(doc, node) + ")\n";
  }
  return text;
}

}  // namespace rnnp::compiler
