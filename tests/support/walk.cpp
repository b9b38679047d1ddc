// walk.cpp -- see walk.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/walk.h"

#include <algorithm>
#include <numeric>

#include "support/buffers.h"
#include "support/random_model.h"

namespace rnnp_test {
namespace {

constexpr uint32_t kMostSteps = 24, kMostWavefrontSteps = 400;
constexpr uint32_t kInputGap = 0x7fc0dead;  // as a float not a number, as an index out of every table
constexpr uint32_t kOutputGap = 0x5a5a5a5a;

template <class Ask>
std::vector<Port> ports(const rnnp_model *model, uint32_t count, Ask ask) {
  std::vector<Port> all;
  for (uint32_t i = 0; i < count; ++i) {
    rnnp_tensor_info f = RNNP_TENSOR_INFO_INIT;
    expect_ok(ask(model, i, &f), "tensor");
    all.push_back({f.role, f.row_elems, f.dtype, f.limit});
  }
  return all;
}

uint32_t bits_of(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

Options any_options(std::mt19937 &random, uint32_t batch, ThreadTeam *team) {
  Options o;
  o.batch = batch;
  o.max_steps = kMostSteps;
  o.chunk = below(random, 3) == 0 ? 0 : 1 + below(random, 7);
  o.executor = team != nullptr ? team->executor() : nullptr;
  o.all_threads = one_in(random, 2);
  return o;
}

Options plain_options() {
  Options o;
  o.max_steps = kMostSteps;
  o.chunk = 1;
  return o;
}

}  // namespace

Tensor::Tensor(const Port &port, size_t steps, uint32_t batch, bool sequence, uint32_t gap, std::mt19937 &random)
    : elems_(port.elems), batch_(batch), gap_(gap), steps_(sequence ? steps : 1) {
  const uint32_t pad = one_in(random, 2) && port.role != RNNP_ROLE_LENGTHS ? 1 + below(random, 3) : 0;
  row_words_ = elems_ + pad;
  step_words_ = sequence ? row_words_ * batch + (one_in(random, 3) ? 1 + below(random, 3) : 0) : 0;
  if (sequence && one_in(random, 3)) {  // all steps of a row together
    step_words_ = elems_ + pad;
    row_words_ = step_words_ * steps + below(random, 2);
  }
  const bool dense_rows = row_words_ == elems_ && one_in(random, 2);
  const bool dense_steps = step_words_ == row_words_ * batch && one_in(random, 2);
  // A stride that is not used may be anything that is a row at least.
  const size_t step_stride = dense_steps ? 0 : sequence ? step_words_ : elems_ + below(random, 9);
  words_.assign((steps_ - 1) * step_words_ + (batch - 1) * row_words_ + elems_, gap);
  buffer_ = {words_.data(), step_stride * sizeof(float), dense_rows ? 0 : row_words_ * sizeof(float)};
}

size_t Tensor::strays() {
  for (size_t step = 0; step < steps_; ++step)
    for (uint32_t r = 0; r < batch_; ++r) std::fill_n(row(step, r), elems_, gap_);
  return words_.size() - static_cast<size_t>(std::count(words_.begin(), words_.end(), gap_));
}

// One call of rnnp_run_io, and what the plain sessions gave for the same rows.
struct Walk::Given {
  size_t steps;
  uint32_t batch;
  bool last_step = false, has_lengths = false;
  std::vector<int32_t> lengths;
  std::vector<uint32_t> rows;
  std::vector<std::unique_ptr<Tensor>> in, out;  // nullptr: left out
  std::vector<std::vector<float>> want;          // of one row, packed; per output

  rnnp_io io(std::vector<rnnp_buffer> *buffers) const {
    for (const auto *list : {&in, &out})
      for (const auto &t : *list) buffers->push_back(t ? t->buffer() : rnnp_buffer{nullptr, 0, 0});
    rnnp_io io = RNNP_IO_INIT;
    io.flags = last_step ? RNNP_RUN_LAST_STEP : 0;
    io.steps = steps;
    io.batch = batch;
    io.input_count = static_cast<uint32_t>(in.size());
    io.output_count = static_cast<uint32_t>(out.size());
    io.lengths = has_lengths ? lengths.data() : nullptr;
    io.inputs = as_inputs(buffers->data());
    io.outputs = buffers->data() + in.size();
    return io;
  }
};

Walk::Walk(const rnnp_model *model, uint32_t seed, ThreadTeam *team) : random_(seed), batch_(1 + below(random_, 4)) {
  session_ = std::make_unique<Runner>(model, any_options(random_, batch_, team));
  for (uint32_t i = 0; i < batch_; ++i) plain_.push_back(std::make_unique<Runner>(model, plain_options()));
  rnnp_model_info f = RNNP_MODEL_INFO_INIT;
  expect_ok(rnnp_model_get_info(session_->model(), &f), "info");
  causal_ = f.causal != 0;
  in_place_ = f.in_place != 0;
  inputs_ = ports(session_->model(), f.input_count, rnnp_model_get_input);
  outputs_ = ports(session_->model(), f.output_count, rnnp_model_get_output);
  rnnp_session_info session = RNNP_SESSION_INFO_INIT;
  expect_ok(rnnp_session_get_info(session_->session(), &session), "session info");
  wavefront_steps_ = session.wavefront_steps;
  uint32_t required = 0;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    required += inputs_[i].role <= RNNP_ROLE_PER_RUN;
    if (inputs_[i].role == RNNP_ROLE_SEQUENCE) x_ = i;
  }
  simple_ = required == 1;
}

// Long enough for a wave now and then, where the session has one.
size_t Walk::some_steps() {
  if (wavefront_steps_ != 0 && wavefront_steps_ < kMostWavefrontSteps && one_in(random_, 3))
    return wavefront_steps_ + below(random_, 2 * kMostSteps);
  return one_in(random_, 3) ? 1 : 1 + below(random_, kMostSteps);
}

std::vector<uint32_t> Walk::some_rows(uint32_t count) {
  std::vector<uint32_t> rows(batch_);
  std::iota(rows.begin(), rows.end(), 0u);
  for (uint32_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + below(random_, batch_ - i)]);
  rows.resize(count);
  return rows;
}

// The same rows through the plain session of `row`; what it gives comes to lie in given->want.
void Walk::plain_run(Given *given, uint32_t slot, uint32_t row) {
  std::vector<std::vector<uint32_t>> packed;
  std::vector<rnnp_buffer> buffers;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const size_t steps = inputs_[i].role == RNNP_ROLE_SEQUENCE ? given->steps : 1;
    std::vector<uint32_t> words;
    for (size_t t = 0; t < steps && given->in[i]; ++t)
      words.insert(words.end(), given->in[i]->row(t, slot), given->in[i]->row(t, slot) + inputs_[i].elems);
    packed.push_back(words);
    buffers.push_back({given->in[i] ? packed.back().data() : nullptr, 0, 0});
  }
  given->want.clear();
  for (const Port &o : outputs_) {
    given->want.emplace_back(o.elems * (o.role == RNNP_ROLE_SEQUENCE ? given->steps : 1), -1.0f);
    buffers.push_back({given->want.back().data(), 0, 0});
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = given->steps;
  io.batch = 1;
  io.input_count = static_cast<uint32_t>(inputs_.size());
  io.output_count = static_cast<uint32_t>(outputs_.size());
  io.lengths = given->has_lengths ? given->lengths.data() + slot : nullptr;
  io.inputs = as_inputs(buffers.data());
  io.outputs = buffers.data() + inputs_.size();
  expect_ok(rnnp_run_io(plain_[row]->session(), &io), "plain run");
}

std::string Walk::compare(Given &given, uint32_t slot, uint32_t row) {
  size_t length = given.steps;
  if (given.has_lengths) {
    length = static_cast<size_t>(given.lengths[slot]);
  } else {
    for (uint32_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].role == RNNP_ROLE_LENGTHS && given.in[i]) length = *given.in[i]->row(0, slot);
  }
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    if (!given.out[i]) continue;
    const bool sequence = outputs_[i].role == RNNP_ROLE_SEQUENCE, last = sequence && given.last_step;
    for (size_t t = 0; t < (sequence && !last ? given.steps : 1); ++t) {
      std::vector<float> want(outputs_[i].elems, 0.0f);
      const size_t from = last ? length - 1 : t;
      if (!last || length != 0) std::copy_n(given.want[i].data() + from * outputs_[i].elems, outputs_[i].elems, want.data());
      if (std::memcmp(want.data(), given.out[i]->row(t, slot), want.size() * sizeof(float)) != 0)
        return "output " + std::to_string(i) + " row " + std::to_string(row) + " step " + std::to_string(t);
    }
  }
  return "";
}

std::string Walk::run_io() {
  Given g;
  g.steps = some_steps();
  g.batch = 1 + below(random_, batch_);
  g.last_step = one_in(random_, 5);
  g.has_lengths = one_in(random_, 4);
  for (uint32_t i = 0; i < g.batch; ++i)
    g.lengths.push_back(static_cast<int32_t>(below(random_, static_cast<uint32_t>(g.steps) + 1)));
  const bool named = one_in(random_, 2);
  if (named) {
    g.rows = some_rows(g.batch);
  } else {
    g.rows.resize(g.batch);
    std::iota(g.rows.begin(), g.rows.end(), 0u);
  }
  for (const Port &p : inputs_) {
    const bool left_out = p.role >= RNNP_ROLE_STATE && one_in(random_, 2);
    g.in.push_back(left_out ? nullptr
                            : std::make_unique<Tensor>(p, g.steps, g.batch, p.role == RNNP_ROLE_SEQUENCE, kInputGap, random_));
    const size_t steps = p.role == RNNP_ROLE_SEQUENCE ? g.steps : 1;
    for (size_t t = 0; t < steps && !left_out; ++t)
      for (uint32_t r = 0; r < g.batch; ++r)
        for (uint32_t k = 0; k < p.elems; ++k) {
          const uint32_t number = static_cast<uint32_t>(random_());
          uint32_t &word = g.in.back()->row(t, r)[k];
          if (p.role == RNNP_ROLE_LENGTHS) {
            word = number % (static_cast<uint32_t>(g.steps) + 1);
          } else if (p.limit != 0) {
            word = number % (2 * p.limit) - p.limit;
          } else {
            word = bits_of(static_cast<float>(number % 2001) * 1e-3f - 1.0f);
          }
        }
  }
  for (const Port &p : outputs_) {
    const bool sequence = p.role == RNNP_ROLE_SEQUENCE && !g.last_step;
    g.out.push_back(one_in(random_, 5) ? nullptr : std::make_unique<Tensor>(p, g.steps, g.batch, sequence, kOutputGap, random_));
  }
  std::vector<rnnp_buffer> buffers;
  rnnp_io io = g.io(&buffers);
  io.rows = named ? g.rows.data() : nullptr;
  done_ += " io(" + std::to_string(g.steps) + "x" + std::to_string(g.batch) + (g.has_lengths ? " lengths" : "") +
           (g.last_step ? " last" : "") + ")";
  const rnnp_status status = rnnp_run_io(session_->session(), &io);
  if (status != RNNP_OK) return rnnp_status_string(status);
  for (uint32_t slot = 0; slot < g.batch; ++slot) {
    plain_run(&g, slot, g.rows[slot]);
    const std::string wrong = compare(g, slot, g.rows[slot]);
    if (!wrong.empty()) return wrong;
  }
  for (const auto &t : g.out)
    if (t && t->strays() != 0) return "bytes that are not the call's were written";
  return "";
}

// rnnp_step and rnnp_run: all rows, packed, nothing but x and the first output.
std::string Walk::run_simple(bool step) {
  if (!simple_ || (step && !causal_)) return "";
  const size_t steps = step ? 1 : some_steps();
  Given g;
  g.steps = steps;
  g.batch = batch_;
  std::mt19937 packed(0);
  for (uint32_t i = 0; i < inputs_.size(); ++i) g.in.push_back(nullptr);
  for (uint32_t i = 0; i < outputs_.size(); ++i) g.out.push_back(nullptr);
  const Port &p = inputs_[x_];
  std::vector<uint32_t> x(steps * batch_ * p.elems);
  for (uint32_t &word : x) {
    const uint32_t number = static_cast<uint32_t>(random_());
    word = p.limit != 0 ? number % (2 * p.limit) - p.limit : bits_of(static_cast<float>(number % 2001) * 1e-3f - 1.0f);
  }
  const bool sequence = outputs_[0].role == RNNP_ROLE_SEQUENCE;
  std::vector<float> y(outputs_[0].elems * batch_ * (sequence ? steps : 1), -3.0f);
  const bool same = steps != 0 && in_place_ && one_in(random_, 3);
  std::vector<uint32_t> memory(x);
  if (same) memory.resize(std::max(x.size(), y.size()));
  void *to = same ? static_cast<void *>(memory.data()) : y.data();
  done_ += (step ? " step" : " run(" + std::to_string(steps) + ")") + std::string(same ? " in place" : "");
  const rnnp_status status =
      step ? rnnp_step(session_->session(), memory.data(), to) : rnnp_run(session_->session(), steps, memory.data(), to);
  if (status != RNNP_OK) return rnnp_status_string(status);
  if (same) std::memcpy(y.data(), to, y.size() * sizeof(float));
  for (uint32_t row = 0; row < batch_; ++row) {
    Port one = p;
    g.in[x_] = std::make_unique<Tensor>(one, steps, 1, true, kInputGap, packed);
    for (size_t t = 0; t < steps; ++t) std::copy_n(x.data() + (t * batch_ + row) * p.elems, p.elems, g.in[x_]->row(t, 0));
    plain_run(&g, 0, row);
    const uint32_t n = outputs_[0].elems;
    for (size_t t = 0; t < (sequence ? steps : 1); ++t)
      if (std::memcmp(g.want[0].data() + t * n, y.data() + (t * batch_ + row) * n, n * sizeof(float)) != 0)
        return "row " + std::to_string(row) + " step " + std::to_string(t);
  }
  return "";
}

std::string Walk::move_state() {
  const uint32_t row = below(random_, batch_), to = below(random_, batch_);
  if (one_in(random_, 3)) {
    const bool all = one_in(random_, 3);
    done_ += " reset";
    expect_ok(rnnp_state_reset(session_->session(), all ? RNNP_ALL_ROWS : row), "reset");
    for (uint32_t i = 0; i < batch_; ++i)
      if (all || i == row) expect_ok(rnnp_state_reset(plain_[i]->session(), 0), "reset");
    return "";
  }
  done_ += " move";
  session_->load(to, session_->save(row));
  plain_[to]->load(0, plain_[row]->save(0));
  return "";
}

// Calls that must be refused and change nothing.
std::string Walk::refuse() {
  const Port &p = inputs_[x_];
  std::vector<uint32_t> x(batch_ * p.elems * 2, p.limit != 0 ? 0 : bits_of(0.25f));
  std::vector<float> y(256 * 64, -9.0f);
  std::vector<rnnp_const_buffer> in(inputs_.size(), rnnp_const_buffer{nullptr, 0, 0});
  std::vector<rnnp_buffer> out(outputs_.size(), rnnp_buffer{nullptr, 0, 0});
  for (uint32_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].role == RNNP_ROLE_PER_RUN) in[i].data = y.data();
  in[x_].data = x.data();
  out[0].data = y.data();
  std::vector<int32_t> lengths(batch_, 1);
  std::vector<uint32_t> rows(batch_, 0);
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 1;
  io.batch = batch_;
  io.input_count = static_cast<uint32_t>(in.size());
  io.output_count = static_cast<uint32_t>(out.size());
  io.inputs = in.data();
  io.outputs = out.data();
  switch (below(random_, p.limit != 0 ? 9 : 8)) {
    case 0:
      io.batch = one_in(random_, 2) ? 0 : batch_ + 1;
      break;
    case 1:
      lengths.back() = one_in(random_, 2) ? 2 : -1;
      io.lengths = lengths.data();
      break;
    case 2:
      in[x_].row_stride_bytes = p.elems * 4 - 4;
      if (in[x_].row_stride_bytes == 0) in[x_].row_stride_bytes = 2;
      break;
    case 3:
      if (batch_ > 1) {
        out[0].row_stride_bytes = SIZE_MAX / 4 * 4;
      } else {
        out[0].data = reinterpret_cast<uint8_t *>(y.data()) + 2;
      }
      break;
    case 4:
      if (batch_ > 1) {
        io.rows = rows.data();
      } else {
        rows[0] = batch_;
        io.rows = rows.data();
      }
      break;
    case 5:
      in[x_].data = nullptr;
      break;
    case 6:
      io.flags = 1u << 20;
      break;
    case 7:
      io.output_count += 1;
      break;
    default:  // an index out of its table, in the last row of a strided input
      in[x_].row_stride_bytes = p.elems * 8;
      x[(batch_ - 1) * p.elems * 2 + p.elems - 1] = p.limit;
  }
  done_ += " refused";
  const std::vector<float> before = y;
  if (rnnp_run_io(session_->session(), &io) == RNNP_OK) return "a wrong call was not refused";
  return before == y ? "" : "a refused call wrote an output";
}

std::string Walk::compare_states() {
  for (uint32_t i = 0; i < batch_; ++i)
    if (session_->save(i) != plain_[i]->save(0)) return "state of row " + std::to_string(i);
  return "";
}

std::string Walk::act() {
  switch (below(random_, 10)) {
    case 0:
    case 1:
      return run_simple(true);
    case 2:
    case 3:
      return run_simple(false);
    case 4:
      return move_state();
    case 5:
      return refuse();
    default:
      return run_io();
  }
}

std::string Walk::go(uint32_t calls) {
  std::string wrong;
  for (uint32_t i = 0; i < calls && wrong.empty(); ++i) {
    wrong = act();
    if (wrong.empty()) wrong = compare_states();
  }
  return wrong.empty() ? "" : wrong + " after" + done_;
}

}  // namespace rnnp_test
