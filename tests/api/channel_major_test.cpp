// channel_major_test.cpp -- convolutions of few channels, whose values are channel-major in a chunk of many steps of one row:
// random networks give the bits that two rows and single steps give, and leave the same states, however steps are cut.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "rnnpack/registry.h"
#include "rnnpack/trace.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::OpKind;

rnnp::AttrConv conv_attr(uint32_t in, uint32_t out, uint32_t taps, uint32_t dilation, uint32_t late) {
  rnnp::AttrConv a = {};
  a.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {0, 0, 1}, 0, {out, out}};
  a.time_taps = taps;
  a.time_dilation = dilation;
  a.lead = int32_t((taps - 1) * dilation + late);
  a.groups = 1;
  a.in_channels = in;
  a.out_channels = out;
  return a;
}

// A network of convolutions, activations and arithmetic; some nodes take rows alone.
class Network {
 public:
  explicit Network(uint32_t seed) : rng_(seed), b_(seed) {}

  std::vector<uint8_t> build(uint32_t layers) {
    in_ = draw({1, 1, 2, 5});
    input_ = b_.add_input(in_);
    Value x = conv({input_, in_});
    for (uint32_t i = 0; i < layers; ++i) x = layer(x);
    const uint32_t out = draw({1, 1, 3});
    b_.add_output(b_.add_conv(x.at, conv_attr(x.elems, out, draw({1, 4}), 1, 0), out));
    return b_.build();
  }
  // Layers of a WaveNet alone, of so many channels.
  std::vector<uint8_t> build_wavenet(uint32_t layers, uint32_t channels) {
    in_ = 1;
    input_ = b_.add_input(in_);
    Value x = {b_.add_conv(input_, conv_attr(in_, channels, 1, 1, 0), channels), channels};
    for (uint32_t i = 0; i < layers; ++i) x = wavenet(x);
    const Value last = draw({0, 1}) != 0 ? skips_ : x;
    b_.add_output(b_.add_conv(last.at, conv_attr(last.elems, 1, 7, 1, 0), 1));
    return b_.build();
  }
  uint32_t in() const { return in_; }

 private:
  struct Value {
    uint32_t at, elems;
  };

  uint32_t draw(std::vector<uint32_t> from) { return from[rng_() % from.size()]; }

  Value conv(Value x) {
    const uint32_t out = draw({1, 2, 3, 4, 7, 8, 16, 17}), taps = draw({1, 1, 2, 3, 6}), late = draw({0, 0, 0, 2});
    rnnp::AttrConv a = conv_attr(x.elems, out, taps, draw({1, 3, 29, 70}), taps > 1 ? late : 0);
    a.act.act = uint32_t(draw({0, 1}) != 0 ? rnnp::Act::kSigmoid : rnnp::Act::kIdentity);
    if (x.elems > 2 && draw({0, 0, 1}) != 0) a.window.x_first = 1, a.in_channels = x.elems - 1;
    return {b_.add_conv(x.at, a, out), out};
  }

  Value binary(rnnp::Binary op, Value x, uint32_t other, bool one_for_all) {
    const rnnp::AttrBinary a = {uint32_t(op), 1, {x.elems}, {1}, {one_for_all ? 0u : 1u}};
    return {b_.add_node(OpKind::kBinary, &a, sizeof a, {x.at, other}, x.elems, true), x.elems};
  }

  Value unary(Value x) {
    const rnnp::AttrUnary a = {{uint32_t(draw({0, 1}) != 0 ? rnnp::Act::kTanh : rnnp::Act::kLeakyRelu), 0.01f, 0}};
    return {b_.add_node(OpKind::kUnary, &a, sizeof a, {x.at}, x.elems, true), x.elems};
  }

  Value layer(Value x) {
    switch (rng_() % 8) {
      case 6:
      case 7:
        return wavenet(x);
      case 0:
      case 1:
        return conv(unary(x));
      case 2:
        return binary(rnnp::Binary::kAdd, unary(x), x.at, false);
      case 3:
        return binary(rnnp::Binary::kMul, x, b_.add_constant({0.25f}), true);
      case 4:
        return binary(rnnp::Binary::kSub, x, b_.add_constant(random_floats(x.elems, uint32_t(rng_()))), false);
      default:
        if (draw({0, 0, 1}) == 0) return unary(x);
        return {b_.add_dense(x.at, x.elems, 8), 8};  // takes rows
    }
  }

  Value plain_conv(Value x, uint32_t out, uint32_t taps, uint32_t dilation) {
    rnnp::AttrConv a = conv_attr(x.elems, out, taps, dilation, 0);
    if (draw({0, 0, 1}) != 0) a.act.act = uint32_t(rnnp::Act::kTanh);  // which joins nothing behind it
    return {b_.add_conv(x.at, a, out), out};
  }

  Value add(Value a, Value b) {
    return draw({0, 1}) != 0 ? binary(rnnp::Binary::kAdd, a, b.at, false) : binary(rnnp::Binary::kAdd, b, a.at, false);
  }

  // Nodes that are joined, or would be but for one.
  Value wavenet(Value x) {
    const uint32_t units = draw({x.elems, x.elems, x.elems, 3});
    Value z = plain_conv(x, units, draw({1, 2, 3}), draw({1, 5, 40}));
    if (draw({0, 1, 1}) != 0) z = add(z, plain_conv({input_, in_}, units, 1, 1));
    if (draw({0, 1, 1}) != 0) z = unary(z);
    // The sum of those so far beside the layer, or in it.
    const Value made = z, sum = skips_.elems == z.elems && draw({0, 1, 1}) != 0 ? over(skips_, add(z, skips_)) : z;
    if (draw({0, 0, 1}) != 0) z = sum;
    skips_ = sum;
    const Value y = add(x, plain_conv(z, x.elems, 1, 1));
    if (sum.at != made.at && z.at == made.at && units == x.elems && draw({0, 0, 1}) != 0) return over(made, y);
    return over(x, y);
  }

  // As the compiler has it where `before` is read for the last time.
  Value over(Value before, Value x) {
    if (draw({0, 1, 1}) != 0) b_.place_over(x.at, before.at);
    return x;
  }

  std::mt19937 rng_;
  BlobBuilder b_;
  uint32_t in_ = 0, input_ = 0;
  Value skips_ = {0, 0};
};

// Two rows run as they come: the first of them.
std::vector<float> run_rows(Runner *r, const std::vector<float> &x, size_t in) {
  std::vector<float> both, y;
  for (size_t at = 0; at < x.size(); at += in) {
    both.insert(both.end(), x.begin() + long(at), x.begin() + long(at + in));
    both.insert(both.end(), in, 0.5f);
  }
  const std::vector<float> all = r->run(both);
  for (size_t at = 0; at < all.size(); at += 2 * r->out())
    y.insert(y.end(), all.begin() + long(at), all.begin() + long(at + r->out()));
  return y;
}

// However steps are cut; chunks of 300 are longer than what is made in the memory of the layer that reads it.
void expect_bits_of_rows(const std::vector<uint8_t> &bytes, size_t in, uint32_t seed) {
  constexpr size_t kSteps = 300;
  const std::vector<float> x = random_floats(kSteps * in, seed);
  Runner rows(bytes, {2});
  const std::vector<float> want = run_rows(&rows, x, in);
  for (const size_t cut : {0, 1, 7, 8, 9, 16, 17, 64, 100, 128}) {
    Runner alone(bytes, {1, 0, 256});
    ASSERT_EQ(want, alone.run(x, cut)) << "cut " << cut;
    ASSERT_EQ(rows.save(0), alone.save(0)) << "cut " << cut;
  }
  ASSERT_EQ(want, Runner(bytes).run(x)) << "chunks that fit";
  ASSERT_EQ(want, Runner(bytes, {1, 0, 37}).run(x)) << "chunks of 37";
  ASSERT_EQ(want, Runner(bytes, {1, 0, 300}).run(x)) << "chunks of 300";
  ASSERT_EQ(want, Runner(bytes, {1, 0, 256, RNNP_ISA_AVX2}).run(x)) << "AVX2";
  Runner mixed(bytes, {1, 0, 300});
  std::vector<float> y;
  for (size_t from = 0, n = 1; from < kSteps; from += n, n = (n * 7 + seed) % 90 + 1) {
    const size_t steps = std::min(n, kSteps - from);
    const std::vector<float> part =
        mixed.run(std::vector<float>(x.begin() + long(from * in), x.begin() + long((from + steps) * in)));
    y.insert(y.end(), part.begin(), part.end());
  }
  ASSERT_EQ(want, y) << "cut at random";
  ASSERT_EQ(rows.save(0), mixed.save(0));
  // Long pieces behind one another: steps move to where lines begin.
  ASSERT_EQ(mixed.run(x), run_rows(&rows, x, in));
}

TEST(ChannelMajor, GivesTheBitsOfRowsHoweverStepsAreCut) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Network network(seed);
    const std::vector<uint8_t> bytes = network.build(3 + seed % 12);
    ASSERT_NO_FATAL_FAILURE(expect_bits_of_rows(bytes, network.in(), seed));
  }
}

// Layers that make their results in the memory of the next one.
TEST(ChannelMajor, LayersInARowGiveTheBitsOfRows) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Network network(seed);
    const std::vector<uint8_t> bytes = network.build_wavenet(2 + seed % 9, seed % 4 != 0 ? 3 : seed / 4 % 2 != 0 ? 4 : 8);
    ASSERT_NO_FATAL_FAILURE(expect_bits_of_rows(bytes, network.in(), seed));
  }
}

// Groups of layers run side by side on chunks that follow one another: what is a race there the thread sanitizer sees.
TEST(ThreadedChannelMajor, LayersSideBySideGiveTheBitsOfRows) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Network network(seed);
    const std::vector<uint8_t> bytes = network.build_wavenet(12, 16);
    const std::vector<float> x = random_floats(1500, seed);
    Runner rows(bytes, {2}), many(bytes, {1, 0, 0, 0, 2, 0, false});
    rnnp_session_info info = {};
    info.struct_bytes = sizeof info;
    expect_ok(rnnp_session_get_info(many.session(), &info), "info");
    EXPECT_EQ(2u, info.wavefront_stages);
    ASSERT_EQ(run_rows(&rows, x, 1), many.run(x));
    ASSERT_EQ(rows.save(0), many.save(0));
  }
}

void see_nothing(void *, const rnnp_trace_event *) {}

// A trace sees each node run alone.
TEST(ChannelMajor, JoinedNodesGiveTheBitsOfNodesApart) {
  for (uint32_t seed = 101; seed <= 140; ++seed) {
    SCOPED_TRACE(seed);
    Network network(seed);
    const std::vector<uint8_t> bytes = seed % 3 == 0 ? network.build_wavenet(2 + seed % 5, 3) : network.build(4 + seed % 9);
    const std::vector<float> x = random_floats(200 * network.in(), seed);
    const rnnp_trace trace = {sizeof trace, nullptr, see_nothing, see_nothing};
    Runner joined(bytes, {1, 0, 256}), apart(bytes, {1, 0, 256});
    ASSERT_EQ(RNNP_OK, rnnp_session_set_trace(apart.session(), &trace));
    ASSERT_EQ(apart.run(x, 64), joined.run(x, 64));
    ASSERT_EQ(apart.save(0), joined.save(0));
    // What one left the other goes on with.
    ASSERT_EQ(RNNP_OK, rnnp_session_set_trace(apart.session(), nullptr));
    ASSERT_EQ(RNNP_OK, rnnp_session_set_trace(joined.session(), &trace));
    ASSERT_EQ(apart.run(x, 48), joined.run(x, 48));
    ASSERT_EQ(apart.save(0), joined.save(0));
  }
}

// Steps that only nodes hold are saved, and forgotten where a state is loaded or reset.
TEST(ChannelMajor, StatesAreSavedLoadedAndResetBetweenBlocks) {
  for (uint32_t seed = 201; seed <= 220; ++seed) {
    SCOPED_TRACE(seed);
    Network network(seed);
    const std::vector<uint8_t> bytes = seed % 2 == 0 ? network.build_wavenet(2 + seed % 5, 3) : network.build(4 + seed % 9);
    const size_t in = network.in();
    const std::vector<float> x = random_floats(192 * in, seed), head(x.begin(), x.begin() + long(64 * in)),
                             tail(x.begin() + long(64 * in), x.end());
    Runner r(bytes, {1, 0, 256}), other(bytes, {1, 0, 256});
    const std::vector<float> first = r.run(head, 64);
    const auto state = r.save(0);
    const std::vector<float> rest = r.run(tail, 64);
    other.run(tail, 64);
    ASSERT_EQ(RNNP_OK, rnnp_state_load(other.session(), 0, state.data(), state.size()));
    ASSERT_EQ(state, other.save(0));
    ASSERT_EQ(rest, other.run(tail, 64));
    ASSERT_EQ(r.save(0), other.save(0));
    ASSERT_EQ(RNNP_OK, rnnp_state_reset(other.session(), 0));
    ASSERT_EQ(first, other.run(head, 64));
    ASSERT_EQ(state, other.save(0));
    // A step alone behind a reset: what blocks after it read is no longer what they began with.
    Runner alone(bytes);
    std::vector<float> step(r.out()), want_step(first.begin(), first.begin() + long(r.out()));
    ASSERT_EQ(RNNP_OK, rnnp_state_reset(other.session(), 0));
    for (Runner *each : {&alone, &other}) {
      ASSERT_EQ(RNNP_OK, rnnp_step(each->session(), x.data(), step.data()));
      ASSERT_EQ(want_step, step);
      const std::vector<float> after = each->run({x.begin() + long(in), x.begin() + long(64 * in)}, 63);
      ASSERT_EQ(std::vector<float>(first.begin() + long(r.out()), first.end()), after);
      ASSERT_EQ(state, each->save(0));
    }
  }
}

// A call that says where its row ends runs in rows.
TEST(ChannelMajor, RowsOfALengthGoOnAfterIt) {
  Network network(4);
  const std::vector<uint8_t> bytes = network.build(9);
  const size_t in = network.in();
  const std::vector<float> x = random_floats(140 * in, 4);
  Runner whole(bytes), parts(bytes);
  const std::vector<float> want = whole.run(x);
  std::vector<float> y(100 * parts.out());
  const int32_t length = 40;
  const rnnp_const_buffer inputs[] = {{x.data(), 0, 0}};
  const rnnp_buffer outputs[] = {{y.data(), 0, 0}};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 100;
  io.batch = 1;
  io.input_count = io.output_count = 1;
  io.lengths = &length;
  io.inputs = inputs;
  io.outputs = outputs;
  ASSERT_EQ(RNNP_OK, rnnp_run_io(parts.session(), &io));
  const std::vector<float> rest = parts.run(std::vector<float>(x.begin() + long(40 * in), x.end()));
  EXPECT_EQ(std::vector<float>(want.begin() + long(40 * whole.out()), want.end()), rest);
}

size_t session_bytes(const std::vector<uint8_t> &blob, bool with_it) {
#define RNNP_NAME_(name) &rnnp_op_##name,
  std::vector<const rnnp_op *> ops = {RNNP_FOR_EACH_OP(RNNP_NAME_)};
#undef RNNP_NAME_
#define RNNP_NAME_(name) &rnnp_kernels_##name,
  const rnnp_kernel_group *const kernels[] = {RNNP_FOR_EACH_KERNEL_GROUP(RNNP_NAME_)};
#undef RNNP_NAME_
  if (!with_it) ops.erase(std::find(ops.begin(), ops.end(), &rnnp_op_conv_channel_major));
  const rnnp_registry registry = {sizeof(rnnp_registry),
                                  uint32_t(ops.size()),
                                  sizeof kernels / sizeof kernels[0],
                                  ops.data(),
                                  kernels,
                                  &rnnp_check_dataflow,
                                  nullptr};
  const AlignedBytes bytes(blob);
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, bytes.data(), bytes.size(), 0), "open");
  rnnp_memory memory = RNNP_MEMORY_INIT;
  expect_ok(rnnp_session_memory_with(&registry, &model, nullptr, &memory), "memory");
  return memory.session_bytes;
}

// Of many channels the vectors are full in rows, too.
TEST(ChannelMajor, IsForFewChannelsAlone) {
  const auto network = [](uint32_t channels) {
    BlobBuilder b(1);
    const uint32_t x = b.add_conv(b.add_input(1), conv_attr(1, channels, 1, 1, 0), channels);
    b.add_output(b.add_conv(x, conv_attr(channels, channels, 3, 2, 0), channels));
    return b.build();
  };
  EXPECT_EQ(session_bytes(network(32), false), session_bytes(network(32), true));
  const size_t rows = session_bytes(network(8), false), more = session_bytes(network(8), true);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_LT(rows, more);
  }
#endif
  EXPECT_LE(rows, more);
}

}  // namespace
