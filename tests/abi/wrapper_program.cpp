// wrapper_program.cpp -- rnnpack.hpp at work: the same bits as the C functions, sizes that do not fit, moves, threads; with
// exceptions what throws. wrapper_program BLOB; the blob is causal and has one input and one output, both per step.
// SPDX-License-Identifier: Apache-2.0
#include <rnnpack/rnnpack.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

namespace {

constexpr std::size_t kSteps = 6;
int failures;

void expect(bool good, const char *what) {
  if (good) return;
  std::fprintf(stderr, "rnnpack.hpp: %s\n", what);
  ++failures;
}

struct Blob {
  rnnpack::Memory memory;
  std::size_t bytes = 0;

  bool read(const char *path) {
    std::FILE *file = std::fopen(path, "rb");
    if (file == nullptr) return false;
    std::fseek(file, 0, SEEK_END);
    bytes = static_cast<std::size_t>(std::ftell(file));
    std::rewind(file);
    const bool good = memory.allocate(bytes, RNNP_BLOB_ALIGN) == RNNP_OK && std::fread(memory.data(), 1, bytes, file) == bytes;
    std::fclose(file);
    return good;
  }
};

std::vector<float> sequence(std::size_t elems) {
  std::vector<float> x(elems);
  for (std::size_t i = 0; i < elems; ++i) x[i] = static_cast<float>(i % 17) / 17.0f - 0.5f;
  return x;
}

std::vector<float> by_c_functions(const rnnpack::Model &model, const std::vector<float> &x, std::size_t y_elems) {
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnpack::Memory memory;
  rnnp_session *session = nullptr;
  std::vector<float> y(y_elems);
  expect(rnnp_session_memory(model.get(), nullptr, &need) == RNNP_OK, "rnnp_session_memory");
  expect(memory.allocate(need.session_bytes, need.alignment) == RNNP_OK, "allocate");
  expect(rnnp_session_init(&session, model.get(), nullptr, memory.data(), need.session_bytes) == RNNP_OK, "rnnp_session_init");
  expect(rnnp_run_f32(session, kSteps, x.data(), y.data()) == RNNP_OK, "rnnp_run_f32");
  return y;
}

void check_session(const rnnpack::Model &model, std::size_t in, std::size_t out) {
  const std::vector<float> x = sequence(kSteps * in), want = by_c_functions(model, x, kSteps * out);
  std::vector<float> y(kSteps * out);
  rnnpack::Session first;
  expect(first.run(kSteps, x, y) == RNNP_E_ARG && first.step(x, y) == RNNP_E_ARG, "an empty session is refused");
  expect(first.create(model) == RNNP_OK && first.info().max_batch == 1 && first.state_bytes() > 0, "create");
  rnnp_session *const place = first.get();
  rnnpack::Session session(static_cast<rnnpack::Session &&>(first));
  expect(session.get() == place && first.get() == nullptr, "a move keeps the place");
  expect(session.run(kSteps, x, y) == RNNP_OK && y == want, "run gives the bits of rnnp_run");
  expect(session.run(kSteps - 1, x, y) == RNNP_E_SHAPE && session.step(x, y) == RNNP_E_SHAPE, "sizes that do not fit");
  expect(session.run(kSteps, x, {y.data(), y.size() - 1}) == RNNP_E_SHAPE && y == want, "an output that is too small");
  expect(session.reset() == RNNP_OK, "reset");
  std::vector<unsigned char> state(session.state_bytes());
  for (std::size_t t = 0; t < kSteps; ++t) {
    if (t == 2) expect(session.save(0, state) == RNNP_OK, "save");
    std::vector<float> row(out);
    expect(session.step({x.data() + t * in, in}, row) == RNNP_OK && !std::memcmp(row.data(), want.data() + t * out, out * 4),
           "step");
  }
  expect(session.load(0, rnnpack::Span<const unsigned char>(state.data(), state.size())) == RNNP_OK, "load");
  std::vector<float> row(out);
  expect(session.step({x.data() + 2 * in, in}, row) == RNNP_OK && !std::memcmp(row.data(), want.data() + 2 * out, out * 4),
         "a step from a loaded state");
  expect(std::strcmp(session.last_error(), "") == 0, "last_error");
}

void check_memory_and_threads(const rnnpack::Model &model, std::size_t in, std::size_t out) {
  rnnpack::Threads threads;
  expect(threads.start(0) == RNNP_E_ARG && threads.start(2) == RNNP_OK, "threads");
  rnnpack::Options options;
  options.executor = threads.get();
  options.flags = RNNP_SESSION_ALL_THREADS;
  options.max_batch = 3;
  rnnp_status code = RNNP_OK;
  const rnnp_memory need = rnnpack::Session::memory(model, options, code);
  rnnpack::Memory memory;
  expect(code == RNNP_OK && memory.allocate(need.session_bytes, need.alignment) == RNNP_OK, "memory");
  rnnpack::Session session;
  expect(session.init(model, options, memory.data(), need.session_bytes - 1) == RNNP_E_SMALL_MEMORY && session.get() == nullptr,
         "memory that is too small");
  expect(session.init(model, options, memory.data(), need.session_bytes) == RNNP_OK, "init");
  const std::vector<float> x = sequence(3 * in);
  std::vector<float> y(3 * out);
  expect(session.step(x, y) == RNNP_OK && session.info().max_batch == 3, "a step of three rows");
}

#if RNNPACK_EXCEPTIONS
void check_exceptions(const Blob &blob) {
  rnnp_status thrown = RNNP_OK;
  try {
    const rnnpack::Model broken(blob.memory.data(), 8);
  } catch (const rnnpack::Error &error) {
    thrown = error.code();
    expect(std::strcmp(error.what(), rnnp_status_string(thrown)) == 0, "what()");
  }
  expect(thrown == RNNP_E_BLOB_CORRUPT, "the constructor throws");
  const rnnpack::Model model(blob.memory.data(), blob.bytes);
  const rnnpack::Session session(model);
  expect(session.get() != nullptr, "the constructor of a session");
}
#endif

}  // namespace

static_assert(!std::is_copy_constructible_v<rnnpack::Session> && std::is_nothrow_move_constructible_v<rnnpack::Session>);
static_assert(!std::is_constructible_v<rnnpack::Span<const float>, std::vector<double> &>);
static_assert(!std::is_constructible_v<rnnpack::Span<float>, const std::vector<float> &>);

int main(int argc, char **argv) {
  Blob blob;
  rnnpack::Model model;
  if (argc != 2 || !blob.read(argv[1])) return 2;
  expect(model.info().input_count == 0, "a model that is not open");
  expect(model.open(blob.memory.data(), blob.bytes) == RNNP_OK && model.meta("no such key") == nullptr, "open");
  rnnp_tensor_info in, out;
  std::uint32_t index = 9;
  expect(model.input(0, in) == RNNP_OK && model.output(0, out) == RNNP_OK && model.input(1, out) == RNNP_E_ARG, "tensors");
  expect(model.output(0, out) == RNNP_OK && model.find_output(out.name, index) == RNNP_OK && index == 0, "find_output");
  expect(model.find_input(in.name, index) == RNNP_OK, "find_input");
  check_session(model, in.row_elems, out.row_elems);
  check_memory_and_threads(model, in.row_elems, out.row_elems);
#if RNNPACK_EXCEPTIONS
  check_exceptions(blob);
#endif
  return failures != 0;
}
