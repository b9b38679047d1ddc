// networks_test.cpp -- published networks, whole: compiled, run through the C API, held against golden outputs of an independent
// f64 evaluation. In one run, in blocks whose states are passed on as tensors, and as a stream whose states the library keeps. The
// files are third-party and lie in the folder RNNPACK_MODELS_DIR; without it nothing is run, and that is said.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "compiler/run/runner.h"
#include "networks/network_blob.h"

namespace rnnp::networks {

static void PrintTo(const Network &network, std::ostream *out) {
  *out << network.name;
}

namespace {

using namespace rnnp::compiler;

constexpr double kTolerance = 1e-4;

// The golden elements in the shape that the runner takes: steps in front where the tensor has no steps axis.
Array in_shape(const rnnp_tensor_info &facts, const Array &golden) {
  Array out = golden;
  const int64_t steps = element_count(golden.shape) / facts.row_elems;
  const bool front =
      facts.role == RNNP_ROLE_SEQUENCE && std::find(facts.dims, facts.dims + facts.rank, RNNP_DIM_STEPS) == facts.dims + facts.rank;
  out.shape.clear();
  if (front) out.shape.push_back(steps);
  for (uint32_t i = 0; i < facts.rank; ++i) {
    out.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? steps : facts.dims[i] == RNNP_DIM_BATCH ? 1 : facts.dims[i]);
  }
  return out;
}

size_t time_axis(const rnnp_tensor_info &facts, const Array &array) {
  if (array.shape.size() > facts.rank) return 0;
  return static_cast<size_t>(std::find(facts.dims, facts.dims + facts.rank, RNNP_DIM_STEPS) - facts.dims);
}

// Steps [first, first + count) along one axis of `from`; appended to `to` where the axis is its outermost that is more than 1.
Array cut(const Array &from, size_t axis, int64_t first, int64_t count) {
  Array out;
  out.shape = from.shape;
  out.shape[axis] = count;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= from.shape[i];
  for (size_t i = axis + 1; i < from.shape.size(); ++i) inner *= from.shape[i];
  for (int64_t o = 0; o < outer; ++o) {
    const auto begin = from.f32.begin() + (o * from.shape[axis] + first) * inner;
    out.f32.insert(out.f32.end(), begin, begin + count * inner);
  }
  return out;
}

void expect_near(const std::string &what, const std::vector<float> &got, const std::vector<float> &want) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double expected = static_cast<double>(want[i]);
    const double error = std::fabs(static_cast<double>(got[i]) - expected) / std::max(1.0, std::fabs(expected));
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  EXPECT_LE(worst, kTolerance) << what;
}

void expect_same_bits(const Arrays &a, const Arrays &b, const std::string &what) {
  for (const auto &output : a) {
    const std::vector<float> &x = output.second.f32, &y = b.at(output.first).f32;
    ASSERT_EQ(x.size(), y.size()) << what;
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0) << what << " " << output.first;
  }
}

class Networks : public testing::TestWithParam<Network> {
 protected:
  void SetUp() override {
    if (models_folder().empty()) GTEST_SKIP() << "RNNPACK_MODELS_DIR is not set: the published networks are not here";
    golden_ = read_npz(models_folder() + "/golden/" + GetParam().golden);
  }

  // `kept`: the library keeps the states, from constants where they do not start from zeros.
  Runner compiled(bool kept) const { return Runner(blob(kept)); }

  std::vector<uint8_t> blob(bool kept) const { return compiled_network(GetParam(), golden_, kept); }

  // Inputs by the blob's names; `with_states` gives those that do not start from zeros.
  Arrays inputs(const Runner &runner, bool with_states) const {
    Arrays out;
    for (const rnnp_tensor_info &facts : runner.inputs()) {
      for (const Named &input : GetParam().inputs) {
        if (input.tensor == std::string(facts.name)) out[facts.name] = in_shape(facts, golden_.at(input.golden));
      }
      for (const Named &state : GetParam().initial) {
        if (with_states && state.tensor == std::string(facts.name)) out[facts.name] = in_shape(facts, golden_.at(state.golden));
      }
    }
    return out;
  }

  void expect_golden(const Arrays &outputs, const std::string &what) const {
    for (const Named &output : GetParam().outputs) {
      const auto found = outputs.find(output.tensor);
      if (found != outputs.end()) expect_near(what + " " + output.tensor, found->second.f32, golden_.at(output.golden).f32);
    }
  }

  Arrays golden_;
};

TEST_P(Networks, Whole) {
  Runner runner = compiled(false);
  expect_golden(runner.run(inputs(runner, true), {}), "whole");
}

TEST_P(Networks, StreamWithStatesKeptByTheLibrary) {
  Runner runner = compiled(true);
  if (!runner.facts().causal) GTEST_SKIP() << "it looks ahead";
  const Arrays in = inputs(runner, false);
  RunOptions options;
  const Arrays whole = runner.run(in, options);
  expect_golden(whole, "kept");
  for (const size_t steps : {size_t{1}, size_t{3}}) {
    options.steps_per_call = steps;
    expect_same_bits(whole, runner.run(in, options), "blocks of " + std::to_string(steps));
  }
}

// Every block in a session of its own, which knows nothing but what it is given.
TEST_P(Networks, StreamWithStatesPassedOn) {
  if (GetParam().states.empty()) GTEST_SKIP() << "its states are no tensors of the file";
  Runner runner = compiled(false);
  const Arrays in = inputs(runner, true), whole = runner.run(in, {});
  for (const int64_t block : {1, 3}) {
    Arrays states, joined;
    for (const auto &array : in) {
      for (const StatePair &pair : GetParam().states) {
        if (array.first == pair.input) states.insert(array);
      }
    }
    int64_t steps = INT64_MAX, done = 0;
    for (; done < steps;) {
      Arrays part = states;
      for (const rnnp_tensor_info &facts : runner.inputs()) {
        if (facts.role != RNNP_ROLE_SEQUENCE || states.count(facts.name) || !in.count(facts.name)) continue;
        const Array &array = in.at(facts.name);
        steps = array.shape[time_axis(facts, array)];
        part[facts.name] = cut(array, time_axis(facts, array), done, std::min(block, steps - done));
      }
      const Arrays out = runner.run(part, {});
      for (const auto &output : out) {
        std::vector<float> &to = joined[output.first].f32;
        const auto is_state = [&](const StatePair &pair) { return pair.output == output.first; };
        if (std::any_of(GetParam().states.begin(), GetParam().states.end(), is_state)) to.clear();
        to.insert(to.end(), output.second.f32.begin(), output.second.f32.end());
      }
      for (const StatePair &pair : GetParam().states) {
        for (const rnnp_tensor_info &facts : runner.inputs()) {
          if (pair.input == facts.name) states[pair.input] = in_shape(facts, out.at(pair.output));
        }
      }
      done += std::min(block, steps - done);
    }
    expect_golden(joined, "blocks of " + std::to_string(block));
    expect_same_bits(joined, whole, "blocks of " + std::to_string(block));
  }
}

// One step of some rows of a session, straight through the C API, on made-up frames: frame `t` of a stream is the same numbers
// whoever runs it.
class Rows {
 public:
  Rows(const std::vector<uint8_t> &blob, uint32_t batch) : blob_(blob.size(), 64) {
    std::copy(blob.begin(), blob.end(), blob_.data());
    rnnp_session_options options;
    rnnp_session_options_init(&options, sizeof options);
    options.max_batch = batch;
    rnnp_memory need = RNNP_MEMORY_INIT;
    facts_.struct_bytes = sizeof facts_;
    const bool opened = rnnp_model_open(&model_, blob_.data(), blob.size(), 0) == RNNP_OK &&
                        rnnp_model_get_info(&model_, &facts_) == RNNP_OK &&
                        rnnp_session_memory(&model_, &options, &need) == RNNP_OK;
    EXPECT_TRUE(opened);
    memory_ = std::make_unique<AlignedBytes>(need.session_bytes, need.alignment);
    EXPECT_EQ(rnnp_session_init(&session_, &model_, &options, memory_->data(), memory_->size()), RNNP_OK);
  }

  // Row i of the call is stream streams[i] at frame frames[i]. Gives every output's row, all outputs of a row together.
  std::vector<std::vector<float>> step(const std::vector<uint32_t> &streams, const std::vector<size_t> &frames,
                                       const uint32_t *rows, const int32_t *lengths) {
    const uint32_t n = static_cast<uint32_t>(streams.size());
    std::vector<std::vector<float>> in(facts_.input_count), out(facts_.output_count), result(n);
    std::vector<rnnp_const_buffer> x(facts_.input_count);
    std::vector<rnnp_buffer> y(facts_.output_count);
    for (uint32_t i = 0; i < facts_.input_count; ++i) {
      for (uint32_t row = 0; row < n; ++row)
        add_frame(streams[row] * 1000 + i, frames[row], elems(rnnp_model_get_input, i), &in[i]);
      x[i] = {in[i].data(), 0, 0};
    }
    for (uint32_t i = 0; i < facts_.output_count; ++i) {
      out[i].resize(size_t{n} * elems(rnnp_model_get_output, i));
      y[i] = {out[i].data(), 0, 0};
    }
    rnnp_io io = RNNP_IO_INIT;
    io.steps = 1;
    io.batch = n;
    io.input_count = facts_.input_count;
    io.output_count = facts_.output_count;
    io.lengths = lengths;
    io.inputs = x.data();
    io.outputs = y.data();
    io.rows = rows;
    EXPECT_EQ(rnnp_run_io(session_, &io), RNNP_OK);
    for (uint32_t row = 0; row < n; ++row) {
      for (const std::vector<float> &all : out)
        result[row].insert(result[row].end(), all.begin() + static_cast<std::ptrdiff_t>(row * (all.size() / n)),
                           all.begin() + static_cast<std::ptrdiff_t>((row + 1) * (all.size() / n)));
    }
    return result;
  }

 private:
  template <typename Ask>
  size_t elems(Ask ask, uint32_t index) const {
    rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
    EXPECT_EQ(ask(&model_, index, &facts), RNNP_OK);
    return facts.row_elems;
  }

  static void add_frame(uint32_t stream, size_t frame, size_t count, std::vector<float> *to) {
    std::mt19937 random(stream * 7919u + static_cast<uint32_t>(frame));
    for (size_t i = 0; i < count; ++i) to->push_back(static_cast<float>(random() % 2001u) / 1000.0f - 1.0f);
  }

  AlignedBytes blob_;
  rnnp_model model_{};
  rnnp_model_info facts_{};
  std::unique_ptr<AlignedBytes> memory_;
  rnnp_session *session_ = nullptr;
};

// Streams that run in some calls only, by rows or by lengths of 0, have the bits of streams that run alone.
TEST_P(Networks, StreamsSideBySide) {
  constexpr uint32_t kRows = 3;
  constexpr size_t kFrames = 12;
  const std::vector<uint8_t> bytes = blob(true);
  std::vector<std::vector<std::vector<float>>> alone(kRows);
  for (uint32_t stream = 0; stream < kRows; ++stream) {
    Rows one(bytes, 1);
    for (size_t t = 0; t < kFrames; ++t) alone[stream].push_back(one.step({stream}, {t}, nullptr, nullptr)[0]);
  }
  for (const bool by_rows : {true, false}) {
    Rows together(bytes, kRows);
    std::mt19937 random(9);
    std::vector<size_t> at(kRows, 0);
    while (*std::min_element(at.begin(), at.end()) < kFrames) {
      std::vector<uint32_t> all = {0, 1, 2}, who;
      std::vector<int32_t> lengths;
      std::vector<size_t> frames;
      if (by_rows) std::shuffle(all.begin(), all.end(), random);
      for (const uint32_t stream : all) {
        const bool runs = at[stream] < kFrames && random() % 2 != 0;
        if (by_rows && !runs) continue;
        who.push_back(stream);
        frames.push_back(at[stream]);
        lengths.push_back(runs);
      }
      if (who.empty()) continue;
      const auto got = together.step(who, frames, by_rows ? who.data() : nullptr, by_rows ? nullptr : lengths.data());
      for (size_t i = 0; i < who.size(); ++i) {
        if (lengths[i] == 0) continue;
        const std::vector<float> &want = alone[who[i]][at[who[i]]++];
        ASSERT_EQ(std::memcmp(got[i].data(), want.data(), want.size() * sizeof(float)), 0)
            << (by_rows ? "rows" : "lengths") << ", stream " << who[i] << " frame " << at[who[i]] - 1;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Published, Networks, testing::ValuesIn(networks()),
                         [](const auto &param) { return std::string(param.param.name); });

}  // namespace
}  // namespace rnnp::networks
