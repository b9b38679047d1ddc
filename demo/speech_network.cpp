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
  check(model_.open(blob_.data(), blob_bytes_, RNNP_OPEN_CHECK_WEIGHTS), "open");
  bind(inputs, outputs);
  rnnpack::Options options;
  options.chunk_steps = 1;  // one block at a time
  check(session_.create(model_, options), "create");
  rnnp_status status = RNNP_OK;
  session_bytes_ = rnnpack::Session::memory(model_, options, status).session_bytes;
}

void Network::read_blob() {
  std::ifstream file(path_, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) throw std::runtime_error(path_ + ": cannot be read");
  check(blob_.allocate(bytes.size(), RNNP_BLOB_ALIGN), "allocate");
  blob_bytes_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), static_cast<char *>(blob_.data()));
}

uint32_t Network::find(const Port &port, Find by_name, Describe describe) const {
  uint32_t index = 0;
  rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
  if ((model_.*by_name)(port.name, index) == RNNP_OK && (model_.*describe)(index, facts) == RNNP_OK &&
      facts.role == RNNP_ROLE_SEQUENCE && facts.row_elems == port.elems)
    return index;
  throw std::runtime_error(path_ + ": no sequence '" + port.name + "' of " + std::to_string(port.elems) + " floats a step");
}

void Network::bind(std::initializer_list<Port> inputs, std::initializer_list<Port> outputs) {
  using rnnpack::Model;
  const rnnp_model_info facts = model_.info();
  if (facts.input_count != inputs.size()) throw std::runtime_error(path_ + ": other inputs than were named");
  for (const Port &port : inputs) input_at_.push_back(find(port, &Model::find_input, &Model::input));
  for (const Port &port : outputs) output_at_.push_back(find(port, &Model::find_output, &Model::output));
  inputs_.resize(facts.input_count);
  outputs_.resize(facts.output_count);
}

void Network::step(std::initializer_list<const float *> x, std::initializer_list<float *> y) {
  if (x.size() != input_at_.size() || y.size() != output_at_.size()) throw std::logic_error(path_ + ": a step of other sequences");
  for (size_t i = 0; i < input_at_.size(); ++i) inputs_[input_at_[i]].data = x.begin()[i];
  for (size_t i = 0; i < output_at_.size(); ++i) outputs_[output_at_[i]].data = y.begin()[i];
  rnnp_io io = RNNP_IO_INIT;
  io.steps = io.batch = 1;
  io.input_count = static_cast<uint32_t>(inputs_.size());
  io.output_count = static_cast<uint32_t>(outputs_.size());
  io.inputs = inputs_.data();
  io.outputs = outputs_.data();
  const auto start = std::chrono::steady_clock::now();
  check(session_.run_io(io), "run");
  step_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void Network::reset() {
  check(session_.reset(), "reset");
}

const char *Network::kernels() const {
  return rnnp_isa_name(session_.info().isa);
}

}  // namespace demo
