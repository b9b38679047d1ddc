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

void Network::check_row(const rnnp_tensor_facts &facts, size_t elems) const {
  if (facts.role == RNNP_ROLE_SEQUENCE && facts.row_elems == elems) return;
  throw std::runtime_error(path_ + ": '" + facts.name + "' is not a sequence of " + std::to_string(elems) + " floats a step");
}

Network::Network(const std::string &path, size_t inputs, size_t outputs) : path_(path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) throw std::runtime_error(path + ": cannot be read");
  blob_.resize((bytes.size() + sizeof(Line) - 1) / sizeof(Line));
  blob_bytes_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), blob_[0].bytes);
  check(rnnp_model_open(&model_, blob_.data(), blob_bytes_, RNNP_OPEN_CHECK_WEIGHTS), "open");

  rnnp_model_facts facts = {};
  facts.struct_bytes = sizeof facts;
  check(rnnp_model_info(&model_, &facts), "info");
  if (facts.input_count != 1 || facts.output_count != 1) throw std::runtime_error(path + ": not of one input and one output");
  rnnp_tensor_facts in = {}, out = {};
  in.struct_bytes = out.struct_bytes = sizeof in;
  check(rnnp_model_input(&model_, 0, &in), "input");
  check(rnnp_model_output(&model_, 0, &out), "output");
  check_row(in, inputs);
  check_row(out, outputs);

  rnnp_session_options options;
  rnnp_session_options_init(&options);
  options.chunk_steps = 1;  // one block at a time
  rnnp_memory memory = {};
  check(rnnp_session_memory(&model_, &options, &memory), "memory");
  session_bytes_ = memory.session_bytes;
  memory_.resize((session_bytes_ + sizeof(Line) - 1) / sizeof(Line));
  check(rnnp_session_init(&session_, &model_, &options, memory_.data(), session_bytes_), "init");
}

void Network::step(const float *x, float *y) {
  const auto start = std::chrono::steady_clock::now();
  check(rnnp_step(session_, x, y), "step");
  step_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void Network::reset() {
  check(rnnp_state_reset(session_, RNNP_ALL_ROWS), "reset");
}

const char *Network::kernels() const {
  rnnp_session_facts facts = {};
  facts.struct_bytes = sizeof facts;
  check(rnnp_session_info(session_, &facts), "session info");
  if (facts.isa & RNNP_ISA_AVX512) return "AVX-512";
  if (facts.isa & RNNP_ISA_AVX2) return "AVX2";
  if (facts.isa & RNNP_ISA_NEON) return "NEON";
  if (facts.isa & RNNP_ISA_RVV) return "RVV";
  return "reference";
}

}  // namespace demo
