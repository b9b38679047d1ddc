// suite.cpp -- bindings/suite.json by rnnpack.hpp: suite_cpp DIR. SPDX-License-Identifier: Apache-2.0
#include <rnnpack/rnnpack.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "../c/suite_support.h"

namespace {

using namespace suite;

// A blob is opened where it lies.
class Blob {
 public:
  explicit Blob(const std::string &name) {
    const Bytes bytes = read(name);
    size_ = bytes.size();
    rnnpack::check(memory_.allocate(std::max<size_t>(size_, 1), RNNP_BLOB_ALIGN));
    std::copy(bytes.begin(), bytes.end(), static_cast<char *>(memory_.data()));
  }
  rnnpack::Model open() const { return rnnpack::Model(memory_.data(), size_, RNNP_OPEN_CHECK_WEIGHTS); }

 private:
  rnnpack::Memory memory_;
  size_t size_ = 0;
};

rnnpack::Options options_of(uint32_t max_batch = 1, uint32_t max_steps = 0) {
  rnnpack::Options options;
  options.max_batch = max_batch;
  options.max_steps = max_steps;
  options.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
  return options;
}

struct Net {
  Blob blob;
  rnnpack::Model model;
  rnnpack::Session session;

  explicit Net(const std::string &name, const rnnpack::Options &options = options_of())
      : blob(name), model(blob.open()), session(model, options) {}
};

// The status that an action throws.
template <class Action>
void fails(const Case &c, Action act) {
  try {
    act();
    expect(false, "is not refused");
  } catch (const rnnpack::Error &error) {
    expect(error.code() == std::stol(c.at("status")) && *error.what() != 0, std::string("gives ") + error.what());
  }
}

Floats stream(rnnpack::Session &session, const Floats &input, size_t from, size_t to) {
  constexpr size_t kHop = 256;
  Floats out(to - from);
  for (size_t i = from; i < to; ++i) {
    rnnpack::check(session.step({&input[i * kHop], kHop}, {&out[i - from], 1}));
  }
  return out;
}

void cpp_status(const Case &c) {
  const auto code = static_cast<rnnp_status>(std::stol(c.at("code")));
  run_status(c);
  fails({{"status", c.at("code")}}, [&] { rnnpack::check(code); });
}

void cpp_stream(const Case &c) {
  Net net(c.at("blob"));
  const Floats want = floats(c.at("output")), out = stream(net.session, floats(c.at("input")), 0, want.size());
  expect(same(out, want.data()), "other bits");
  const Bytes line = read(c.at("line"));
  const std::string said = line_of(read(c.at("labels")), out);
  expect(said == std::string(line.begin(), line.end()), "another line: " + said);
  std::printf("%s\n", said.c_str());
}

// Runs of one input and one output go through spans, others through the tables of rnnp_io.
rnnp_status run_model(Net &net, Tensors &tensors, uint32_t steps, uint32_t batch) {
  rnnp_tensor_info in, out;
  const rnnp_model_info facts = net.model.info();
  const bool short_form = facts.input_count == 1 && facts.output_count == 1 && net.model.input(0, in) == RNNP_OK &&
                          net.model.output(0, out) == RNNP_OK && in.dtype == RNNP_DTYPE_F32 && in.role == RNNP_ROLE_SEQUENCE;
  if (!short_form) return tensors.run(net.session.get(), steps, batch, 0);
  Floats x(tensors.data[0].size()), y(tensors.data[1].size());
  std::memcpy(x.data(), tensors.data[0].data(), x.size() * sizeof(float));
  const rnnp_status status = net.session.run(steps, x, y);
  std::memcpy(tensors.data[1].data(), y.data(), y.size() * sizeof(float));
  return status;
}

void cpp_golden(const Case &c) {
  const uint32_t steps = number(c, "steps");
  const uint32_t fixed = Blob(c.at("blob")).open().info().fixed_batch, batch = fixed != 0 ? fixed : number(c, "batch");
  Net net(c.at("blob"), options_of(batch, steps));
  Tensors tensors(*net.model.get(), steps, batch, "no");
  rnnpack::check(run_model(net, tensors, steps, batch));
  const Bytes want = read(c.at("output"));
  Bytes got;
  for (size_t i = tensors.in.size(); i < tensors.data.size(); ++i) {
    const auto *bytes = reinterpret_cast<const char *>(tensors.data[i].data());
    got.insert(got.end(), bytes, bytes + tensors.data[i].size() * 4);
  }
  expect(got == want, "other bits");
}

void cpp_threads(const Case &c) {
  const Blob blob(c.at("blob"));
  const rnnpack::Model model = blob.open();
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  std::vector<Floats> got(number(c, "count"));
  std::vector<std::thread> threads;
  for (Floats &one : got) {
    threads.emplace_back([&] {
      rnnpack::Session session(model, options_of());
      one = stream(session, input, 0, want.size());
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (const Floats &one : got) expect(same(one, want.data()), "other bits");
}

void cpp_state(const Case &c) {
  const Floats input = floats(c.at("input")), want = floats(c.at("output"));
  const Bytes saved = read(c.at("state"));
  std::vector<unsigned char> bytes(saved.begin(), saved.end());
  const std::vector<unsigned char> kept = bytes;
  const size_t at = number(c, "at");
  Net loaded(c.at("blob")), streamed(c.at("blob"));
  rnnpack::check(loaded.session.load(0, kept));
  expect(same(stream(loaded.session, input, at, want.size()), &want[at]), "goes on with other bits");
  stream(streamed.session, input, 0, at);
  std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  bytes.resize(streamed.session.state_bytes());
  rnnpack::check(streamed.session.save(0, bytes));
  expect(bytes == kept, "saves other bytes");
}

void cpp_load(const Case &c) {
  Net net(c.at("blob"));
  const Bytes saved = read(c.at("state"));
  const std::vector<unsigned char> bytes(saved.begin(), saved.end());
  fails(c, [&] { rnnpack::check(net.session.load(0, bytes)); });
  expect(same(stream(net.session, floats(c.at("input")), 0, 10), floats(c.at("output")).data()), "the state has changed");
}

void cpp_open(const Case &c) {
  const Blob blob(c.at("blob"));
  fails(c, [&] { blob.open(); });
}

void cpp_session(const Case &c) {
  fails(c, [&] { const Net net(c.at("blob"), options_of(number(c, "max_batch"), number(c, "max_steps"))); });
}

void cpp_run(const Case &c) {
  const uint32_t steps = number(c, "steps"), batch = number(c, "batch");
  Net net(c.at("blob"), options_of(number(c, "max_batch"), steps));
  Tensors tensors(*net.model.get(), steps, batch, c.at("spoil"));
  fails(c, [&] { rnnpack::check(tensors.run(net.session.get(), steps, batch, number(c, "flags"))); });
}

void cpp_growth(const Case &c) {
  const Floats x(256);
  long before = 0;
  for (uint32_t i = 0; i < number(c, "count"); ++i) {
    Net net(c.at("blob"));
    stream(net.session, x, 0, 1);
    if (i == number(c, "count") / 10) before = resident_kib();
  }
  const long grown = resident_kib() - before;
  expect(grown <= static_cast<long>(number(c, "limit_kib")), "grew by " + std::to_string(grown) + " KiB");
}

// A session that was moved away and a model that is not open are what is closed elsewhere.
void cpp_misuse(const Case &c) {
  Net net(c.at("blob"));
  const Floats input = floats(c.at("input"));
  const rnnpack::Span<const float> x(input.data(), 256);
  const std::string &what = c.at("what");
  rnnpack::Session session = std::move(net.session);
  float y = 0;
  rnnp_status status = RNNP_OK, wanted = RNNP_E_ARG;
  if (what == "closed_session") {
    status = net.session.step(x, {&y, 1});
  } else if (what == "closed_model") {
    net.model = rnnpack::Model();
    status = rnnpack::Session().create(net.model);
  } else {
    wanted = RNNP_E_SHAPE;
    status = what == "short_input" ? session.step({x.data(), 255}, {&y, 1}) : session.step(x, {&y, 0});
  }
  expect(status == wanted, std::string("gives ") + rnnp_status_string(status));
  rnnpack::check(session.step(x, {&y, 1}));
}

void cpp_overhead(const Case &c) {
  rnnpack::Options options = options_of();
  options.isa_allowed = 0;
  Net net(c.at("blob"), options);
  const float x[8] = {};
  float y[16] = {};
  double least = 1e9;
  constexpr int kPiece = 1000;
  for (uint32_t i = 0; i < number(c, "count") / kPiece; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kPiece; ++k) rnnpack::check(net.session.step(x, y));
    least = std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kPiece);
  }
  std::printf("overhead %.1f\n", least);
}

std::string absent(const Case &c) {
  const auto what = c.find("what");
  return what != c.end() && what->second == "two_threads" ? "as in C, the caller keeps threads apart: a session has no lock" : "";
}

// What an error throws that a case does not expect fails the case.
template <void (*kCase)(const Case &)>
void caught(const Case &c) {
  try {
    kCase(c);
  } catch (const std::exception &error) {
    expect(false, error.what());
  }
}

const Kinds kKinds = {{"status", caught<cpp_status>},    {"stream", caught<cpp_stream>},   {"golden", caught<cpp_golden>},
                      {"threads", caught<cpp_threads>},  {"state", caught<cpp_state>},     {"load", caught<cpp_load>},
                      {"open", caught<cpp_open>},        {"session", caught<cpp_session>}, {"run", caught<cpp_run>},
                      {"growth", caught<cpp_growth>},    {"misuse", caught<cpp_misuse>},   {"compile", caught<run_compile>},
                      {"overhead", caught<cpp_overhead>}};

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  return run_all(kKinds, absent);
}
