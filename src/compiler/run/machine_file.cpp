// machine_file.cpp -- Contract: machine_file.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/run/machine_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

constexpr const char *kMachineFormat = "rnnpack machine 1";
constexpr uint32_t kMostMachineThreads = 256;

nlohmann::ordered_json isa_names(uint32_t bits) {
  auto names = nlohmann::ordered_json::array();
  for (uint32_t bit = 0; bit < 31; ++bit)
    if (bits >> bit & 1) names.push_back(rnnp_isa_name(1u << bit));
  return names;
}

uint32_t isa_bit_named(const std::string &name) {
  for (uint32_t bit = 0; bit < 31; ++bit)
    if (name != "unknown" && name == rnnp_isa_name(1u << bit)) return 1u << bit;
  return 0;
}

class MachineReader {
 public:
  MachineReader(const nlohmann::json &document, std::string path) : document_(document), path_(std::move(path)) {}

  MachineFile read() const {
    if (!document_.is_object() || document_.value("format", nlohmann::json()) != kMachineFormat)
      refuse("format", std::string("is not '") + kMachineFormat + "': rnnpack tune -o NAME.json writes such files");
    const auto options = document_.find("options");
    if (options == document_.end() || !options->is_object()) refuse("options", "is no object");
    MachineFile file;
    file.cpu = document_.value("cpu", nlohmann::json("")).is_string() ? document_.value("cpu", "") : "";
    file.tuning.threads = number(*options, "threads", 1, kMostMachineThreads);
    file.tuning.chunk_steps = number(*options, "chunk_steps", 0, RNNP_MAX_CHUNK_STEPS);
    file.tuning.l2_bytes = number(*options, "l2_bytes", 0, UINT32_MAX);
    file.tuning.isa_allowed = isa(*options);
    const auto all = options->find("all_threads");
    if (all == options->end() || !all->is_boolean()) refuse("all_threads", "is neither true nor false");
    file.tuning.flags = all->get<bool>() ? RNNP_SESSION_ALL_THREADS : 0;
    return file;
  }

 private:
  [[noreturn]] void refuse(const std::string &member, const std::string &why) const {
    throw UsageError(quote(path_) + ": \"" + member + "\" " + why);
  }

  uint32_t number(const nlohmann::json &options, const char *name, uint32_t least, uint32_t most) const {
    const auto member = options.find(name);
    if (member == options.end() || !member->is_number_unsigned() || member->get<uint64_t>() < least ||
        member->get<uint64_t>() > most)
      refuse(name, "is no integer from " + std::to_string(least) + " to " + std::to_string(most));
    return member->get<uint32_t>();
  }

  uint32_t isa(const nlohmann::json &options) const {
    const auto names = options.find("isa_allowed");
    if (names == options.end() || !names->is_array()) refuse("isa_allowed", "is no list of names");
    uint32_t bits = 0;
    for (const nlohmann::json &name : *names) {
      const uint32_t bit = name.is_string() ? isa_bit_named(name.get<std::string>()) : 0;
      if (bit == 0) refuse("isa_allowed", "has " + name.dump() + ", which is no instruction set");
      bits |= bit;
    }
    return bits;
  }

  const nlohmann::json &document_;
  const std::string path_;
};

}  // namespace

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 10, "model name") == 0) return line.substr(line.find(':') + 2);
  return "a CPU without a name";
}

std::string machine_text(const Tuned &tuned, const TuneTask &task) {
  const Tuning &t = tuned.tuning;
  const nlohmann::ordered_json options = {{"threads", t.threads},
                                          {"all_threads", (t.flags & RNNP_SESSION_ALL_THREADS) != 0},
                                          {"chunk_steps", t.chunk_steps},
                                          {"isa_allowed", isa_names(t.isa_allowed)},
                                          {"l2_bytes", t.l2_bytes}};
  const nlohmann::ordered_json document = {{"format", kMachineFormat}, {"cpu", cpu_name()},    {"steps", task.steps},
                                           {"batch", task.batch},      {"ratio", tuned.ratio}, {"options", options}};
  return document.dump(1) + "\n";
}

MachineFile read_machine(const std::string &text, const std::string &path) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  return MachineReader(document, path).read();
}

}  // namespace rnnp::compiler
