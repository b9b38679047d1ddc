// suite.cpp -- bindings/suite.json in C: the row that the other languages are compared with. It also makes their data.
//   suite_c prepare DIR NOISE.wav SPEECH.wav...   the recording of `make demo`, what C computes of it, saved states, broken files
//   suite_c run DIR                               the cases of DIR/suite.txt
// SPDX-License-Identifier: Apache-2.0
#include <rnnpack/rnnpack.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../../demo/audio.h"
#include "compile_case.h"

namespace {

using Bytes = std::vector<char>;
using Floats = std::vector<float>;
using Case = std::map<std::string, std::string>;

std::string folder;
std::string problem;  // of the case that runs

Bytes read(const std::string &name) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  if (!file) problem = "cannot read " + name;
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void write(const std::string &name, const void *data, size_t bytes) {
  std::ofstream(folder + "/" + name, std::ios::binary).write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
}

Floats floats(const std::string &name) {
  const Bytes bytes = read(name);
  Floats all(bytes.size() / sizeof(float));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(float));
  return all;
}

void expect(bool right, const std::string &what) {
  if (!right && problem.empty()) problem = what;
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

bool same(const Floats &a, const float *b) {
  return std::memcmp(a.data(), b, a.size() * sizeof(float)) == 0;
}

std::string line_of(const Bytes &labels, const Floats &out) {
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

// --- Inputs and outputs of any model --------------------------------------------------------------------------------------

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

// --- The kinds of cases ---------------------------------------------------------------------------------------------------

uint32_t number(const Case &c, const char *key) {
  return static_cast<uint32_t>(std::stol(c.at(key)));
}

void run_status(const Case &c) {
  const char *text = rnnp_status_string(static_cast<rnnp_status>(std::stol(c.at("code"))));
  expect(text[0] != 0 && std::string(text) != rnnp_status_string(static_cast<rnnp_status>(-1000)), "has no text");
}

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

void run_compile(const Case &c) {
  const Bytes onnx = read(c.at("onnx"));
  const char *const option = c.at("option").c_str();
  Compiled made;
  const rnnp_compile_status status = compile_here(onnx, &option, c.at("option") == "-" ? 0 : 1, &made);
  expect(status == std::stol(c.at("status")), "gives " + std::to_string(status) + ": " + made.why);
  expect(status == RNNP_COMPILED ? made.blob == read(c.at("blob")) : !made.why.empty(), "another blob, or no reason");
}

long resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return 0;
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

int run_all() {
  const std::map<std::string, void (*)(const Case &)> kinds = {
      {"status", run_status}, {"stream", run_stream}, {"golden", run_golden},   {"threads", run_threads},
      {"state", run_state},   {"load", run_load},     {"open", run_refused},    {"session", run_refused},
      {"run", run_run},       {"growth", run_growth}, {"compile", run_compile}, {"overhead", run_overhead}};
  std::ifstream file(folder + "/suite.txt");
  std::printf("version %s\n", __VERSION__);
  int failures = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Case c;
    words >> c["kind"] >> c["name"];
    for (std::string word; words >> word;) c[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    if (c["kind"] == "misuse") {
      std::printf("na %s: C leaves it to the caller\n", c["name"].c_str());
      continue;
    }
    problem.clear();
    kinds.at(c["kind"])(c);
    std::printf("%s %s%s%s\n", problem.empty() ? "ok" : "FAILED", c["name"].c_str(), problem.empty() ? "" : ": ", problem.c_str());
    failures += !problem.empty();
  }
  return failures != 0;
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
    return argc > 4 ? prepare({rest.begin() + 1, rest.end()}, rest[0]) : run_all();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "suite_c: %s\n", e.what());
    return 1;
  }
}
