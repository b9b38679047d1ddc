// cmd_profile.cpp -- `rnnpack profile`: how long each node takes on this machine, as a table or as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "compiler/cli/command.h"
#include "compiler/emit/refusal_text.h"
#include "compiler/files/files.h"
#include "compiler/inspect/blob_view.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/profile.h"

namespace rnnp::compiler {
namespace {

struct ProfileArguments {
  std::string blob, trace;
  ProfileTask task;
  bool json = false;
};

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

void print_table(const nlohmann::ordered_json &document) {
  size_t width = 4;
  for (const auto &node : document["nodes"]) width = std::max(width, node["name"].get_ref<const std::string &>().size());
  const int columns = static_cast<int>(width);
  std::printf("%-*s  %-12s %12s %7s\n", columns, "node", "operator", "us a call", "share");
  for (const auto &node : document["nodes"])
    std::printf("%-*s  %-12s %12.3f %6.1f%%\n", columns, node["name"].get_ref<const std::string &>().c_str(),
                node["op"].get_ref<const std::string &>().c_str(), node["us"].get<double>(), node["share"].get<double>() * 100);
  const double us = document["us"].get<double>(), steps = document["steps"].get<double>();
  std::printf("%.0f steps of %u rows on one thread: %.3f us a call, %.3f us a step\n", steps, document["batch"].get<uint32_t>(), us,
              us / steps);
}

int run(ProfileArguments options) {
  const std::unique_ptr<OpenedBlob> blob = open_blob(options.blob);
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&blob->model, &facts), "rnnp_model_get_info");
  constexpr size_t kUsualSteps = 100;
  if (options.task.steps == 0) options.task.steps = facts.stream_steps != 0 ? facts.stream_steps : kUsualSteps;
  if (facts.fixed_batch != 0) options.task.batch = facts.fixed_batch;
  const Profile found = profile(blob->model, options.task);
  const nlohmann::ordered_json document = document_of(*blob, options.task, found);
  if (!options.trace.empty()) {
    const std::string text =
        trace_of(document["nodes"], found.spans).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    write_file(options.trace, text.data(), text.size());
  }
  if (options.json) {
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  } else {
    print_table(document);
  }
  return kExitOk;
}

}  // namespace

void add_profile(CLI::App *app, Action *action) {
  auto options = std::make_shared<ProfileArguments>();
  CLI::App *command = app->add_subcommand("profile", "Time each node of a blob on this machine, on one thread");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--steps", options->task.steps, "of one call; left out: those it was compiled for (--stream), or 100")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24));
  command->add_option("--batch", options->task.batch, "rows")->check(CLI::Range(1u, 1u << 16))->capture_default_str();
  command->add_option("--seconds", options->task.seconds, "to spend")->check(CLI::Range(0.0, 3600.0))->capture_default_str();
  command->add_flag("--json", options->json, "as JSON");
  command->add_option("--trace", options->trace, "file for Perfetto or Chrome: when each node of ten calls ran, as trace events");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
