/* rnnpack.hpp -- C++17 classes over rnnpack.h. Header only; nothing of the library depends on it.
 *
 *   rnnpack::Model model;
 *   rnnpack::Session session;
 *   if (model.open(blob, blob_bytes) != RNNP_OK) ...
 *   if (session.create(model) != RNNP_OK) ...        memory of its own; session.init(model, {}, mem, bytes) uses yours
 *   while (more()) status = session.step(x, y);      spans, arrays or vectors of float; a wrong size is RNNP_E_SHAPE
 *
 * Every call returns an rnnp_status. With exceptions there are throwing forms too: rnnpack::check(status), and constructors of
 * Model and Session. RNNPACK_EXCEPTIONS 0 leaves them out; without it the compiler's options decide. Only create and
 * Threads::start allocate, by nothrow operator new.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_RNNPACK_HPP_
#define RNNPACK_RNNPACK_HPP_

#include <cstddef>
#include <cstdint>
#include <new>

#include "rnnpack/rnnpack.h"
#if __has_include("rnnpack/threads.h") /* not in builds without threads */
#include "rnnpack/threads.h"
#endif

#ifndef RNNPACK_EXCEPTIONS
#if defined(__cpp_exceptions)
#define RNNPACK_EXCEPTIONS 1
#else
#define RNNPACK_EXCEPTIONS 0
#endif
#endif
#if RNNPACK_EXCEPTIONS
#include <exception>
#endif

namespace rnnpack {

#if RNNPACK_EXCEPTIONS
class Error : public std::exception {
 public:
  explicit Error(rnnp_status code) noexcept : code_(code) {}
  rnnp_status code() const noexcept { return code_; }
  const char *what() const noexcept override { return rnnp_status_string(code_); }

 private:
  rnnp_status code_;
};

inline void check(rnnp_status code) {
  if (code != RNNP_OK) throw Error(code);
}
#endif

/* Elements side by side: of a pointer and a count, an array, or whatever has data() and size(). */
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t kSize>
  constexpr Span(T (&array)[kSize]) noexcept : data_(array), size_(kSize) {}  // NOLINT(google-explicit-constructor)
  template <class Container, class = decltype(Span(static_cast<Container *>(nullptr)->data(), std::size_t{}))>
  constexpr Span(Container &from) noexcept : data_(from.data()), size_(from.size()) {}  // NOLINT(google-explicit-constructor)

  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

/* An opened blob. A value: copies share the blob, which stays in place while any of them, or a session, is in use. */
class Model {
 public:
  Model() noexcept = default;
#if RNNPACK_EXCEPTIONS
  Model(const void *blob, std::size_t bytes, std::uint32_t flags = 0) {
    check(open(blob, bytes, flags));
  }
#endif

  RNNP_NODISCARD rnnp_status open(const void *blob, std::size_t bytes, std::uint32_t flags = 0) noexcept {
    return rnnp_model_open(&model_, blob, bytes, flags);
  }
  /* All zero where nothing is open. */
  rnnp_model_info info() const noexcept {
    rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
    return rnnp_model_get_info(&model_, &facts) == RNNP_OK ? facts : rnnp_model_info RNNP_MODEL_INFO_INIT;
  }
  RNNP_NODISCARD rnnp_status input(std::uint32_t index, rnnp_tensor_info &facts) const noexcept {
    facts = RNNP_TENSOR_INFO_INIT;
    return rnnp_model_get_input(&model_, index, &facts);
  }
  RNNP_NODISCARD rnnp_status output(std::uint32_t index, rnnp_tensor_info &facts) const noexcept {
    facts = RNNP_TENSOR_INFO_INIT;
    return rnnp_model_get_output(&model_, index, &facts);
  }
  RNNP_NODISCARD rnnp_status find_input(const char *name, std::uint32_t &index) const noexcept {
    return rnnp_model_find_input(&model_, name, &index);
  }
  RNNP_NODISCARD rnnp_status find_output(const char *name, std::uint32_t &index) const noexcept {
    return rnnp_model_find_output(&model_, name, &index);
  }
  const char *meta(const char *key) const noexcept {
    return rnnp_model_meta(&model_, key);
  }
  const rnnp_model *get() const noexcept {
    return &model_;
  }

 private:
  rnnp_model model_ = {};
};

struct Options : rnnp_session_options {
  Options() noexcept : rnnp_session_options RNNP_SESSION_OPTIONS_INIT {}
};

/* Aligned memory that it frees, or none. */
class Memory {
 public:
  Memory() noexcept = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept {
    Memory taken(static_cast<Memory &&>(other));
    swap(taken);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) ::operator delete(data_, std::align_val_t(alignment_));
  }

  RNNP_NODISCARD rnnp_status allocate(std::size_t bytes, std::size_t alignment) noexcept {
    Memory made;
    made.alignment_ = alignment;
    made.data_ = ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
    swap(made);
    return data_ != nullptr ? RNNP_OK : RNNP_E_SMALL_MEMORY;
  }
  void *data() const noexcept { return data_; }
  void swap(Memory &other) noexcept {
    void *const data = data_;
    const std::size_t alignment = alignment_;
    data_ = other.data_;
    alignment_ = other.alignment_;
    other.data_ = data;
    other.alignment_ = alignment;
  }

 private:
  void *data_ = nullptr;
  std::size_t alignment_ = 0;
};

/* A running instance. Moves, but is not copied; where it lies in memory does not change. Empty until create or init. */
class Session {
 public:
  Session() noexcept = default;
#if RNNPACK_EXCEPTIONS
  explicit Session(const Model &model, const Options &options = {}) {
    check(create(model, options));
  }
#endif
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  Session(Session &&other) noexcept {
    take(other);
  }
  Session &operator=(Session &&other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~Session() = default;

  static rnnp_memory memory(const Model &model, const Options &options, rnnp_status &code) noexcept {
    rnnp_memory need = RNNP_MEMORY_INIT;
    code = rnnp_session_memory(model.get(), &options, &need);
    return need;
  }
  /* In memory that the session allocates and frees. An error leaves what was there. */
  RNNP_NODISCARD rnnp_status create(const Model &model, const Options &options = {}) noexcept {
    rnnp_status code = RNNP_OK;
    const rnnp_memory need = memory(model, options, code);
    Memory room;
    if (code == RNNP_OK) code = room.allocate(need.session_bytes, need.alignment);
    if (code == RNNP_OK) code = start(model, options, need, room.data(), need.session_bytes);
    if (code == RNNP_OK) owned_.swap(room);
    return code;
  }
  /* In the caller's memory, which outlives the session. */
  RNNP_NODISCARD rnnp_status init(const Model &model, const Options &options, void *mem, std::size_t bytes) noexcept {
    rnnp_status code = RNNP_OK;
    const rnnp_memory need = memory(model, options, code);
    return code == RNNP_OK ? start(model, options, need, mem, bytes) : code;
  }

  /* x: steps of all rows; y: as many steps, or one row per batch row for an output without a time axis. */
  RNNP_NODISCARD rnnp_status run(std::size_t steps, Span<const float> x, Span<float> y) noexcept {
    if (session_ == nullptr) return RNNP_E_ARG;
    if (x_elems_ == 0) return RNNP_E_INPUTS;
    if (!holds(x.size(), steps, x_elems_) || !holds(y.size(), y_per_step_ ? steps : 1, y_elems_)) return RNNP_E_SHAPE;
    return rnnp_run_f32(session_, steps, x.data(), y.data());
  }
  RNNP_NODISCARD rnnp_status step(Span<const float> x, Span<float> y) noexcept {
    if (session_ == nullptr) return RNNP_E_ARG;
    if (x_elems_ == 0) return RNNP_E_INPUTS;
    if (x.size() != x_elems_ || y.size() != y_elems_) return RNNP_E_SHAPE;
    return rnnp_step_f32(session_, x.data(), y.data());
  }
  RNNP_NODISCARD rnnp_status run_io(const rnnp_io &io) noexcept {
    return rnnp_run_io(session_, &io);
  }

  RNNP_NODISCARD rnnp_status reset(std::uint32_t row = RNNP_ALL_ROWS) noexcept {
    return rnnp_state_reset(session_, row);
  }
  RNNP_NODISCARD rnnp_status save(std::uint32_t row, Span<unsigned char> dst) const noexcept {
    return rnnp_state_save(session_, row, dst.data(), dst.size());
  }
  RNNP_NODISCARD rnnp_status load(std::uint32_t row, Span<const unsigned char> src) noexcept {
    return rnnp_state_load(session_, row, src.data(), src.size());
  }
  std::size_t state_bytes() const noexcept {
    return state_bytes_;
  }
  rnnp_session_info info() const noexcept {
    rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
    return rnnp_session_get_info(session_, &facts) == RNNP_OK ? facts : rnnp_session_info RNNP_SESSION_INFO_INIT;
  }
  const char *last_error() const noexcept {
    return rnnp_session_last_error(session_);
  }
  rnnp_session *get() const noexcept {
    return session_;
  }

 private:
  rnnp_status start(const Model &model, const Options &options, const rnnp_memory &need, void *mem, std::size_t bytes) noexcept {
    rnnp_session *made = nullptr;
    const rnnp_status code = rnnp_session_init(&made, model.get(), &options, mem, bytes);
    if (code != RNNP_OK) return code;
    session_ = made;
    state_bytes_ = need.state_bytes;
    find_sizes(model, options.max_batch);
    return RNNP_OK;
  }
  static bool holds(std::size_t size, std::size_t steps, std::size_t elems) noexcept {
    return elems != 0 && size % elems == 0 && size / elems == steps;
  }

  void find_sizes(const Model &model, std::uint32_t batch) noexcept {
    rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
    x_elems_ = y_elems_ = 0;
    for (std::uint32_t i = 0; x_elems_ == 0 && model.input(i, facts) == RNNP_OK; ++i) {
      if (facts.role == RNNP_ROLE_SEQUENCE && facts.dtype == RNNP_DTYPE_F32) x_elems_ = std::size_t{facts.row_elems} * batch;
    }
    if (model.output(0, facts) != RNNP_OK) return;
    y_elems_ = std::size_t{facts.row_elems} * batch;
    y_per_step_ = facts.role == RNNP_ROLE_SEQUENCE;
  }

  void take(Session &other) noexcept {
    owned_ = static_cast<Memory &&>(other.owned_);
    session_ = other.session_;
    state_bytes_ = other.state_bytes_;
    x_elems_ = other.x_elems_;
    y_elems_ = other.y_elems_;
    y_per_step_ = other.y_per_step_;
    other.session_ = nullptr;
    other.state_bytes_ = other.x_elems_ = other.y_elems_ = 0;
  }

  Memory owned_;
  rnnp_session *session_ = nullptr;
  std::size_t state_bytes_ = 0, x_elems_ = 0, y_elems_ = 0; /* of one step of all rows; 0: no such tensor */
  bool y_per_step_ = true;
};

#ifdef RNNPACK_THREADS_H_
/* Threads for Options::executor; stopped with it, after the sessions that use it. */
class Threads {
 public:
  Threads() noexcept = default;
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;
  ~Threads() { stop(); }

  RNNP_NODISCARD rnnp_status start(std::uint32_t threads, const std::int32_t *cpu_ids = nullptr) noexcept {
    if (threads == 0 || threads > RNNP_MAX_THREADS) return RNNP_E_ARG;
    stop();
    const std::size_t bytes = RNNP_THREADS_BYTES(threads);
    const rnnp_status code = owned_.allocate(bytes, 64);
    return code == RNNP_OK ? start(threads, cpu_ids, owned_.data(), bytes) : code;
  }
  RNNP_NODISCARD rnnp_status start(std::uint32_t threads, const std::int32_t *cpu_ids, void *mem, std::size_t bytes) noexcept {
    stop();
    const rnnp_status code = rnnp_threads_start(&executor_, threads, cpu_ids, mem, bytes);
    running_ = code == RNNP_OK;
    return code;
  }
  void stop() noexcept {
    if (running_) rnnp_threads_stop(&executor_);
    running_ = false;
  }
  const rnnp_executor *get() const noexcept { return &executor_; }

 private:
  rnnp_executor executor_ = RNNP_EXECUTOR_INIT;
  Memory owned_;
  bool running_ = false;
};
#endif

}  // namespace rnnpack
#endif /* RNNPACK_RNNPACK_HPP_ */
