// wire.cpp -- Contract: wire.h.
// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <cstdio>
#include <cstdlib>

namespace rnnp::onnx_fuzz {
namespace {

constexpr uint32_t kMostBytes = 1u << 28;

void read_bytes(void *to, size_t bytes) {
  if (bytes != 0 && std::fread(to, 1, bytes, stdin) != bytes) {
    std::fputs("onnx_fuzz_driver: the request ends early\n", stderr);
    std::exit(2);
  }
}

uint32_t read_word() {
  uint32_t word = 0;
  read_bytes(&word, sizeof word);
  if (word > kMostBytes) {
    std::fputs("onnx_fuzz_driver: no request of fuzz.py\n", stderr);
    std::exit(2);
  }
  return word;
}

std::string read_text() {
  std::string text(read_word(), '\0');
  read_bytes(&text[0], text.size());
  return text;
}

void write_bytes(const void *from, size_t bytes) {
  if (bytes != 0 && std::fwrite(from, 1, bytes, stdout) != bytes) std::exit(2);
}

void write_word(size_t word) {
  const uint32_t narrow = static_cast<uint32_t>(word);
  write_bytes(&narrow, sizeof narrow);
}

void write_text(const std::string &text) {
  write_word(text.size());
  write_bytes(text.data(), text.size());
}

}  // namespace

bool read_request(Request *request) {
  *request = {};
  if (std::fread(&request->seed, sizeof request->seed, 1, stdin) != 1) return false;
  request->walks = read_word();
  request->spoil = read_word();
  request->evaluate = read_word();
  request->portable = read_word();
  request->serial = read_word();
  request->steps = read_word();
  request->batch = read_word();
  for (uint32_t left = read_word(); left != 0; --left) {
    const std::string input = read_text();
    request->states.push_back({input, read_text()});
  }
  request->model.resize(read_word());
  read_bytes(request->model.data(), request->model.size());
  for (uint32_t left = read_word(); left != 0; --left) {
    Wired &array = request->inputs[read_text()];
    array.whole = read_word() != 0;
    array.shape.resize(read_word());
    size_t count = 1;
    for (int64_t &dim : array.shape) {
      dim = read_word();
      count *= static_cast<size_t>(dim);
    }
    array.data.resize(count);
    read_bytes(array.data.data(), count * sizeof(float));
  }
  return true;
}

void write_answer(const Answer &answer) {
  write_word(static_cast<uint32_t>(answer.verdict));
  write_text(answer.message);
  write_word(answer.causal ? 1 : 0);
  write_word(answer.outputs.size());
  for (const auto &output : answer.outputs) {
    write_text(output.first);
    write_word(output.second.shape.size());
    for (int64_t dim : output.second.shape) write_word(static_cast<size_t>(dim));
    write_bytes(output.second.data.data(), output.second.data.size() * sizeof(float));
  }
  write_word(answer.evaluated.size());
  for (const auto &output : answer.evaluated) {
    write_text(output.first);
    write_word(output.second.size());
    write_bytes(output.second.data(), output.second.size() * sizeof(double));
  }
  std::fflush(stdout);
}

}  // namespace rnnp::onnx_fuzz
