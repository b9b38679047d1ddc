// plan_text.cpp -- Contract: plan_text.h. The plan is the library's own function; only the prediction is made here:
// the larger of bytes over the bandwidth of the level they fit in and multiply-adds over the peak (the roofline).
// SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/plan_text.h"

#include <algorithm>
#include <cstdio>

#include "compiler/files/files.h"
#include "ops/recurrent_plan.h"
#include "pack/pack.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

struct Prediction {
  double input_us, step_us;  // per step of the sequence
  const char *level;
};

double level_gbs(const PlanMachine &m, double bytes, const char **level) {
  if (bytes <= m.l1_kib * 1024.0 / 2) return *level = "L1", m.l1_gbs;
  if (bytes <= m.l2_kib * 1024.0) return *level = "L2", m.l2_gbs;
  if (bytes <= m.l3_kib * 1024.0) return *level = "L3", m.l3_gbs;
  return *level = "DRAM", m.dram_gbs;
}

Prediction predict(const RecurrentPlan &p, const RecurrentShape &s, const PlanMachine &m) {
  Prediction out = {};
  const double cores = p.teams == 2 ? p.team_threads : std::max(1u, p.team_threads);
  const double runs = p.teams == 2 ? 1 : s.directions;  // directions one after the other
  const double columns = double(p.gates) * s.hidden_size;
  const double r_bytes = double(p.recurrent_bytes) / cores, w_bytes = 4.0 * columns * s.input_size / cores;
  const double flops = 2e-3 / m.gflops * m.batch / cores;  // us per multiply-add
  const char *unused = nullptr;
  const double w_us = w_bytes / level_gbs(m, w_bytes, &unused) / 1e3 / p.chunk_steps;
  out.input_us = runs * std::max(flops * columns * s.input_size, w_us);
  out.step_us = runs * std::max(flops * columns * s.hidden_size, r_bytes / level_gbs(m, r_bytes, &out.level) / 1e3);
  return out;
}

Cell cell_of(const std::string &name) {
  if (name == "lstm") return Cell::kLstm;
  if (name == "lstm_norm") return Cell::kLstmNorm;
  if (name == "gru") return Cell::kGru;
  return name == "rnn" ? Cell::kRnn : Cell::kGruLinear;
}

std::string owners(uint32_t tiles, uint32_t threads) {
  std::string text;
  for (uint32_t i = 0, begin = 0; i < threads; ++i) {
    const uint32_t count = tiles / threads + (i < tiles % threads);
    text += (i ? ", " : "") + std::string("thread ") + std::to_string(i) + ": " + std::to_string(begin) + " to " +
            std::to_string(begin + count);
    begin += count;
  }
  return text;
}

// Of a layer's matrix "w" or "r"; its id is 0 where the blob names none.
PanelFormat format_of(const Json &doc, const Json &node, const char *matrix) {
  const uint32_t i = node["attr"]["directions"][0][matrix];
  return i < doc["matrices"].size() ? find_panel_format(panel_format_id(doc["matrices"][i]["format"])) : PanelFormat{};
}

// The plan divides by these numbers: a blob may open and say anything of them.
bool can_plan(const Json &doc, const Json &node) {
  if (node["op"] != "recurrent" || !node["attr"].contains("cell")) return false;
  const Json &attr = node["attr"];
  const auto within = [&](const char *name, uint32_t most) {
    return attr[name].get<uint32_t>() >= 1 && attr[name].get<uint32_t>() <= most;
  };
  return attr["cell"].get<std::string>().rfind("unknown", 0) != 0 && within("input_size", 1u << 20) &&
         within("hidden_size", 1u << 20) && !attr["directions"].empty() && format_of(doc, node, "w").nr != 0 &&
         format_of(doc, node, "r").nr != 0;
}

std::string layer_text(const Json &doc, const Json &node, const PlanMachine &m, uint32_t threads, double *total_us) {
  const Json &attr = node["attr"];
  const RecurrentShape shape = {cell_of(attr["cell"]),     attr["input_size"],        attr["hidden_size"],
                                format_of(doc, node, "w"), format_of(doc, node, "r"), uint32_t(attr["directions"].size())};
  const RecurrentPlan p = plan_recurrent(shape, {m.batch, m.steps, threads, m.l1_kib * 1024, m.l2_kib * 1024, m.l3_kib * 1024, 0});
  const Prediction us = predict(p, shape, m);
  *total_us += us.input_us + us.step_us;
  char line[512];
  std::snprintf(line, sizeof line,
                "  %s: %u tiles of %u units x %u gates, %s%u steps per input GEMM, %s, scratch %zu bytes\n"
                "    R %zu bytes, a thread's share from %s; predicted %.2f us per step: input %.2f, recurrence %.2f\n",
                node["name"].get<std::string>().c_str(), p.tiles, shape.w.nr, p.gates,
                p.teams == 2 ? "directions side by side, " : "", p.chunk_steps,
                p.serpentine ? "serpentine sweeps" : "forward sweeps", p.scratch_bytes, p.recurrent_bytes, us.level,
                us.input_us + us.step_us, us.input_us, us.step_us);
  return std::string(line) + "    owners of tiles: " + owners(p.tiles, std::max(1u, p.team_threads)) +
         (p.teams == 2 ? " (each direction)\n" : "\n");
}

}  // namespace

std::string plan_text(const Json &doc, const PlanMachine &m) {
  uint64_t macs = 0;
  for (const Json &node : doc["nodes"]) {
    if (!can_plan(doc, node)) continue;
    const Json &attr = node["attr"];
    macs = std::max(macs, macs_per_sync(cell_of(attr["cell"]), attr["hidden_size"], uint32_t(attr["directions"].size())));
  }
  const uint32_t threads = choose_threads(macs, m.batch, m.threads);
  std::string text = "plan for batch " + std::to_string(m.batch) + ", " + std::to_string(m.steps) + " steps, " +
                     std::to_string(threads) + " of " + std::to_string(m.threads) + " threads, L2 " + std::to_string(m.l2_kib) +
                     " KiB\n";
  double total_us = 0;
  for (const Json &node : doc["nodes"]) {
    if (can_plan(doc, node))
      text += layer_text(doc, node, m, threads, &total_us);
    else if (node["op"] == "recurrent")
      text += "  " + node["name"].get<std::string>() + ": its attributes are none that can be planned for\n";
  }
  char line[96];
  std::snprintf(line, sizeof line, "  all recurrent layers: predicted %.2f us per step\n", total_us);
  return text + line;
}

std::string wavefront_text(const void *blob, size_t bytes, const PlanMachine &m) {
  rnnp_executor executor = RNNP_EXECUTOR_INIT;
  executor.threads = m.threads;
  executor.parallel = [](void *, void (*)(void *, uint32_t), void *) {};  // nothing is run
  executor.wait = [](void *, uint32_t) {};
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.max_batch = m.batch;
  options.max_steps = m.steps;
  options.l1d_bytes = m.l1_kib * 1024;
  options.l2_bytes = m.l2_kib * 1024;
  options.l3_bytes = m.l3_kib * 1024;
  options.executor = &executor;
  rnnp_model model;
  rnnp_memory memory = RNNP_MEMORY_INIT;
  if (rnnp_model_open(&model, blob, bytes, 0) != RNNP_OK || rnnp_session_memory(&model, &options, &memory) != RNNP_OK) return "";
  const AlignedBytes storage(memory.session_bytes, memory.alignment);
  rnnp_session *session = nullptr;
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  if (rnnp_session_init(&session, &model, &options, storage.data(), storage.size()) != RNNP_OK ||
      rnnp_session_get_info(session, &facts) != RNNP_OK || facts.wavefront_stages == 0) {
    return "  no wavefront over layers\n";
  }
  return "  wavefront over layers: " + std::to_string(facts.wavefront_stages) + " threads, in calls of " +
         std::to_string(facts.wavefront_steps) + " steps or more\n";
}

}  // namespace rnnp::compiler
