// speech_network.cpp -- see speech_network.h.
// SPDX-License-Identifier: Apache-2.0
#include "speech_network.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace demo {

void Network::check(rnnp_status status, const char *what) const {
  if (status != RNNP_OK) throw std::runtime_error(path_ + ": " + what + ": " + rnnp_status_string(status));
}

Network::Network(const std::string &path, std::initializer_list<Port> inputs, std::initializer_list<Port> outputs) : path_(path) {
  read_blob();
  check(rnnp_model_open(&model_, blob_.data(), blob_bytes_, RNNP_OPEN_CHECK_WEIGHTS), "open");
  bind(inputs, outputs);
  open_session();
}

void Network::read_blob() {
  std::ifstream file(path_, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) throw std::runtime_error(path_ + ": cannot be read");
  blob_.resize((bytes.size() + sizeof(Line) - 1) / sizeof(Line));
  blob_bytes_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), blob_[0].bytes);
}

size_t Network::find(const Port &port, Describe describe, uint32_t count) const {
  for (uint32_t i = 0; i < count; ++i) {
    rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
    check(describe(&model_, i, &facts), "describe");
    if (std::string(facts.name) == port.name && facts.role == RNNP_ROLE_SEQUENCE && facts.row_elems == port.elems) return i;
  }
  throw std::runtime_error(path_ + ": no sequence '" + port.name + "' of " + std::to_string(port.elems) + " floats a step");
}

void Network::bind(std::initializer_list<Port> inputs, std::initializer_list<Port> outputs) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&model_, &facts), "info");
  if (facts.input_count != inputs.size()) throw std::runtime_error(path_ + ": other inputs than were named");
  for (const Port &port : inputs) input_at_.push_back(find(port, rnnp_model_get_input, facts.input_count));
  for (const Port &port : outputs) output_at_.push_back(find(port, rnnp_model_get_output, facts.output_count));
  inputs_.resize(facts.input_count);
  outputs_.resize(facts.output_count);
}

void Network::open_session() {
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.chunk_steps = 1;  // one block at a time
  rnnp_memory memory = RNNP_MEMORY_INIT;
  check(rnnp_session_memory(&model_, &options, &memory), "memory");
  session_bytes_ = memory.session_bytes;
  memory_.resize((session_bytes_ + sizeof(Line) - 1) / sizeof(Line));
  check(rnnp_session_init(&session_, &model_, &options, memory_.data(), session_bytes_), "init");
}

void Network::step(std::initializer_list<const float *> x, std::initializer_list<float *> y) {
  if (x.size() != input_at_.size() || y.size() != output_at_.size()) throw std::logic_error(path_ + ": a step of other sequences");
  for (size_t i = 0; i < input_at_.size(); ++i) inputs_[input_at_[i]].data = const_cast<float *>(x.begin()[i]);
  for (size_t i = 0; i < output_at_.size(); ++i) outputs_[output_at_[i]].data = y.begin()[i];
  rnnp_io io = RNNP_IO_INIT;
  io.steps = io.batch = 1;
  io.input_count = static_cast<uint32_t>(inputs_.size());
  io.output_count = static_cast<uint32_t>(outputs_.size());
  io.inputs = inputs_.data();
  io.outputs = outputs_.data();
  const auto start = std::chrono::steady_clock::now();
  check(rnnp_run_io(session_, &io), "run");
  step_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void Network::reset() {
  check(rnnp_state_reset(session_, RNNP_ALL_ROWS), "reset");
}

const char *Network::kernels() const {
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  check(rnnp_session_get_info(session_, &facts), "session info");
  if (facts.isa & RNNP_ISA_AVX512) return "AVX-512";
  if (facts.isa & RNNP_ISA_AVX2) return "AVX2";
  if (facts.isa & RNNP_ISA_NEON) return "NEON";
  if (facts.isa & RNNP_ISA_RVV) return "RVV";
  return "reference";
}

}  // namespace demo
