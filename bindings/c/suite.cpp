// suite.cpp -- bindings/suite.json in C: the row that the other languages are compared with. It also makes their data.
//   suite_c prepare DIR NOISE.wav SPEECH.wav...   the recording of `make demo`, what C computes of it, saved states, broken files
//   suite_c run DIR                               the cases of DIR/suite.txt
// SPDX-License-Identifier: Apache-2.0
#include <rnnpack/rnnpack.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../../demo/audio.h"
#include "suite_support.h"

namespace {

using namespace suite;

void write(const std::string &name, const void *data, size_t bytes) {
  std::ofstream(folder + "/" + name, std::ios::binary).write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
}

// Memory of an alignment that C++ 17 frees by itself.
struct Room {
  Bytes memory;
  char *at = nullptr;
  char *make(size_t bytes, size_t alignment) {
    memory.resize(bytes + alignment);
    const size_t past = reinterpret_cast<uintptr_t>(memory.data()) % alignment;
    return at = memory.data() + (past == 0 ? 0 : alignment - past);
  }
};

struct Net {
  Room blob, memory;
  rnnp_model model;
  rnnp_session *session = nullptr;
  rnnp_status status;

  explicit Net(const std::string &name, uint32_t max_batch = 1, uint32_t max_steps = 0, uint32_t isa = RNNP_ISA_REFERENCE_ONLY) {
    const Bytes bytes = read(name);
    std::copy(bytes.begin(), bytes.end(), blob.make(bytes.size(), RNNP_BLOB_ALIGN));
    status = rnnp_model_open(&model, blob.at, bytes.size(), RNNP_OPEN_CHECK_WEIGHTS);
    if (status != RNNP_OK) return;
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    options.max_batch = max_batch;
    options.max_steps = max_steps;
    options.isa_allowed = isa;
    rnnp_memory need = RNNP_MEMORY_INIT;
    status = rnnp_session_memory(&model, &options, &need);
    if (status == RNNP_OK) {
      status = rnnp_session_init(&session, &model, &options, memory.make(need.session_bytes, need.alignment), need.session_bytes);
    }
  }
  Net(const Net &) = delete;

  Bytes state() {
    rnnp_memory need = RNNP_MEMORY_INIT;
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    if (rnnp_session_memory(&model, &options, &need) != RNNP_OK) return {};
    Bytes saved(need.state_bytes);
    expect(rnnp_state_save(session, 0, saved.data(), saved.size()) == RNNP_OK, "the state is not saved");
    return saved;
  }
};

Floats stream(Net &net, const Floats &input, size_t from, size_t to) {
  rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
  expect(rnnp_model_get_input(&net.model, 0, &facts) == RNNP_OK, "no input");
  Floats out(to - from);
  for (size_t i = from; i < to; ++i) {
    expect(rnnp_step(net.session, &input[i * facts.row_elems], &out[i - from]) == RNNP_OK, "a step failed");
  }
  return out;
}

// --- The kinds of cases ---------------------------------------------------------------------------------------------------

void run_stream(const Case &c) {
  Net net(c.at("blob"));
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  const Floats out = stream(net, input, 0, want.size());
  expect(same(out, want.data()), "other bits");
  const Bytes line = read(c.at("line"));
  const std::string said = line_of(read(c.at("labels")), out);
  expect(said == std::string(line.begin(), line.end()), "another line: " + said);
  std::printf("%s\n", said.c_str());
}

void run_golden(const Case &c) {
  const uint32_t steps = number(c, "steps");
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  uint32_t batch = number(c, "batch");
  const Net first(c.at("blob"), 1, steps);
  expect(rnnp_model_get_info(&first.model, &facts) == RNNP_OK, "does not open");
  if (facts.fixed_batch != 0) batch = facts.fixed_batch;
  const Net net(c.at("blob"), batch, steps);
  expect(net.status == RNNP_OK, "no session");
  if (!problem.empty()) return;
  Tensors tensors(net.model, steps, batch, "no");
  expect(tensors.run(net.session, steps, batch, 0) == RNNP_OK, "does not run");
  const Bytes want = read(c.at("output"));
  size_t at = 0;
  for (size_t i = tensors.in.size(); i < tensors.data.size(); ++i) {
    const size_t bytes = tensors.data[i].size() * 4;
    expect(at + bytes <= want.size() && std::memcmp(&want[at], tensors.data[i].data(), bytes) == 0, "other bits");
    at += bytes;
  }
  expect(at == want.size(), "another size");
}

void run_threads(const Case &c) {
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  std::vector<Floats> got(number(c, "count"));
  std::vector<std::thread> threads;
  for (Floats &one : got) {
    threads.emplace_back([&] {
      Net net(c.at("blob"));
      one = stream(net, input, 0, want.size());
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (const Floats &one : got) expect(same(one, want.data()), "other bits");
}

void run_state(const Case &c) {
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  const Bytes saved = read(c.at("state"));
  const size_t at = number(c, "at");
  Net loaded(c.at("blob")), streamed(c.at("blob"));
  expect(rnnp_state_load(loaded.session, 0, saved.data(), saved.size()) == RNNP_OK, "is not loaded");
  expect(same(stream(loaded, input, at, want.size()), &want[at]), "goes on with other bits");
  stream(streamed, input, 0, at);
  expect(streamed.state() == saved, "saves other bytes");
}

void run_load(const Case &c) {
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  const Bytes saved = read(c.at("state"));
  Net net(c.at("blob"));
  const rnnp_status status = rnnp_state_load(net.session, 0, saved.data(), saved.size());
  expect(status == std::stol(c.at("status")), "gives " + std::to_string(status));
  expect(same(stream(net, input, 0, 10), want.data()), "the state has changed");
}

void run_refused(const Case &c) {
  const bool session = c.at("kind") == "session";
  const Net net(c.at("blob"), session ? number(c, "max_batch") : 1, session ? number(c, "max_steps") : 0);
  expect(net.status == std::stol(c.at("status")), "gives " + std::to_string(net.status));
}

void run_run(const Case &c) {
  const uint32_t steps = number(c, "steps"), batch = number(c, "batch");
  const Net net(c.at("blob"), number(c, "max_batch"), steps);
  Tensors tensors(net.model, steps, batch, c.at("spoil"));
  const rnnp_status status = tensors.run(net.session, steps, batch, number(c, "flags"));
  expect(status == std::stol(c.at("status")), "gives " + std::to_string(status));
}

void run_growth(const Case &c) {
  const uint32_t count = number(c, "count");
  long before = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Net net(c.at("blob"));
    const Floats x(256);
    stream(net, x, 0, 1);
    if (i == count / 10) before = resident_kib();
  }
  const long grown = resident_kib() - before;
  expect(grown <= static_cast<long>(number(c, "limit_kib")), "grew by " + std::to_string(grown) + " KiB");
}

void run_overhead(const Case &c) {
  Net net(c.at("blob"), 1, 0, 0);
  float x[64] = {}, y[64] = {};
  double least = 1e9;
  constexpr int kPiece = 1000;
  for (uint32_t i = 0; i < number(c, "count") / kPiece; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kPiece; ++k) expect(rnnp_step(net.session, x, y) == RNNP_OK, "a step failed");
    least = std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kPiece);
  }
  std::printf("overhead %.1f\n", least);
}

const Kinds kKinds = {{"status", run_status}, {"stream", run_stream}, {"golden", run_golden},   {"threads", run_threads},
                      {"state", run_state},   {"load", run_load},     {"open", run_refused},    {"session", run_refused},
                      {"run", run_run},       {"growth", run_growth}, {"compile", run_compile}, {"overhead", run_overhead}};

std::string left_to_the_caller(const Case &c) {
  return c.at("kind") == "misuse" ? "C leaves it to the caller" : "";
}

// --- The data -------------------------------------------------------------------------------------------------------------

// Frames in which the clean recording is loud count as speech, those that are empty as silence (demo/vad_demo.cpp).
Bytes labels_of(const demo::Recording &recording, size_t frames, size_t hop) {
  const float loud = 0.1f * demo::rms(recording.clean);
  Bytes labels(frames);
  for (size_t i = 0; i < frames; ++i) {
    const auto begin = recording.clean.begin() + static_cast<std::ptrdiff_t>(i * hop);
    const float level = demo::rms(Floats(begin, begin + static_cast<std::ptrdiff_t>(hop)));
    labels[i] = level > 3 * loud ? 1 : level == 0 ? 2 : 0;
  }
  return labels;
}

void write_broken(Bytes blob) {
  write("bad/empty.rnnp", "", 0);
  write("bad/truncated.rnnp", blob.data(), blob.size() / 2);
  ++blob[0];
  write("bad/magic.rnnp", blob.data(), blob.size());
  --blob[0];
  blob[4] = 99;
  write("bad/version.rnnp", blob.data(), blob.size());
}

int prepare(const std::vector<std::string> &speech, const std::string &noise) {
  constexpr size_t kHop = 256, kAt = 300;
  const demo::Recording recording = demo::make_recording(speech, noise, 15, 0.8);
  const size_t frames = recording.samples.size() / kHop;
  write("speech.f32", recording.samples.data(), frames * kHop * sizeof(float));
  const Bytes labels = labels_of(recording, frames, kHop);
  write("speech.labels", labels.data(), labels.size());
  Net net("vad.rnnp"), part("vad.rnnp"), other("golden/lstm_f32_avx512.rnnp");
  const Floats out = stream(net, recording.samples, 0, frames);
  write("speech.out", out.data(), out.size() * sizeof(float));
  const std::string line = line_of(labels, out);
  write("speech.line", line.data(), line.size());
  stream(part, recording.samples, 0, kAt);
  Bytes state = part.state();
  write("vad.state", state.data(), state.size());
  state[state.size() / 2] ^= 1;
  write("bad/damaged.state", state.data(), state.size());
  const size_t bytes = state.size();
  state = other.state();
  state.resize(bytes);
  write("bad/other.state", state.data(), state.size());
  write_broken(read("vad.rnnp"));
  std::printf("%zu frames; %s\n", frames, line.c_str());
  return problem.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  folder = argv[2];
  const std::vector<std::string> rest(argv + 3, argv + argc);
  try {
    return argc > 4 ? prepare({rest.begin() + 1, rest.end()}, rest[0]) : run_all(kKinds, left_to_the_caller);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "suite_c: %s\n", e.what());
    return 1;
  }
}
