// suite_support.h -- what the suite's programs in C and C++ share: files, cases, inputs and outputs of any model, and the kinds of
// cases that no session is needed for. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BINDINGS_C_SUITE_SUPPORT_H_
#define RNNPACK_BINDINGS_C_SUITE_SUPPORT_H_

#include <rnnpack/rnnpack.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compile_case.h"

namespace suite {

using Bytes = std::vector<char>;
using Floats = std::vector<float>;
using Case = std::map<std::string, std::string>;

inline std::string folder;
inline std::string problem;  // of the case that runs

inline Bytes read(const std::string &name) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  if (!file) problem = "cannot read " + name;
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

inline Floats floats(const std::string &name) {
  const Bytes bytes = read(name);
  Floats all(bytes.size() / sizeof(float));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(float));
  return all;
}

inline void expect(bool right, const std::string &what) {
  if (!right && problem.empty()) problem = what;
}

inline bool same(const Floats &a, const float *b) {
  return std::memcmp(a.data(), b, a.size() * sizeof(float)) == 0;
}

inline std::string line_of(const Bytes &labels, const Floats &out) {
  int found = 0, spoken = 0, alarms = 0, silent = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    spoken += labels[i] == 1;
    silent += labels[i] == 2;
    found += labels[i] == 1 && out[i] >= 0.5f;
    alarms += labels[i] == 2 && out[i] >= 0.5f;
  }
  char text[200];
  std::snprintf(text, sizeof text, "loud speech frames found %d of %d, speech said in the gaps %d of %d frames", found, spoken,
                alarms, silent);
  return text;
}

inline uint32_t number(const Case &c, const char *key) {
  return static_cast<uint32_t>(std::stol(c.at(key)));
}

// Inputs and outputs of any model.
struct Tensors {
  std::vector<std::vector<uint32_t>> data;
  std::vector<rnnp_const_buffer> in;
  std::vector<rnnp_buffer> out;

  Tensors(const rnnp_model &model, uint32_t steps, uint32_t batch, const std::string &spoil) {
    uint32_t state = 1;
    for (int side = 0; side < 2; ++side) {
      rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
      const auto describe = side == 0 ? rnnp_model_get_input : rnnp_model_get_output;
      for (uint32_t i = 0; describe(&model, i, &facts) == RNNP_OK; ++i) {
        const bool given = side == 1 || facts.role <= RNNP_ROLE_PER_RUN;
        const size_t rows = facts.role == RNNP_ROLE_SEQUENCE ? size_t{steps} * batch : batch;
        data.emplace_back(given ? rows * facts.row_elems : 0);
        if (side == 0 && given) fill(&data.back(), facts, &state, i == 0 ? spoil : "no");
        if (side == 0) in.push_back({given ? data.back().data() : nullptr, 0, 0});
        if (side == 1) out.push_back({data.back().data(), 0, 0});
      }
    }
  }

  static void fill(std::vector<uint32_t> *words, const rnnp_tensor_info &facts, uint32_t *state, const std::string &spoil) {
    for (uint32_t &word : *words) {
      *state = *state * 1664525u + 1013904223u;
      const float value = static_cast<float>(*state >> 16) / 32768.0f - 1.0f;
      if (facts.dtype == RNNP_DTYPE_I32) {
        word = (*state >> 16) % facts.limit;
      } else {
        std::memcpy(&word, &value, sizeof word);
      }
    }
    if (spoil == "nan") words->front() = 0x7fc00000u;
    if (spoil == "index") words->front() = facts.limit;
  }

  rnnp_status run(rnnp_session *session, uint32_t steps, uint32_t batch, uint32_t flags) {
    rnnp_io io = RNNP_IO_INIT;
    io.flags = flags;
    io.batch = batch;
    io.steps = steps;
    io.input_count = static_cast<uint32_t>(in.size());
    io.output_count = static_cast<uint32_t>(out.size());
    io.inputs = in.data();
    io.outputs = out.data();
    return rnnp_run_io(session, &io);
  }
};

inline void run_status(const Case &c) {
  const char *text = rnnp_status_string(static_cast<rnnp_status>(std::stol(c.at("code"))));
  expect(text[0] != 0 && std::string(text) != rnnp_status_string(static_cast<rnnp_status>(-1000)), "has no text");
}

inline void run_compile(const Case &c) {
  const Bytes onnx = read(c.at("onnx"));
  const char *const option = c.at("option").c_str();
  Compiled made;
  const rnnp_compile_status status = compile_here(onnx, &option, c.at("option") == "-" ? 0 : 1, &made);
  expect(status == std::stol(c.at("status")), "gives " + std::to_string(status) + ": " + made.why);
  expect(status == RNNP_COMPILED ? made.blob == read(c.at("blob")) : !made.why.empty(), "another blob, or no reason");
}

inline long resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return 0;
}

using Kinds = std::map<std::string, void (*)(const Case &)>;

// The cases of suite.txt, each by its kind. `absent`: why a case is not applicable, "" where it is.
inline int run_all(const Kinds &kinds, std::string (*absent)(const Case &)) {
  std::ifstream file(folder + "/suite.txt");
  std::printf("version %s\n", __VERSION__);
  int failures = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Case c;
    words >> c["kind"] >> c["name"];
    for (std::string word; words >> word;) c[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    const std::string why = absent(c);
    problem.clear();
    if (why.empty()) kinds.at(c["kind"])(c);
    const bool passed = problem.empty();
    std::printf("%s %s%s%s\n",
                !why.empty() ? "na"
                : passed     ? "ok"
                             : "FAILED",
                c["name"].c_str(), passed && why.empty() ? "" : ": ", why.empty() ? problem.c_str() : why.c_str());
    failures += !passed;
  }
  return failures != 0;
}

}  // namespace suite

#endif  // RNNPACK_BINDINGS_C_SUITE_SUPPORT_H_
