// walk.h -- a random walk over the API: sessions of one model with options of every kind; steps, runs, calls with strides, rows and
// lengths, runs cut into pieces; states that are saved, loaded and reset; calls that must be refused and change nothing. What a
// walk's numbers are and what its calls must give says a checker. Choices come from a seed or from a fuzzer's bytes.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_WALK_H_
#define RNNPACK_TESTS_SUPPORT_WALK_H_

#include <stdexcept>
#include <string>
#include <vector>

#include "support/call_tensor.h"

namespace rnnp_test {

// The library did what it must not.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr size_t kNoStream = SIZE_MAX, kNoEnd = SIZE_MAX;

// A sequence that arrives over time: a batch row of one of the sessions.
struct Stream {
  size_t session = 0;
  uint32_t row = 0;
};

struct Call {
  size_t session = 0, steps = 0;
  bool plain = false;  // rnnp_run or rnnp_step: all rows of the session
  bool last_step = false;
  std::vector<size_t> streams;   // of each batch row; kNoStream: a row without one
  std::vector<int32_t> lengths;  // empty: none are given
  std::vector<CallTensor> in, out;

  void expect_untouched() const;  // its outputs
};

// The call as rnnp_run_io takes it. `named`: with the numbers of its rows even where they are the first ones.
struct CallIo {
  CallIo(const Call &call, const std::vector<Stream> &streams, bool named, WalkMemory *memory);
  std::vector<rnnp_buffer> in, out;
  std::vector<uint32_t> rows;
  rnnp_io io = RNNP_IO_INIT;
};

class Checker {
 public:
  virtual ~Checker() = default;
  virtual size_t steps_left(size_t) const { return kNoEnd; }
  // Whether both may take part in one call.
  virtual bool together(size_t, size_t) const { return true; }
  // Whether optional input `input` is given; `drawn` is as likely as not.
  virtual bool gives(const Call &, size_t input, bool drawn) const { return (void)input, drawn; }
  virtual std::vector<int32_t> lengths(const Call &call, rnnp_fuzz::ByteSource *choices) const;
  // The numbers of batch row `row` at `step` of a call.
  virtual void fill(const Call &call, size_t input, size_t row, size_t step, uint32_t *words) = 0;
  // A call came back with RNNP_OK.
  virtual void called(const Call &) {}
  virtual void reset(size_t) {}
  virtual void copied(size_t from, size_t to) { (void)from, (void)to; }
  // A stream's saved state, after every action where the rules ask for it.
  virtual void state(size_t, const std::vector<uint8_t> &) {}
};

struct WalkRules {
  size_t streams = 1;  // of a model that has no fixed batch
  uint32_t most_sessions = 3, most_steps = 24;
  uint64_t most_tensor_bytes = 16 << 20;
  uint32_t isa_allowed = 0, flags = 0;                    // of every session
  std::vector<const rnnp_executor *> executors{nullptr};  // one is drawn for each session
  bool plain = true, last_step = true;                    // calls of this kind
  bool endless = true;                                    // streams may be reset, and take over the state of others
  bool states = false;                                    // checker->state
  bool wild = false;                                      // options, tensors and states that the model may refuse
};

class Walk {
 public:
  Walk(const rnnp_model *model, const WalkRules &rules, rnnp_fuzz::ByteSource *choices, WalkMemory *memory, Checker *checker);
  // Asks what the model is and makes sessions. False: there are none, which wild rules allow.
  bool make();
  // Until so many actions are done or all streams have ended.
  void go(uint32_t actions);
  uint32_t ran() const { return ran_; }  // calls that ran steps

 private:
  struct Place {
    rnnp_session *session;
    rnnp_memory need;
    uint32_t max_steps, wavefront_steps;
    std::vector<size_t> rows;  // the stream in each
  };
  template <class T, class Ask>
  rnnp_status facts(T *out, Ask ask);
  bool ask();
  rnnp_session_options draw_options(rnnp_executor *executor);
  void draw_wild(rnnp_session_options *options, rnnp_executor *executor);
  void make_session();
  void place_streams();
  bool take_row(size_t stream, size_t session);
  std::vector<size_t> open_streams() const;
  size_t draw_steps(size_t left, const Place &place);
  bool fits_plain(const Call &call, size_t one) const;
  void draw_rows(Call *call, size_t one, const std::vector<size_t> &open);
  bool draw_call(Call *call, bool plain);
  CallTensor::Shape shape(const Call &call, const rnnp_tensor_info &facts, bool output) const;
  bool place_tensors(Call *call);
  rnnp_status perform(const Call &call);
  void run(bool plain);
  void move_streams();
  void copy_state();
  void reset();
  void misuse_call();
  void misuse_plain(const Call &call);
  void misuse_state();
  void misuse_init(const rnnp_session_options *options, uint8_t *memory, size_t bytes);
  rnnp_status explain_and_init(rnnp_session **session, const rnnp_session_options *options, uint8_t *memory, size_t bytes);
  void act();

  uint8_t *take(size_t bytes, size_t align = 4) { return memory_.take(bytes, align, c_.once_in(2)); }
  void say(const std::string &what) { done_ += " " + what; }

  const rnnp_model *model_;
  WalkRules rules_;
  rnnp_fuzz::ByteSource &c_;
  WalkMemory &memory_;
  Checker &checker_;
  rnnp_model_info info_ = RNNP_MODEL_INFO_INIT;
  std::vector<rnnp_tensor_info> inputs_, outputs_;
  size_t x_ = SIZE_MAX;  // the sequence input of rnnp_run, where the model has one
  std::vector<Place> places_;
  std::vector<Stream> streams_;
  uint32_t ran_ = 0;
  std::string done_;
};

// A call that must be refused came back with `status`.
void expect_refused(rnnp_status status, const std::string &what);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_WALK_H_
