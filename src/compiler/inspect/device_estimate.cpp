// device_estimate.cpp -- Contract: device_estimate.h. firmware/count/fit_device_costs.py makes the table from what QEMU counts, and
// sums the same work as here. SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/device_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compiler/emit/emit_c.h"
#include "compiler/emit/narrow_session.h"
#include "compiler/inspect/inspect.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

enum class DeviceId {
#define RNNPACK_DEVICE(id, name, stack, cycles) id,
#include "compiler/inspect/device_costs.inc"
};
enum class StoredAs { f32, int8 };

struct Device {
  DeviceId id;
  const char *name;
  uint32_t stack_bytes;
  double cycles_per_instruction;
};
constexpr Device kDevices[] = {
#define RNNPACK_DEVICE(id, name, stack, cycles) {DeviceId::id, name, stack, cycles},
#include "compiler/inspect/device_costs.inc"
};

// Instructions: of a step, a dense node, its multiply-accumulates, outputs, inputs and activations (Relu, Sigmoid, Tanh); of a
// recurrent layer, its multiply-accumulates, inputs and units. odd: of a product whose k is no multiple of 4, of outputs of such a
// one, and of outputs of one whose k is no multiple of 8.
struct DeviceWork {
  DeviceId device;
  StoredAs weights;
  double step, dense, dense_mac, dense_output, dense_k, relu, sigmoid, tanh, layer, layer_mac, layer_k, odd4, odd4_output,
      odd8_output, unit[4];
};
constexpr DeviceWork kDeviceWork[] = {
#define RNNPACK_DEVICE_WORK(device, weights, step, dense, mac, output, k, relu, sigmoid, tanh, layer, layer_mac, layer_k, odd4, \
                            odd4_output, odd8_output, ...)                                                                      \
  {DeviceId::device, StoredAs::weights, step, dense,       mac,         output,       k, relu, sigmoid, tanh, layer,            \
   layer_mac,        layer_k,           odd4, odd4_output, odd8_output, {__VA_ARGS__}},
#include "compiler/inspect/device_costs.inc"
};

// Bytes of code and constants.
struct DeviceCode {
  DeviceId device;
  StoredAs weights;
  double runtime, dense, layer, cell[4], act;
};
constexpr DeviceCode kDeviceCode[] = {
#define RNNPACK_DEVICE_CODE(device, weights, runtime, dense, layer, lstm, gru_linear, gru, rnn, act) \
  {DeviceId::device, StoredAs::weights, runtime, dense, layer, {lstm, gru_linear, gru, rnn}, act},
#include "compiler/inspect/device_costs.inc"
};

const Device &device_named(const std::string &name) {
  for (const Device &d : kDevices) {
    if (name == d.name) return d;
  }
  throw UsageError("unknown device " + quote(name) + "; accepted: " + device_names());
}

template <class Row>
const Row &table_row(const Row (&rows)[2 * std::size(kDevices)], DeviceId device, StoredAs weights) {
  for (const Row &row : rows) {
    if (row.device == device && row.weights == weights) return row;
  }
  throw std::logic_error("device_costs.inc lacks a row");
}

// What one node adds to the sums.
struct Sums {
  double instructions = 0, step = 0;
  std::set<std::pair<StoredAs, std::string>> parts;  // of the code
  std::vector<std::string> not_counted;
};

constexpr double padded(double units) {
  const uint64_t quads = (static_cast<uint64_t>(units) + 3) / 4;
  return static_cast<double>(4 * quads);
}

// False: another type, sparse, or integer-only.
bool weight_kind(const Json &doc, const Json &matrix, StoredAs *kind) {
  if (!matrix.is_number_unsigned() || matrix.get<size_t>() >= doc["matrices"].size()) return false;
  const std::string format = doc["matrices"][matrix.get<size_t>()]["format"];
  if (!doc["matrices"][matrix.get<size_t>()]["index"].is_null() || format.find("q15") != std::string::npos) return false;
  *kind = format.compare(0, 4, "f32_") == 0 ? StoredAs::f32 : StoredAs::int8;
  return *kind == StoredAs::f32 || format.compare(0, 3, "i8_") == 0;
}

double odd_product(const DeviceWork &w, uint32_t k, double outputs) {
  return (k % 4 != 0 ? w.odd4 + w.odd4_output * outputs : 0) + (k % 8 != 0 ? w.odd8_output * outputs : 0);
}

bool add_dense(const Json &doc, const Json &attr, DeviceId device, Sums *sums) {
  StoredAs kind;
  if (!weight_kind(doc, attr["matrix"], &kind) || attr["groups"] != 1) return false;
  const DeviceWork &w = table_row(kDeviceWork, device, kind);
  const std::string act = attr["activation"]["name"];
  const double k = attr["input_size"], n = attr["output_size"];
  const double each = act == "Relu" ? w.relu : act == "Sigmoid" ? w.sigmoid : act == "Tanh" ? w.tanh : 0;
  if (each == 0 && act != "Identity") return false;
  sums->instructions += w.dense + w.dense_mac * k * padded(n) + w.dense_output * padded(n) + w.dense_k * k + each * n +
                        odd_product(w, attr["input_size"], padded(n));
  sums->step = std::max(sums->step, w.step);
  sums->parts.insert({kind, "dense"});
  if (act != "Identity") sums->parts.insert({kind, "act"});
  return true;
}

// In the order of the table; 4: none of it.
size_t cell_index(const std::string &name) {
  constexpr const char *kCells[] = {"lstm", "gru_linear", "gru", "rnn"};
  return static_cast<size_t>(std::find(std::begin(kCells), std::end(kCells), name) - std::begin(kCells));
}

// Cells of the usual activations alone: others have kernels of their own.
bool add_layer(const Json &doc, const Json &attr, DeviceId device, Sums *sums) {
  constexpr double kGates[] = {4, 3, 3, 1};
  const size_t cell = cell_index(attr["cell"]);
  if (cell == 4 || attr["clip"] != 0.0 || attr["input_forget"] == true) return false;
  Sums more = *sums;
  for (const Json &direction : attr["directions"]) {
    StoredAs kind, recurrent;
    if (!weight_kind(doc, direction["w"], &kind) || !weight_kind(doc, direction["r"], &recurrent) || kind != recurrent)
      return false;
    if (!direction["peephole"].is_null()) return false;
    for (const Json &act : direction["activations"]) {
      if (act["name"] != "Sigmoid" && act["name"] != "Tanh") return false;
    }
    const DeviceWork &w = table_row(kDeviceWork, device, kind);
    const double k = double(attr["input_size"]) + double(attr["hidden_size"]), units = padded(attr["hidden_size"]);
    more.instructions += w.layer + w.layer_mac * kGates[cell] * units * k + w.layer_k * k + w.unit[cell] * units +
                         odd_product(w, attr["input_size"], kGates[cell] * units) +
                         odd_product(w, attr["hidden_size"], kGates[cell] * units);
    more.step = std::max(more.step, w.step);
    more.parts.insert({kind, "layer"});
    more.parts.insert({kind, attr["cell"]});
  }
  *sums = more;
  return true;
}

double library_bytes(const Sums &sums, DeviceId device) {
  double bytes = 0, runtime = 0;
  for (const auto &part : sums.parts) {
    const DeviceCode &c = table_row(kDeviceCode, device, part.first);
    runtime = std::max(runtime, c.runtime);
    bytes += part.second == "dense"   ? c.dense
             : part.second == "layer" ? c.layer
             : part.second == "act"   ? c.act
                                      : c.cell[cell_index(part.second)];
  }
  return bytes + (runtime != 0 ? runtime : table_row(kDeviceCode, device, StoredAs::f32).runtime);
}

size_t firmware_session_bytes(const AlignedBytes &blob) {
  rnnp_model model;
  if (rnnp_model_open(&model, blob.data(), blob.size(), 0) != RNNP_OK) throw ModelError("the library does not open this blob");
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  if (rnnp_model_get_info(&model, &facts) != RNNP_OK) throw ModelError("the library does not describe this blob");
  CSourceOptions firmware;
  firmware.chunk_steps = facts.stream_steps != 0 ? facts.stream_steps : 1;
  return narrow_session_bytes(model, emitted_session_options(facts, firmware), true);
}

}  // namespace

std::string device_names() {
  std::string names;
  for (const Device &d : kDevices) names += std::string(names.empty() ? "" : ", ") + d.name;
  return names;
}

Json device_estimate(const Json &document, const AlignedBytes &blob, const std::string &name, double mhz) {
  const Device &device = device_named(name);
  Sums sums;
  for (const Json &node : document["nodes"]) {
    const bool counted = (node["op"] == "dense" && add_dense(document, node["attr"], device.id, &sums)) ||
                         (node["op"] == "recurrent" && add_layer(document, node["attr"], device.id, &sums));
    if (!counted) sums.not_counted.push_back(node["op"].get<std::string>() + " " + node["name"].get<std::string>());
  }
  const double instructions = std::round(sums.instructions + sums.step),
               cycles = std::round(instructions * device.cycles_per_instruction);
  const double library = std::round(library_bytes(sums, device.id));
  Json out = {{"name", name},
              {"flash_bytes", double(blob.size()) + library},
              {"library_bytes", library},
              {"session_bytes", firmware_session_bytes(blob)},
              {"model_handle_bytes", sizeof(rnnp_model)},
              {"stack_bytes", device.stack_bytes},
              {"instructions", instructions},
              {"cycles", cycles}};
  for (const char *key : {"flash_bytes", "library_bytes", "instructions", "cycles"}) out[key] = uint64_t(out[key].get<double>());
  if (mhz != 0) out["us"] = std::round(cycles / mhz * 10) / 10;
  out["not_counted"] = sums.not_counted;
  return out;
}

std::string device_text(const Json &e) {
  const auto number = [&](const char *key) { return std::to_string(e[key].get<uint64_t>()); };
  const std::string least = e["not_counted"].empty() ? "" : "at least ";
  std::string text = "on " + e["name"].get<std::string>() + "\n  flash " + least + number("flash_bytes") + " bytes, " +
                     number("library_bytes") + " of them the library\n  RAM: session " + number("session_bytes") +
                     " bytes, model handle " + number("model_handle_bytes") + ", stack " + number("stack_bytes") +
                     "\n  a step: " + least + number("instructions") + " instructions, some " + number("cycles") +
                     " cycles where flash has no wait states";
  if (e.contains("us")) {
    char us[32];
    std::snprintf(us, sizeof us, "%.1f", e["us"].get<double>());
    text += std::string(", ") + us + " us";
  }
  text += "\n";
  for (const Json &node : e["not_counted"])
    text += "  not in the table, so neither its code nor its work is counted: " + node.get<std::string>() + "\n";
  return text;
}

}  // namespace rnnp::compiler
