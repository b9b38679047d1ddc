// walk.cpp -- see walk.h. What must be refused is in walk_misuse.cpp.
// SPDX-License-Identifier: Apache-2.0
#define RNNP_NODISCARD  // refusals are tried, too
#include "support/walk.h"

#include <algorithm>
#include <cstring>

#include "support/buffers.h"
#include "support/session_fixture.h"

namespace rnnp_test {
namespace {

constexpr uint32_t kMostTensors = 16;
constexpr size_t kMostRows = 64;  // of one session
constexpr uint32_t kMostWavefrontSteps = 400;
constexpr uint32_t kInputGap = 0x7fc0dead;  // as a float not a number, as an index out of every table
constexpr uint32_t kOutputGap = 0x5a5a5a5a;

bool is_required(const rnnp_tensor_info &facts) {
  return facts.role == RNNP_ROLE_SEQUENCE || facts.role == RNNP_ROLE_PER_RUN;
}

template <class T>
T *copied(const std::vector<T> &list, WalkMemory *memory) {
  if (list.empty()) return nullptr;
  auto *at = reinterpret_cast<T *>(memory->take(list.size() * sizeof(T), sizeof(T), true));
  return at == nullptr ? nullptr : std::copy(list.begin(), list.end(), at) - list.size();
}

}  // namespace

void expect_refused(rnnp_status status, const std::string &what) {
  if (status == RNNP_OK) throw Wrong("was not refused: " + what);
}

CallIo::CallIo(const Call &call, const std::vector<Stream> &streams, bool named, WalkMemory *memory) {
  for (const CallTensor &t : call.in) in.push_back(t.buffer());
  for (const CallTensor &t : call.out) out.push_back(t.buffer());
  for (size_t s : call.streams) {
    named = named || streams[s].row != rows.size();
    rows.push_back(streams[s].row);
  }
  io.flags = call.last_step ? RNNP_RUN_LAST_STEP : 0;
  io.steps = call.steps;
  io.batch = static_cast<uint32_t>(call.streams.size());
  io.input_count = static_cast<uint32_t>(in.size());
  io.output_count = static_cast<uint32_t>(out.size());
  io.inputs = as_inputs(in.data());
  io.outputs = out.data();
  io.lengths = copied(call.lengths, memory);
  if (named) io.rows = copied(rows, memory);
}

std::vector<int32_t> Checker::lengths(const Call &call, rnnp_fuzz::ByteSource *choices) const {
  std::vector<int32_t> all;
  if (choices->once_in(4))
    for (size_t i = 0; i < call.streams.size(); ++i)
      all.push_back(static_cast<int32_t>(choices->below(static_cast<uint32_t>(call.steps) + 1)));
  return all;
}

Walk::Walk(const rnnp_model *model, const WalkRules &rules, rnnp_fuzz::ByteSource *choices, WalkMemory *memory, Checker *checker)
    : model_(model), rules_(rules), c_(*choices), memory_(*memory), checker_(*checker) {}

// Facts, now and then also into a struct of another size.
template <class T, class Ask>
rnnp_status Walk::facts(T *out, Ask ask) {
  *out = {};
  out->struct_bytes = sizeof *out;
  if (c_.once_in(32)) {
    const uint32_t bytes = c_.of({0u, 3u, 4u, 8u, uint32_t(sizeof *out) - 4u, uint32_t(sizeof *out)});
    const WalkMemory::Mark mark = memory_.mark();
    uint8_t *part = take(bytes < 4 ? 4 : bytes, 8);
    if (part != nullptr) {
      std::memcpy(part, &bytes, sizeof bytes);
      (void)ask(reinterpret_cast<T *>(part));
    }
    memory_.release(mark);
    expect_refused(ask(nullptr), "facts into nothing");
  }
  return ask(out);
}

bool Walk::ask() {
  if (facts(&info_, [&](rnnp_model_info *f) { return rnnp_model_get_info(model_, f); }) != RNNP_OK) return false;
  if (info_.input_count > kMostTensors || info_.output_count > kMostTensors || info_.fixed_batch > kMostRows) return false;
  rnnp_tensor_info f;
  for (uint32_t i = 0; i < info_.input_count; ++i) {
    if (facts(&f, [&](rnnp_tensor_info *t) { return rnnp_model_get_input(model_, i, t); }) != RNNP_OK) return false;
    inputs_.push_back(f);
  }
  for (uint32_t i = 0; i < info_.output_count; ++i) {
    if (facts(&f, [&](rnnp_tensor_info *t) { return rnnp_model_get_output(model_, i, t); }) != RNNP_OK) return false;
    outputs_.push_back(f);
  }
  expect_refused(rnnp_model_get_input(model_, info_.input_count, &f), "an input that is not there");
  expect_refused(rnnp_model_get_output(model_, info_.output_count, &f), "an output that is not there");
  const auto required = std::count_if(inputs_.begin(), inputs_.end(), is_required);
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (required == 1 && inputs_[i].role == RNNP_ROLE_SEQUENCE && !outputs_.empty()) x_ = i;
  return true;
}

bool Walk::make() {
  if (!ask()) return rules_.wild ? false : throw Wrong("the model tells nothing of itself");
  streams_.resize(info_.fixed_batch != 0 ? info_.fixed_batch : rules_.streams);
  const uint32_t count = c_.once_in(2) ? c_.range(1, rules_.most_sessions) : 1;
  for (uint32_t i = 0; i < count; ++i) make_session();
  if (!places_.empty()) place_streams();
  return !places_.empty();
}

rnnp_session_options Walk::draw_options(rnnp_executor *executor) {
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  o.max_batch = static_cast<uint32_t>(streams_.size()) + (info_.fixed_batch != 0 ? 0 : c_.of({0u, 0u, 1u, 2u}));
  o.max_steps = rules_.most_steps + c_.below(3);
  o.chunk_steps = c_.of({0u, 0u, 1u, 2u, 3u, 5u, 8u});
  o.isa_allowed = rules_.isa_allowed;
  o.flags = rules_.flags | (c_.once_in(3) ? 0u : RNNP_SESSION_ALL_THREADS);
  o.executor = rules_.executors[c_.below(static_cast<uint32_t>(rules_.executors.size()))];
  if (c_.once_in(4)) {
    o.l1d_bytes = c_.of({0u, 1u, 4096u, RNNP_CACHE_NONE});
    o.l2_bytes = c_.of({0u, 1u, 4096u, RNNP_CACHE_NONE});
    o.l3_bytes = c_.of({0u, 1u, 4096u, RNNP_CACHE_NONE});
  }
  if (rules_.wild) draw_wild(&o, executor);
  return o;
}

void Walk::make_session() {
  rnnp_executor executor = RNNP_EXECUTOR_INIT;
  const rnnp_session_options o = draw_options(&executor);
  const rnnp_session_options *given = rules_.wild && c_.once_in(32) ? nullptr : &o;
  Place place = {nullptr, RNNP_MEMORY_INIT, o.max_steps, 0, {}};
  rnnp_status status = rnnp_session_memory(model_, given, &place.need);
  if (status == RNNP_OK) {
    uint8_t *at = take(place.need.session_bytes, place.need.alignment);
    if (at == nullptr) return;
    std::memset(at, 0xA5, place.need.session_bytes);
    misuse_init(given, at, place.need.session_bytes);
    status = explain_and_init(&place.session, given, at, place.need.session_bytes);
  }
  rnnp_session_info made;
  if (status == RNNP_OK) status = facts(&made, [&](rnnp_session_info *f) { return rnnp_session_get_info(place.session, f); });
  if (status != RNNP_OK && !rules_.wild) throw Wrong(std::string("no session: ") + rnnp_status_string(status));
  if (status != RNNP_OK || made.max_batch > kMostRows) return;
  place.wavefront_steps = made.wavefront_steps;
  place.rows.assign(made.max_batch, kNoStream);
  places_.push_back(place);
  say("session(" + std::to_string(made.max_batch) + " rows, chunks of " + std::to_string(made.chunk_steps) + ", " +
      std::to_string(made.threads) + " threads, flags " + std::to_string(o.flags) + ")");
}

bool Walk::take_row(size_t stream, size_t session) {
  std::vector<uint32_t> free;
  std::vector<size_t> &rows = places_[session].rows;
  for (uint32_t row = 0; row < rows.size(); ++row)
    if (rows[row] == kNoStream) free.push_back(row);
  if (free.empty()) return false;
  const uint32_t row = info_.fixed_batch != 0 || c_.once_in(2) ? free[0] : free[c_.below(static_cast<uint32_t>(free.size()))];
  streams_[stream].session = session;
  streams_[stream].row = row;
  rows[row] = stream;
  return true;
}

void Walk::place_streams() {
  const uint32_t count = static_cast<uint32_t>(places_.size()), home = c_.below(count);
  for (size_t i = 0; i < streams_.size(); ++i)
    if (!take_row(i, info_.fixed_batch != 0 ? home : c_.below(count))) return streams_.resize(i);
}

std::vector<size_t> Walk::open_streams() const {
  std::vector<size_t> open;
  for (size_t i = 0; i < streams_.size(); ++i)
    if (checker_.steps_left(i) != 0) open.push_back(i);
  return open;
}

// A sequence that ends goes in pieces; long calls run as a layer pipeline, where the session has one.
size_t Walk::draw_steps(size_t left, const Place &place) {
  if (left != kNoEnd && (info_.causal == 0 || c_.once_in(4))) return left;
  if (left == kNoEnd && place.wavefront_steps != 0 && place.wavefront_steps < kMostWavefrontSteps && c_.once_in(3))
    return place.wavefront_steps + c_.below(2 * rules_.most_steps);
  const size_t longest = info_.causal != 0 || place.max_steps == 0 ? rules_.most_steps : place.max_steps;
  const uint32_t most = static_cast<uint32_t>(std::min<size_t>({left, rules_.most_steps, longest}));
  if (left == kNoEnd && c_.once_in(32)) return 0;
  return c_.once_in(3) ? 1 : c_.range(1, c_.once_in(3) ? std::min(most, 3u) : most);
}

bool Walk::fits_plain(const Call &call, size_t one) const {
  if (x_ == SIZE_MAX || !rules_.plain) return false;
  for (size_t s : call.streams)
    if (s != kNoStream && !checker_.together(one, s)) return false;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (i != x_ && checker_.gives(call, i, false)) return false;
  return true;
}

// Some streams of the session, in any order, or those of its first rows.
void Walk::draw_rows(Call *call, size_t one, const std::vector<size_t> &open) {
  const bool in_order = c_.once_in(3), all = in_order || c_.once_in(3);
  call->streams.clear();
  for (size_t s : open)
    if (streams_[s].session == call->session && checker_.together(one, s) && (s == one || all || c_.once_in(2)))
      call->streams.push_back(s);
  std::vector<size_t> &who = call->streams;
  std::sort(who.begin(), who.end(), [&](size_t a, size_t b) { return streams_[a].row < streams_[b].row; });
  size_t leading = 0;
  while (leading < who.size() && streams_[who[leading]].row == leading) ++leading;
  if (in_order && leading != 0) return who.resize(c_.range(1, static_cast<uint32_t>(leading)));
  for (size_t i = who.size(); i > 1; --i) std::swap(who[i - 1], who[c_.below(static_cast<uint32_t>(i))]);
}

// False: there is no room for its tensors.
bool Walk::draw_call(Call *call, bool plain) {
  const std::vector<size_t> open = open_streams();
  const size_t one = open[c_.below(static_cast<uint32_t>(open.size()))];
  call->session = streams_[one].session;
  const Place &place = places_[call->session];
  call->streams = place.rows;
  call->plain = plain && fits_plain(*call, one);
  if (!call->plain && info_.fixed_batch == 0) draw_rows(call, one, open);
  size_t left = kNoEnd;
  for (size_t s : call->streams)
    if (s != kNoStream) left = std::min(left, checker_.steps_left(s));
  call->steps = draw_steps(left, place);
  if (!call->plain) {
    call->lengths = checker_.lengths(*call, &c_);
    call->last_step = rules_.last_step && c_.once_in(6);
  }
  return place_tensors(call);
}

CallTensor::Shape Walk::shape(const Call &call, const rnnp_tensor_info &f, bool output) const {
  const bool sequence = f.role == RNNP_ROLE_SEQUENCE && !(output && call.last_step);
  return {f.row_elems,
          call.steps,
          call.streams.size(),
          sequence,
          call.plain || f.role == RNNP_ROLE_LENGTHS,
          output ? kOutputGap : kInputGap};
}

bool Walk::place_tensors(Call *call) {
  const bool same = call->plain && info_.in_place != 0 && c_.once_in(3);
  call->in.resize(inputs_.size());
  call->out.resize(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!(is_required(inputs_[i]) || (!call->plain && checker_.gives(*call, i, c_.once_in(2))))) continue;
    CallTensor::Shape s = shape(*call, inputs_[i], false);
    if (same) s.also_words = outputs_[0].row_elems * call->streams.size() * (call->steps + 1);
    if (!call->in[i].place(s, rules_.most_tensor_bytes, &memory_, &c_)) return false;
    for (size_t step = 0; step < (inputs_[i].role == RNNP_ROLE_SEQUENCE ? call->steps : 1); ++step)
      for (size_t row = 0; row < call->streams.size(); ++row) checker_.fill(*call, i, row, step, call->in[i].row(step, row));
  }
  for (size_t i = 0; i < (call->plain ? 1 : outputs_.size()); ++i) {
    const CallTensor::Shape s = shape(*call, outputs_[i], true);
    if (same) {
      call->out[i].place_on(s, call->in[x_]);
    } else if (call->plain || !c_.once_in(6)) {
      if (!call->out[i].place(s, rules_.most_tensor_bytes, &memory_, &c_)) return false;
    }
  }
  return true;
}

rnnp_status Walk::perform(const Call &call) {
  rnnp_session *session = places_[call.session].session;
  if (call.plain) {
    const void *x = call.in[x_].buffer().data;
    void *y = call.out[0].buffer().data;
    return call.steps == 1 && info_.causal != 0 && c_.once_in(2) ? rnnp_step(session, x, y) : rnnp_run(session, call.steps, x, y);
  }
  CallIo given(call, streams_, info_.fixed_batch == 0 && c_.once_in(2), &memory_);
  // The oldest header's struct has no rows.
  if (given.io.rows == nullptr && c_.once_in(16)) given.io.struct_bytes = offsetof(rnnp_io, rows);
  return rnnp_run_io(session, &given.io);
}

void Walk::run(bool plain) {
  Call call;
  if (!draw_call(&call, plain)) return;
  say((call.plain ? "run(" : "io(") + std::to_string(call.steps) + "x" + std::to_string(call.streams.size()) +
      (call.lengths.empty() ? "" : " lengths") + (call.last_step ? " last" : "") +
      (!call.out.empty() && call.out[0].shared() ? " in place" : "") + ")");
  const rnnp_status status = perform(call);
  if (status != RNNP_OK && !rules_.wild)
    throw Wrong(std::string(rnnp_status_string(status)) + ": " + rnnp_session_last_error(places_[call.session].session));
  if (status != RNNP_OK || call.steps == 0) return call.expect_untouched();
  ++ran_;
  checker_.called(call);
  for (CallTensor &t : call.out)
    if (t.given() && !t.shared() && t.strays() != 0) throw Wrong("bytes that are not the call's were written");
  for (size_t s : call.streams) {
    if (s != kNoStream && checker_.steps_left(s) == 0) places_[call.session].rows[streams_[s].row] = kNoStream;
  }
}

// States leave a session as bytes and go on in another row or session; all rows of a fixed batch at once.
void Walk::move_streams() {
  const uint32_t count = static_cast<uint32_t>(places_.size());
  const size_t from = c_.below(count), to = c_.below(count);
  for (size_t s : open_streams()) {
    if (streams_[s].session != from || (info_.fixed_batch == 0 && c_.once_in(2))) continue;
    const uint32_t row = streams_[s].row;
    uint8_t *state = take(places_[from].need.state_bytes);
    if (state == nullptr) return;
    places_[from].rows[row] = kNoStream;
    if (!take_row(s, to)) {
      places_[from].rows[row] = s;
      continue;
    }
    say("move");
    const size_t bytes = places_[from].need.state_bytes;
    expect_ok(rnnp_state_save(places_[from].session, row, state, bytes), "save");
    expect_ok(rnnp_state_load(places_[to].session, streams_[s].row, state, bytes), "load");
  }
}

void Walk::copy_state() {
  const uint32_t count = static_cast<uint32_t>(streams_.size()), from = c_.below(count), to = c_.below(count);
  const Stream &a = streams_[from], &b = streams_[to];
  const size_t bytes = places_[a.session].need.state_bytes;
  uint8_t *state = take(bytes);
  if (state == nullptr) return;
  say("copy");
  expect_ok(rnnp_state_save(places_[a.session].session, a.row, state, bytes), "save");
  if (rules_.wild && c_.once_in(8)) state[c_.below(static_cast<uint32_t>(bytes))] ^= 4;
  const rnnp_status status = rnnp_state_load(places_[b.session].session, b.row, state, bytes);
  if (!rules_.wild) expect_ok(status, "load");
  checker_.copied(from, to);
}

void Walk::reset() {
  const uint32_t one = c_.below(static_cast<uint32_t>(streams_.size()));
  const bool all = c_.once_in(3);
  const Stream &stream = streams_[one];
  say("reset");
  expect_ok(rnnp_state_reset(places_[stream.session].session, all ? RNNP_ALL_ROWS : stream.row), "reset");
  for (size_t i = 0; i < streams_.size(); ++i)
    if (i == one || (all && streams_[i].session == stream.session)) checker_.reset(i);
}

void Walk::act() {
  const WalkMemory::Mark mark = memory_.mark();
  switch (c_.below(12)) {
    case 0:
    case 1:
    case 2:
      run(true);
      break;
    case 3:
      rules_.endless &&c_.once_in(2) ? copy_state() : move_streams();
      break;
    case 4:
      rules_.endless &&c_.once_in(2) ? reset() : move_streams();
      break;
    case 5:
      c_.once_in(4) ? misuse_state() : misuse_call();
      break;
    default:
      run(false);
  }
  memory_.release(mark);
  for (size_t i = 0; rules_.states && i < streams_.size(); ++i) {
    const Place &place = places_[streams_[i].session];
    std::vector<uint8_t> state(place.need.state_bytes);
    expect_ok(rnnp_state_save(place.session, streams_[i].row, state.data(), state.size()), "save");
    checker_.state(i, state);
  }
}

void Walk::go(uint32_t actions) {
  try {
    for (uint32_t i = 0; i < actions && !open_streams().empty(); ++i) act();
  } catch (const std::runtime_error &wrong) {
    throw Wrong(std::string(wrong.what()) + " after" + done_);
  }
}

}  // namespace rnnp_test
