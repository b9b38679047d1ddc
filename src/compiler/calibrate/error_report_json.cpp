// error_report_json.cpp -- a report as JSON. Contract: error_report.h. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "compiler/calibrate/error_report.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

// What is infinite has no number in JSON: null.
Json json_of(const ErrorFigures &figures) {
  Json out = {{"sqnr_db", figures.sqnr()}, {"max", figures.worst}, {"rms", figures.rms()}};
  if (figures.one_sided != 0) out["not_finite_on_one_side"] = figures.one_sided;
  return out;
}

Json json_of(const MatrixReport &m) {
  Json out = {{"name", m.name}, {"type", m.type}, {"bytes", m.bytes}};
  if (m.quantised) out["x_scale"] = m.x_scale;
  if (m.clipped_share) out["x_clipped_share"] = *m.clipped_share;
  return out;
}

Json json_of(const LayerReport &layer) {
  Json out = {{"name", layer.name}, {"kind", layer.kind}, {"matrices", Json::array()}};
  for (const MatrixReport &m : layer.matrices) out["matrices"].push_back(json_of(m));
  if (layer.one_step_steps != 0) {
    out["one_step"] = json_of(layer.one_step);
    out["one_step"]["steps"] = layer.one_step_steps;
    out["one_step"]["worst_unit"] = *layer.worst_unit;
    out["one_step"]["worst_unit_rms"] = layer.worst_unit_rms;
  }
  out["free_running"] = json_of(layer.free_running);
  out["free_running"]["first_step_over_0.1"] = layer.first_beyond ? Json(*layer.first_beyond) : Json();
  return out;
}

}  // namespace

std::string report_json(const Report &report) {
  Json out = {{"data", report.data}, {"steps", report.steps}, {"bytes", report.bytes}, {"f32_bytes", report.f32_bytes}};
  out["outputs"] = Json::array();
  for (const auto &output : report.outputs) {
    Json one = {{"name", output.first}};
    one.update(json_of(output.second));
    out["outputs"].push_back(one);
  }
  out["layers"] = Json::array();
  for (const LayerReport &layer : report.layers) out["layers"].push_back(json_of(layer));
  if (!report.decisions.empty()) out["decisions"] = report.decisions;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rnnp::compiler
