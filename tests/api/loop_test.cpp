// loop_test.cpp -- loops inside a chunk: the bits of a model that goes through all nodes step by step, whatever the chunks,
// threads, cuts, rows, layouts and lengths; models that look ahead outside of their loops beside plain sums.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "rnnpack/trace.h"
#include "support/session_fixture.h"

namespace loop_test {

using namespace rnnp_test;
using rnnp::kNone;

constexpr uint32_t kIn = 6, kUnits = 8, kOut = 5;
constexpr uint32_t kHeads[] = {1, 8}, kEnds[] = {7, 12}, kNodes = 13;

uint32_t binary(BlobBuilder *b, rnnp::Binary op, uint32_t left, uint32_t right) {
  const rnnp::AttrBinary attr = {uint32_t(op), 1, {b->elems_of(left)}, {1}, {1}};
  return b->add_node(rnnp::OpKind::kBinary, &attr, sizeof attr, {left, right}, b->elems_of(left), true);
}

RecurrentOptions gru_of(uint32_t hidden) {
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = hidden;
  return gru;
}

// GRU -> loop with a dense layer -> dense -> loop with a GRU -> GRU, as loops or as a model whose chunks have one step. What the
// first layer makes two nodes of the first loop read; `d` leaves it, as an output and for the layer behind it.
std::vector<uint8_t> two_loops(bool loops) {
  BlobBuilder b(31);
  const uint32_t x = b.add_input(kIn), start = b.add_state_input(kUnits, "start"), lengths = b.add_lengths_input();
  const uint32_t g = b.add_recurrent(x, kIn, gru_of(kUnits), nullptr, nullptr, {kNone, kNone, lengths});
  uint32_t first, second;
  if (loops) b.begin_loop();
  const uint32_t before = b.add_state_read(kUnits, &first, start), a = binary(&b, rnnp::Binary::kAdd, before, g);
  const uint32_t d = b.add_dense(a, kUnits, kUnits, rnnp::Act::kTanh), m = binary(&b, rnnp::Binary::kMul, d, g);
  b.place_over(m, a);
  const uint32_t after = binary(&b, rnnp::Binary::kSub, m, before);
  b.add_state_write(first, after, lengths);
  if (loops) b.end_loop();
  const uint32_t between = b.add_dense(d, kUnits, kUnits);
  if (loops) b.begin_loop();
  const uint32_t kept = b.add_state_read(kUnits, &second), e = binary(&b, rnnp::Binary::kAdd, kept, between);
  const uint32_t r = b.add_recurrent(e, kUnits, gru_of(kUnits), nullptr, nullptr, {kNone, kNone, lengths});
  b.add_state_write(second, r, lengths);
  if (loops) b.end_loop();
  b.add_output(b.add_recurrent(r, kUnits, gru_of(kOut), nullptr, nullptr, {kNone, kNone, lengths}), "y");
  b.add_output(d, "d");
  b.add_output(kept, "kept");
  return b.build();
}

TEST(Loop, GivesTheSameBitsWhateverTheChunk) {
  constexpr size_t kSteps = 23;
  for (const uint32_t batch : {1u, 3u}) {
    const std::vector<float> x = random_floats(kSteps * batch * kIn, 5);
    Runner stepwise(two_loops(false), {batch, 0, 64});
    const std::vector<float> want = stepwise.run(x);
    for (const uint32_t chunk : {1u, 2u, 5u, 64u})
      for (const uint32_t threads : {1u, 2u, 3u})
        for (const size_t cut : {size_t{0}, size_t{1}, size_t{7}}) {
          if (threads > 2 && chunk != 5) continue;
          Runner loops(two_loops(true), {batch, 0, chunk, 0, threads});
          EXPECT_EQ(want, loops.run(x, cut)) << batch << " rows, chunks of " << chunk << ", " << threads << " threads, cut " << cut;
        }
  }
}

// --- Calls of every form, beside the same calls of the stepwise model
// -------------------------------------------------------------

constexpr uint32_t kRows = 4, kOutputs = 3;
constexpr uint32_t kOutputElems[kOutputs] = {kOut, kUnits, kUnits};

struct Layout {
  bool given, by_row;  // by_row: [row][step], with a gap behind each
};

struct RandomCall {
  size_t steps;
  uint32_t batch, flags;
  std::vector<uint32_t> rows;
  std::vector<int32_t> call_lengths, own_lengths;  // empty: none
  bool starts;
  Layout input, outputs[kOutputs];
  std::vector<float> x, start;
};

RandomCall draw(std::mt19937 *rng) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>((*rng)()) % n; };
  RandomCall c = {};
  c.steps = 1 + below(11);
  c.batch = 1 + below(kRows);
  c.rows = {0, 1, 2, 3};
  std::shuffle(c.rows.begin(), c.rows.end(), *rng);
  c.rows.resize(c.batch);
  if (below(2) == 0) c.rows.clear();
  for (std::vector<int32_t> *lengths : {&c.call_lengths, &c.own_lengths}) {
    for (uint32_t i = 0; i < c.batch; ++i) lengths->push_back(static_cast<int32_t>(below(static_cast<uint32_t>(c.steps) + 1)));
    if (below(3) != 0) lengths->clear();
  }
  c.starts = below(4) == 0;
  c.input = {true, below(2) == 0};
  for (Layout &output : c.outputs) output = {below(4) != 0, below(2) == 0};
  c.flags = below(5) == 0 ? RNNP_RUN_LAST_STEP : 0;
  c.x = random_floats(2 * c.steps * c.batch * kIn, below(1u << 31));
  c.start = random_floats(c.batch * kUnits, below(1u << 31));
  return c;
}

template <class Buffer, class Data>
Buffer buffer_of(Data *data, const Layout &layout, uint32_t elems, size_t steps) {
  if (!layout.by_row) return {data, 0, 0};
  return {data, elems * sizeof(float), (steps * elems + 3) * sizeof(float)};
}

// What each output holds, -77 where nothing was written.
std::vector<std::vector<float>> run(rnnp_session *session, const RandomCall &c) {
  std::vector<std::vector<float>> y(kOutputs);
  rnnp_buffer outputs[kOutputs] = {};
  for (uint32_t i = 0; i < kOutputs; ++i) {
    y[i].assign(c.batch * (c.steps * kOutputElems[i] + 3), -77.0f);
    if (c.outputs[i].given) outputs[i] = buffer_of<rnnp_buffer>(y[i].data(), c.outputs[i], kOutputElems[i], c.steps);
  }
  rnnp_const_buffer inputs[] = {buffer_of<rnnp_const_buffer>(c.x.data(), c.input, kIn, c.steps), {}, {}};
  if (c.starts) inputs[1].data = c.start.data();
  if (!c.own_lengths.empty()) inputs[2].data = c.own_lengths.data();
  rnnp_io io = RNNP_IO_INIT;
  io.flags = c.flags;
  io.batch = c.batch;
  io.steps = c.steps;
  io.input_count = 3;
  io.output_count = kOutputs;
  io.lengths = c.call_lengths.empty() ? nullptr : c.call_lengths.data();
  io.inputs = inputs;
  io.outputs = outputs;
  io.rows = c.rows.empty() ? nullptr : c.rows.data();
  EXPECT_EQ(RNNP_OK, rnnp_run_io(session, &io)) << rnnp_session_last_error(session);
  return y;
}

// Elements of rows past their end are compared too: there a loop computes what a model of single steps does.
TEST(Loop, RowsLengthsLayoutsAndStatesAreThoseOfSingleSteps) {
  for (const uint32_t threads : {1u, 2u, 3u})
    for (const uint32_t chunk : {2u, 5u, 64u}) {
      std::mt19937 rng(threads * 100 + chunk);
      Runner stepwise(two_loops(false), {kRows}), loops(two_loops(true), {kRows, 0, chunk, 0, threads});
      std::vector<uint8_t> kept = loops.save(0);
      for (int call = 0; call < 30; ++call) {
        const uint32_t row = static_cast<uint32_t>(rng()) % kRows;
        switch (rng() % 6) {
          case 0:
            expect_ok(rnnp_state_reset(stepwise.session(), row), "reset");
            expect_ok(rnnp_state_reset(loops.session(), row), "reset");
            break;
          case 1:
            stepwise.load(row, kept);
            loops.load(row, kept);
            break;
          case 2:
            kept = loops.save(row);
            break;
          default:
            break;
        }
        const RandomCall c = draw(&rng);
        ASSERT_EQ(run(stepwise.session(), c), run(loops.session(), c)) << "call " << call << ", chunks of " << chunk;
        for (uint32_t i = 0; i < kRows; ++i) ASSERT_EQ(stepwise.save(i), loops.save(i)) << "row " << i << " after call " << call;
      }
    }
}

TEST(Loop, NoStepsAndNoLengthChangeNothing) {
  Runner loops(two_loops(true), {2, 0, 5});
  std::mt19937 rng(1);
  RandomCall c = draw(&rng);
  c.batch = 2;
  c.steps = 7;
  c.rows.clear();
  c.own_lengths.clear();
  c.call_lengths.clear();
  c.starts = false;
  c.input.by_row = false;
  for (Layout &output : c.outputs) output.by_row = false;
  c.x = random_floats(size_t{7} * 2 * kIn, 3);
  run(loops.session(), c);
  const std::vector<uint8_t> rows[] = {loops.save(0), loops.save(1)};
  c.call_lengths = {0, 0};
  run(loops.session(), c);
  c.steps = 0;
  run(loops.session(), c);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(rows[i], loops.save(i)) << i;
}

// --- Traces ---------------------------------------------------------------------------------------------------------------------

constexpr uint32_t kMostThreads = 3;

struct Told {
  std::vector<rnnp_trace_event> begun[kMostThreads];

  static void begin(void *told, const rnnp_trace_event *event) {
    static_cast<Told *>(told)->begun[event->thread].push_back(*event);
  }
  static void end(void *, const rnnp_trace_event *) {}
};

bool is_in_loop(uint32_t node) {
  return (node >= kHeads[0] && node < kEnds[0]) || (node >= kHeads[1] && node < kEnds[1]);
}

TEST(Loop, ATraceIsToldOfEachNodeOncePerStep) {
  constexpr size_t kSteps = 7;
  constexpr uint32_t kChunk = 4;
  for (const uint32_t threads : {1u, 3u}) {
    Runner traced(two_loops(true), {1, 0, kChunk, 0, threads}), plain(two_loops(true), {1, 0, kChunk, 0, threads});
    Told told;
    const rnnp_trace trace = {sizeof trace, &told, Told::begin, Told::end};
    expect_ok(rnnp_session_set_trace(traced.session(), &trace), "trace");
    const std::vector<float> x = random_floats(kSteps * kIn, 9);
    EXPECT_EQ(plain.run(x), traced.run(x));
    for (uint32_t thread = 0; thread < threads; ++thread) {
      std::map<uint32_t, size_t> next;  // of each node, the step that it has to begin with
      for (const rnnp_trace_event &event : told.begun[thread]) {
        EXPECT_EQ(next[event.node], event.first_step) << event.node;
        const size_t left = kSteps - event.first_step;
        EXPECT_EQ(is_in_loop(event.node) ? 1 : std::min<size_t>(left, kChunk), event.steps) << event.node;
        next[event.node] += event.steps;
      }
      ASSERT_EQ(kNodes, next.size());
      for (const auto &[node, steps] : next) EXPECT_EQ(kSteps, steps) << node;
    }
    told = {};
    traced.run(random_floats(kIn, 10), 1);
    EXPECT_EQ(kNodes, told.begun[0].size());
  }
}

// --- Models that look ahead outside of their loops
// --------------------------------------------------------------------------------

// y = `first` and the sum of g so far, of the loop; `begin` adds the nodes that make g.
template <class Begin>
std::vector<uint8_t> sum_of(Begin begin, float first = 0) {
  BlobBuilder b(47);
  const uint32_t x = b.add_input(kUnits), g = begin(&b, x);
  uint32_t state;
  b.begin_loop();
  const uint32_t before = b.add_state_read(kUnits, &state), after = binary(&b, rnnp::Binary::kAdd, before, g);
  if (first != 0) b.start_state_at(state, std::vector<float>(kUnits, first));
  b.add_state_write(state, after);
  b.end_loop();
  b.add_output(after);
  return b.build();
}

uint32_t backwards(BlobBuilder *b, uint32_t x) {
  RecurrentOptions gru = gru_of(kUnits);
  gru.reverse = true;
  return b->add_recurrent(x, kUnits, gru);
}

std::vector<float> run_rows(rnnp_session *session, const std::vector<float> &x, size_t steps, uint32_t batch,
                            const int32_t *lengths) {
  std::vector<float> y(x.size());
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out = {y.data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = batch;
  io.input_count = io.output_count = 1;
  io.lengths = lengths;
  io.inputs = &in;
  io.outputs = &out;
  expect_ok(rnnp_run_io(session, &io), "run");
  return y;
}

TEST(Loop, SumsWhatALayerFromTheLastStepToTheFirstMakes) {
  constexpr uint32_t kSteps = 9, kBatch = 3;
  const int32_t lengths[kBatch] = {9, 4, 0};
  BlobBuilder layer(47);
  layer.add_output(backwards(&layer, layer.add_input(kUnits)));
  const std::vector<uint8_t> alone = layer.build();
  for (const auto &[threads, first] :
       {std::pair(1u, 0.0f), std::pair(2u, 0.0f), std::pair(3u, 0.0f), std::pair(1u, 1.75f), std::pair(3u, 1.75f)})
    for (const int32_t *ends : {static_cast<const int32_t *>(nullptr), lengths}) {
      Runner loop(sum_of(backwards, first), {kBatch, kSteps, 0, 0, threads}), g(alone, {kBatch, kSteps});
      for (uint32_t call = 0; call < 2; ++call) {  // the layer goes on from the last run, the sum begins anew
        std::vector<float> sums(size_t{kBatch} * kUnits, first);
        const std::vector<float> x = random_floats(size_t{kSteps} * kBatch * kUnits, 3 + call);
        std::vector<float> want = run_rows(g.session(), x, kSteps, kBatch, ends);
        for (size_t i = 0; i < want.size(); ++i) {
          const size_t row = i / kUnits % kBatch, step = i / kUnits / kBatch;
          float &sum = sums[i % sums.size()];
          want[i] += sum;
          if (ends == nullptr || step < static_cast<size_t>(ends[row])) sum = want[i];
        }
        EXPECT_EQ(want, run_rows(loop.session(), x, kSteps, kBatch, ends)) << threads << " threads, call " << call;
      }
    }
}

// From the last step to the first: turned, summed and turned again.
TEST(Loop, SumsBackwardsBetweenReversals) {
  BlobBuilder b(1);
  uint32_t state;
  const uint32_t turned = b.add_time_reverse(b.add_input(kUnits));
  b.begin_loop();
  const uint32_t before = b.add_state_read(kUnits, &state), after = binary(&b, rnnp::Binary::kAdd, before, turned);
  b.add_state_write(state, after);
  b.end_loop();
  b.add_output(b.add_time_reverse(after));
  const std::vector<uint8_t> blob = b.build();
  constexpr uint32_t kSteps = 6, kBatch = 2;
  const int32_t lengths[kBatch] = {6, 3};
  for (const uint32_t threads : {1u, 2u}) {
    Runner runner(blob, {kBatch, kSteps, 0, 0, threads});
    std::vector<float> x(size_t{kSteps} * kBatch * kUnits);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 23) - 11.0f;
    const std::vector<float> y = run_rows(runner.session(), x, kSteps, kBatch, lengths);
    for (uint32_t row = 0; row < kBatch; ++row)
      for (uint32_t i = 0; i < kUnits; ++i) {
        float sum = 0;
        for (int32_t step = lengths[row]; step-- > 0;) {
          const size_t at = (static_cast<size_t>(step) * kBatch + row) * kUnits + i;
          sum += x[at];
          EXPECT_EQ(sum, y[at]) << row << " " << step << " " << i;
        }
      }
  }
}

}  // namespace loop_test
