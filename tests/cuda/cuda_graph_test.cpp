// cuda_graph_test.cpp -- calls as CUDA graphs: captured without a wait, run from the states as they are, on a GPU and emulated.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cuda/cuda_runner.h"

namespace rnnp_test {
namespace {

constexpr uint32_t kIn = 5, kHidden = 40, kRows = 3;

std::vector<uint8_t> layer_blob() {
  BlobBuilder b(3, 8);
  RecurrentOptions o;
  o.hidden = kHidden;
  o.initial_state = true;
  b.add_output(b.add_recurrent(b.add_input(kIn), kIn, o));
  return b.build();
}

CudaOptions options_for(uint32_t kernels) {
  CudaOptions o;
  o.batch = kRows;
  o.weights = RNNP_CUDA_F16;
  o.kernels = kernels;
  return o;
}

// A call of rows 2 and 0, the second of one step.
struct CallOfRows {
  explicit CallOfRows(size_t steps)
      : x(random_floats(steps * 2 * kIn, 1)), y(steps * 2 * kHidden, 0.0f), lengths{static_cast<int32_t>(steps), 1} {
    from = {x.data(), 0, 0};
    to = {y.data(), 0, 0};
    io.batch = 2;
    io.steps = steps;
    io.input_count = io.output_count = 1;
    io.inputs = &from;
    io.outputs = &to;
    io.rows = rows.data();
    io.lengths = lengths.data();
  }
  SharedArray<float> x, y;
  std::vector<uint32_t> rows = {2, 0};
  std::vector<int32_t> lengths;
  rnnp_const_buffer from;
  rnnp_buffer to;
  rnnp_io io = RNNP_IO_INIT;
};

TEST(CudaGraph, GoesOnFromTheStatesAsTheyAreWithTheRowsAndLengthsOfItsMaking) {
  for (const uint32_t kernels : {RNNP_CUDA_RESIDENT, RNNP_CUDA_STEPS}) {
    for (const size_t steps : {size_t{1}, size_t{3}}) {
      const TestStream stream;
      const std::vector<uint8_t> bytes = layer_blob();
      CudaRunner captured(bytes, options_for(kernels)), plain(bytes, options_for(kernels));
      CallOfRows call(steps);
      const std::vector<float> in = call.x.vector();
      const std::vector<int32_t> lengths = call.lengths;
      const std::vector<uint32_t> rows = call.rows;
      rnnp_cuda_graph *graph = nullptr;
      ASSERT_EQ(rnnp_cuda_graph_make(&graph, captured.session(), &call.io, stream.get()), RNNP_OK);
      EXPECT_EQ(captured.save(2), plain.save(2)) << "making it runs nothing";
      call.rows.assign(2, 1);
      call.lengths.assign(2, 0);
      for (int run = 0; run < 3; ++run) {
        ASSERT_EQ(rnnp_cuda_graph_run(captured.session(), graph, stream.get()), RNNP_OK);
        ASSERT_EQ(rnnp_cuda_wait(captured.session(), stream.get()), RNNP_OK);
        EXPECT_EQ(call.y.vector(), plain.run_rows(in, 2, lengths.data(), rows.data())) << run;
      }
      for (uint32_t row = 0; row < kRows; ++row) EXPECT_EQ(captured.save(row), plain.save(row)) << row;
      // Between two runs of the graph the session runs and is reset as ever.
      captured.reset();
      plain.reset();
      const std::vector<float> other = random_floats(4 * kRows * kIn, 2);
      EXPECT_EQ(captured.run(other), plain.run(other));
      ASSERT_EQ(rnnp_cuda_graph_run(captured.session(), graph, nullptr), RNNP_OK);
      ASSERT_EQ(rnnp_cuda_wait(captured.session(), nullptr), RNNP_OK);
      EXPECT_EQ(call.y.vector(), plain.run_rows(in, 2, lengths.data(), rows.data()));
      rnnp_cuda_graph_free(graph);
    }
  }
}

TEST(CudaGraph, WhatCannotBeCapturedIsRefusedAndLeavesTheStreamAsItWas) {
  const TestStream stream;
  CudaRunner runner(layer_blob(), options_for(0));
  CallOfRows call(2);
  rnnp_cuda_graph *graph = nullptr;
  EXPECT_EQ(rnnp_cuda_graph_make(&graph, runner.session(), &call.io, nullptr), RNNP_E_ARG) << "the default stream";
  EXPECT_EQ(rnnp_cuda_graph_make(nullptr, runner.session(), &call.io, stream.get()), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_graph_make(&graph, nullptr, &call.io, stream.get()), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_graph_make(&graph, runner.session(), nullptr, stream.get()), RNNP_E_ARG);
  call.rows[0] = kRows;
  EXPECT_EQ(rnnp_cuda_graph_make(&graph, runner.session(), &call.io, stream.get()), RNNP_E_SHAPE) << "no such row";
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(rnnp_cuda_graph_run(runner.session(), graph, stream.get()), RNNP_E_ARG);
  rnnp_cuda_graph_free(graph);
  call.rows[0] = 2;
  EXPECT_EQ(rnnp_cuda_run_io(runner.session(), &call.io, stream.get()), RNNP_OK) << "no capture is left open";
  EXPECT_EQ(rnnp_cuda_wait(runner.session(), stream.get()), RNNP_OK);
}

TEST(CudaMemory, IsGivenCopiedAndTakenBack) {
  for (const uint32_t kind : {RNNP_CUDA_DEVICE_MEMORY, RNNP_CUDA_MAPPED_MEMORY}) {
    void *memory = nullptr;
    ASSERT_EQ(rnnp_cuda_alloc(kind, 1000, &memory), RNNP_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
    const std::vector<float> there = random_floats(250, 3);
    std::vector<float> back(250);
    EXPECT_EQ(rnnp_cuda_copy(memory, there.data(), 1000, nullptr), RNNP_OK);
    EXPECT_EQ(rnnp_cuda_copy(back.data(), memory, 1000, nullptr), RNNP_OK);
    EXPECT_EQ(there, back);
    rnnp_cuda_free(kind, memory);
  }
  void *memory = nullptr;
  EXPECT_EQ(rnnp_cuda_alloc(2, 1, &memory), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_alloc(0, 1, nullptr), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_copy(nullptr, &memory, 1, nullptr), RNNP_E_ARG);
  rnnp_cuda_free(RNNP_CUDA_DEVICE_MEMORY, nullptr);
}

}  // namespace
}  // namespace rnnp_test
