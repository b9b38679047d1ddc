// golden_test.cpp -- blobs that earlier versions wrote open, run, and compute what they did then: the same bits by the reference
// kernels, within the deviation of list.txt by this CPU's. golden_test FOLDER [--write]: --write pins NAME.out.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rnnpack/rnnpack.hpp"

namespace {

constexpr uint32_t kSteps = 5, kBatch = 2;

using Bytes = std::vector<char>;

Bytes read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The inputs: of any input the same numbers in every version of this program.
struct Call {
  std::vector<std::vector<uint32_t>> inputs, outputs;
  std::vector<rnnp_const_buffer> in;
  std::vector<rnnp_buffer> out;

  explicit Call(const rnnpack::Model &model, uint32_t batch) {
    uint32_t state = 1;
    rnnp_tensor_info facts;
    for (uint32_t i = 0; model.input(i, facts) == RNNP_OK; ++i) {
      const bool required = facts.role == RNNP_ROLE_SEQUENCE || facts.role == RNNP_ROLE_PER_RUN;
      inputs.emplace_back(required ? rows(facts, batch) : 0);
      for (uint32_t &word : inputs.back()) {
        state = state * 1664525u + 1013904223u;
        const float value = static_cast<float>(state >> 16) / 32768.0f - 1.0f;
        if (facts.dtype == RNNP_DTYPE_I32)
          word = (state >> 16) % facts.limit;
        else
          std::memcpy(&word, &value, sizeof word);
      }
      in.push_back({required ? inputs.back().data() : nullptr, 0, 0});
    }
    for (uint32_t i = 0; model.output(i, facts) == RNNP_OK; ++i) {
      outputs.emplace_back(rows(facts, batch));
      out.push_back({outputs.back().data(), 0, 0});
    }
  }

  static size_t rows(const rnnp_tensor_info &facts, uint32_t batch) {
    return size_t{facts.row_elems} * batch * (facts.role == RNNP_ROLE_SEQUENCE ? kSteps : 1);
  }
};

std::vector<uint32_t> words_of(const Call &call) {
  std::vector<uint32_t> all;
  for (const auto &output : call.outputs) all.insert(all.end(), output.begin(), output.end());
  return all;
}

// Every output's words, one output after the other; empty when there is no session, and *status says why. The session runs twice,
// and the second run must give what the first gave: behind a reset where the model is causal or has layers, which continue; else of
// itself.
std::vector<uint32_t> run(const rnnpack::Model &model, uint32_t isa, rnnp_status *status) {
  const uint32_t fixed = model.info().fixed_batch, batch = fixed != 0 ? fixed : kBatch;
  rnnpack::Options options;
  options.max_batch = batch;
  options.max_steps = kSteps;
  options.isa_allowed = isa;
  rnnpack::Session session;
  *status = session.create(model, options);
  if (*status != RNNP_OK) return {};
  Call call(model, batch);
  rnnp_io io = RNNP_IO_INIT;
  io.batch = batch;
  io.steps = kSteps;
  io.input_count = static_cast<uint32_t>(call.in.size());
  io.output_count = static_cast<uint32_t>(call.out.size());
  io.inputs = call.in.data();
  io.outputs = call.out.data();
  *status = session.run_io(io);
  const std::vector<uint32_t> first = words_of(call);
  if (*status == RNNP_OK && (model.info().causal != 0 || model.info().recurrent_count != 0)) *status = session.reset();
  if (*status == RNNP_OK) *status = session.run_io(io);
  if (*status == RNNP_OK && words_of(call) != first) *status = RNNP_E_STATE_MISMATCH;
  return first;
}

bool is_near(const std::vector<uint32_t> &want, const std::vector<uint32_t> &got, double tolerance) {
  if (want.size() != got.size()) return false;
  for (size_t i = 0; i < want.size(); ++i) {
    float a, b;
    std::memcpy(&a, &want[i], sizeof a);
    std::memcpy(&b, &got[i], sizeof b);
    if (!(std::fabs(a - b) <= tolerance * (1 + std::fabs(a)))) return false;
  }
  return true;
}

// What is wrong with the blob; empty: nothing.
std::string check(const std::string &path, double tolerance, bool write) {
  const Bytes bytes = read(path + ".rnnp");
  rnnpack::Memory blob;
  rnnpack::Model model;
  if (bytes.empty() || blob.allocate(bytes.size(), RNNP_BLOB_ALIGN) != RNNP_OK) return "is not there";
  std::memcpy(blob.data(), bytes.data(), bytes.size());
  rnnp_status status = model.open(blob.data(), bytes.size(), RNNP_OPEN_CHECK_WEIGHTS);
  if (status != RNNP_OK) return std::string("does not open: ") + rnnp_status_string(status);
  const char *name = model.meta("name");
  if (name == nullptr || path.substr(path.rfind('/') + 1) != name) return "has lost its metadata";
  const std::vector<uint32_t> reference = run(model, RNNP_ISA_REFERENCE_ONLY, &status);
  if (status != RNNP_OK) return std::string("does not run: ") + rnnp_status_string(status);
  if (write) {
    std::ofstream(path + ".out", std::ios::binary)
        .write(reinterpret_cast<const char *>(reference.data()), static_cast<std::streamsize>(reference.size() * 4));
  }
  const Bytes pinned = read(path + ".out");
  std::vector<uint32_t> want(pinned.size() / 4);
  if (!want.empty()) std::memcpy(want.data(), pinned.data(), want.size() * 4);
  if (want.empty() || want != reference) return "gives other bits by the reference kernels";
  const std::vector<uint32_t> now = run(model, 0, &status);
  if (status != RNNP_OK) return std::string("does not run on this CPU: ") + rnnp_status_string(status);
  return is_near(want, now, tolerance) ? "" : "is too far from the reference on this CPU";
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const std::string folder = argv[1];
  std::ifstream list(folder + "/list.txt");
  std::string name;
  double tolerance;
  int count = 0, failures = 0;
  while (list >> name >> tolerance) {
    const std::string problem = check(folder + "/" + name, tolerance, argc > 2);
    if (!problem.empty()) std::printf("%s %s\n", name.c_str(), problem.c_str());
    failures += !problem.empty();
    ++count;
  }
  std::printf("%d blobs, %d failures\n", count, failures);
  return count == 0 || failures != 0;
}
