// profile_blob.cpp -- a profile as a table, as JSON and as a trace. Contract: run.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "compiler/files/files.h"
#include "compiler/inspect/blob_view.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/profile.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {
namespace {

nlohmann::ordered_json document_of(const OpenedBlob &blob, const ProfileTask &task, const Profile &found) {
  double sum = 0;
  for (const double us : found.node_us) sum += us;
  nlohmann::ordered_json document = {{"steps", task.steps}, {"batch", task.batch}, {"us", found.call_us}};
  document["nodes"] = nlohmann::ordered_json::array();
  const nlohmann::ordered_json nodes = blob_document(blob.bytes)["nodes"];
  for (size_t i = 0; i < found.node_us.size(); ++i) {
    const double us = found.node_us[i];
    document["nodes"].push_back(
        {{"name", nodes[i]["name"]}, {"op", nodes[i]["op"]}, {"us", us}, {"share", sum > 0 ? us / sum : 0.0}});
  }
  return document;
}

// As Chrome's trace events: https://ui.perfetto.dev and chrome://tracing open it.
nlohmann::ordered_json trace_of(const nlohmann::ordered_json &nodes, const std::vector<NodeSpan> &spans) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const NodeSpan &span : spans) {
    const auto &node = nodes[span.node];
    events.push_back({{"name", node["name"]},
                      {"cat", node["op"]},
                      {"ph", "X"},
                      {"ts", span.begin_us},
                      {"dur", span.us},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"args", {{"node", span.node}, {"op", node["op"]}, {"steps", span.steps}}}});
  }
  return {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
}

std::string table_of(const nlohmann::ordered_json &document) {
  size_t width = 4;
  for (const auto &node : document["nodes"]) width = std::max(width, node["name"].get_ref<const std::string &>().size());
  const auto padded = [width](const std::string &name) { return name + std::string(width - name.size(), ' '); };
  char columns[128];
  std::snprintf(columns, sizeof columns, "  %-12s %12s %7s\n", "operator", "us a call", "share");
  std::string text = padded("node") + columns;
  for (const auto &node : document["nodes"]) {
    std::snprintf(columns, sizeof columns, "  %-12s %12.3f %6.1f%%\n", node["op"].get_ref<const std::string &>().c_str(),
                  node["us"].get<double>(), node["share"].get<double>() * 100);
    text += padded(node["name"].get_ref<const std::string &>()) + columns;
  }
  const double us = document["us"].get<double>(), steps = document["steps"].get<double>();
  std::snprintf(columns, sizeof columns, "%.0f steps of %u rows on one thread: %.3f us a call, %.3f us a step\n", steps,
                document["batch"].get<uint32_t>(), us, us / steps);
  return text + columns;
}

}  // namespace

std::string profile_blob(const ProfileRequest &options) {
  if (!options.trace.empty()) check_distinct({options.blob}, {options.trace});
  ProfileTask task{options.steps, options.batch, options.seconds};
  const std::unique_ptr<OpenedBlob> blob = open_blob(options.blob);
  fit_call(blob->model, &task.steps, &task.batch);
  const Profile found = profile(blob->model, task);
  const nlohmann::ordered_json document = document_of(*blob, task, found);
  if (!options.trace.empty()) {
    const std::string text =
        trace_of(document["nodes"], found.spans).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    write_file(options.trace, text.data(), text.size());
  }
  return options.json ? document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n" : table_of(document);
}

}  // namespace rnnp::compiler
