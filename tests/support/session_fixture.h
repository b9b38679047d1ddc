// session_fixture.h -- a model and a session in owned, poisoned, aligned memory, for tests.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_SESSION_FIXTURE_H_
#define RNNPACK_TESTS_SUPPORT_SESSION_FIXTURE_H_

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"
#include "support/thread_team.h"

namespace rnnp_test {

inline void expect_ok(rnnp_status s, const char *what) {
  if (s != RNNP_OK) throw std::runtime_error(std::string(what) + ": " + rnnp_status_string(s));
}

struct Options {
  uint32_t batch = 1, max_steps = 0, chunk = 0, isa = 0, threads = 1, flags = 0;
  bool all_threads = true;                  // with more than one: even where a step is too little work
  const rnnp_executor *executor = nullptr;  // nullptr: `threads` of the runner's own
  uint32_t near_bytes = 0;                  // of L1 and L2, the last caches; 0: what the platform says
};

class Runner {
 public:
  explicit Runner(const std::vector<uint8_t> &blob, Options o = {}) : blob_(blob), team_(own_threads(o)), batch_(o.batch) {
    expect_ok(rnnp_model_open(&own_, blob_.data(), blob_.size(), RNNP_OPEN_CHECK_WEIGHTS), "open");
    make(o);
  }
  // A session of a model that others may have sessions of, too.
  explicit Runner(const rnnp_model *model, Options o = {}) : model_(model), team_(own_threads(o)), batch_(o.batch) { make(o); }
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  rnnp_session *session() { return session_; }
  const rnnp_model *model() const { return model_; }
  const rnnp_memory &memory() const { return memory_; }
  size_t in() const { return in_; }
  size_t out() const { return out_; }

  // x [steps][batch][in] -> y, in pieces of `cut` steps (0: all at once), single ones by rnnp_step.
  std::vector<float> run(const std::vector<float> &x, size_t cut = 0) {
    const size_t steps = x.size() / (in_ * batch_);
    std::vector<float> y(steps * batch_ * out_, -77.0f);
    for (size_t t = 0; t < steps;) {
      const size_t n = cut == 0 || cut > steps - t ? steps - t : cut;
      const float *from = x.data() + t * batch_ * in_;
      float *to = y.data() + t * batch_ * out_;
      expect_ok(cut == 1 ? rnnp_step(session_, from, to) : rnnp_run(session_, n, from, to), "run");
      t += n;
    }
    return y;
  }

  std::vector<uint8_t> save(uint32_t row) {
    std::vector<uint8_t> bytes(memory_.state_bytes);
    expect_ok(rnnp_state_save(session_, row, bytes.data(), bytes.size()), "save");
    return bytes;
  }
  void load(uint32_t row, const std::vector<uint8_t> &bytes) {
    expect_ok(rnnp_state_load(session_, row, bytes.data(), bytes.size()), "load");
  }

 private:
  static uint32_t own_threads(const Options &o) { return o.executor == nullptr ? o.threads : 1; }

  void make(const Options &o) {
    rnnp_session_options s;
    rnnp_session_options_init(&s, sizeof s);
    s.max_batch = o.batch;
    s.max_steps = o.max_steps;
    s.chunk_steps = o.chunk;
    s.isa_allowed = o.isa;
    s.l1d_bytes = s.l2_bytes = o.near_bytes;
    if (o.near_bytes != 0) s.l3_bytes = RNNP_CACHE_NONE;
    s.executor = o.executor != nullptr ? o.executor : o.threads > 1 ? team_.executor() : nullptr;
    s.flags = o.flags | (s.executor != nullptr && o.all_threads ? RNNP_SESSION_ALL_THREADS : 0u);
    expect_ok(rnnp_session_memory(model_, &s, &memory_), "memory");
    storage_ = AlignedBytes(memory_.session_bytes);
    std::memset(storage_.data(), 0xA5, storage_.size());
    expect_ok(rnnp_session_init(&session_, model_, &s, storage_.data(), storage_.size()), "init");
    in_ = facts(rnnp_model_get_input).row_elems;
    out_ = facts(rnnp_model_get_output).row_elems;
  }

  template <class F>
  rnnp_tensor_info facts(F ask) {
    rnnp_tensor_info f = RNNP_TENSOR_INFO_INIT;
    expect_ok(ask(model_, 0, &f), "tensor");
    return f;
  }

  AlignedBytes blob_, storage_;
  rnnp_model own_;
  const rnnp_model *model_ = &own_;
  rnnp_memory memory_ = RNNP_MEMORY_INIT;
  rnnp_session *session_ = nullptr;
  ThreadTeam team_;
  uint32_t batch_;
  size_t in_ = 0, out_ = 0;
};

inline std::vector<float> random_floats(size_t n, uint32_t seed, float bound = 1.0f) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-bound, bound);
  std::vector<float> v(n);
  for (float &e : v) e = uniform(rng);
  return v;
}

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_SESSION_FIXTURE_H_
