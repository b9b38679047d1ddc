// cuda_api_calls_test.cpp -- calls of a CUDA session on the emulated GPU: nothing lost by an error, time-outs instead of hangs,
// epochs that run out, captures, strides. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cuda/cuda_session.h"
#include "cuda/kernels/args.h"
#include "cuda_api_fixture.h"

namespace rnnp_test {
namespace cuda_api_calls_test {

using rnnp::Cell;
using rnnp::cuda::emulated_gpu;

// Layers whose resident kernels differ: what dense weights are multiplied as, and the blob's sparse ones.
struct ResidentKind {
  uint32_t weights;
  rnnp::DType type;
  uint32_t block_units;
  bool side_by_side = false;  // both directions in one launch
};
const ResidentKind kResidentKinds[] = {{RNNP_CUDA_F16, rnnp::DType::kF32, 0},       {RNNP_CUDA_F32, rnnp::DType::kF32, 0},
                                       {RNNP_CUDA_F32, rnnp::DType::kF32, 4},       {RNNP_CUDA_F32, rnnp::DType::kI8, 8},
                                       {RNNP_CUDA_F16, rnnp::DType::kF32, 0, true}, {RNNP_CUDA_F32, rnnp::DType::kF32, 0, true}};
std::vector<uint8_t> blob_of(const ResidentKind &kind, Cell cell = Cell::kLstm) {
  BlobBuilder b(3, kind.block_units != 0 ? 16 : 8);
  b.weights = b.recurrent_weights = kind.type;
  b.block_units = kind.block_units;
  b.one_recurrent_step = true;
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = 90;
  o.initial_state = true;
  o.bidirectional = kind.side_by_side;
  b.add_output(b.add_recurrent(b.add_input(5), 5, o));
  return b.build();
}
CudaOptions options_of(const ResidentKind &kind, uint32_t batch) {
  CudaOptions o;
  o.batch = batch;
  o.weights = kind.weights;
  o.kernels = RNNP_CUDA_RESIDENT;
  o.spins = 12000;
  if (kind.side_by_side) o.sms = 16, o.max_steps = 8;
  return o;
}
bool is_side_by_side(CudaRunner &runner) {
  return std::string(runner.layer().reason).find("side by side") != std::string::npos;
}

TEST_F(CudaApi, ErrorsOfACallChangeNothing) {
  const std::vector<uint8_t> bytes = lstm_blob();
  CudaRunner runner(bytes, resident(2));
  runner.run(random_floats(3 * 2 * 5, 1));
  const std::vector<uint8_t> before = runner.save(0);
  SharedArray<float> x(4 * 2 * 5, 1.0f), y(4 * 2 * 40, -7.0f);
  rnnp_cuda_session *s = runner.session();
  EXPECT_EQ(rnnp_cuda_run(nullptr, 1, x.data(), y.data(), nullptr), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_run(s, 4, nullptr, y.data(), nullptr), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_run(s, 4, x.data(), nullptr, nullptr), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_run(s, 1, reinterpret_cast<char *>(x.data()) + 1, y.data(), nullptr), RNNP_E_ALIGN);
  EXPECT_EQ(rnnp_cuda_run(s, 0, nullptr, nullptr, nullptr), RNNP_OK);
  rnnp_const_buffer in = {x.data(), 0, 0};
  rnnp_buffer out = {y.data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.batch = 2;
  io.steps = 4;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  const auto refused = [&](rnnp_status want) { EXPECT_EQ(rnnp_cuda_run_io(s, &io, nullptr), want); };
  const int32_t lengths[2] = {1, 5};
  io.lengths = lengths;
  refused(RNNP_E_SHAPE);
  io.lengths = nullptr;
  io.batch = 3;
  refused(RNNP_E_SHAPE);
  io.batch = 2;
  const uint32_t twice[2] = {1, 1};
  io.rows = twice;
  refused(RNNP_E_SHAPE);
  io.rows = nullptr;
  in.row_stride_bytes = 6;
  refused(RNNP_E_ALIGN);
  in.row_stride_bytes = 0;
  emulated_gpu().host_only = x.data();
  emulated_gpu().host_only_bytes = 4;
  refused(RNNP_E_ARG);  // a host pointer, where that can be told
  emulated_gpu().host_only = nullptr;
  int other = 0;
  emulated_gpu().busy_stream = nullptr;
  ASSERT_EQ(rnnp_cuda_state_reset(s, 1, &other), RNNP_OK);
  emulated_gpu().busy_stream = &other;
  refused(RNNP_E_BUSY);  // the stream that reset it has not done so yet
  EXPECT_EQ(rnnp_cuda_state_reset(s, 0, nullptr), RNNP_E_BUSY);
  emulated_gpu().busy_stream = nullptr;
  EXPECT_EQ(rnnp_cuda_state_reset(s, 2, nullptr), RNNP_E_SHAPE);
  EXPECT_EQ(before, runner.save(0));
  for (const float v : y.vector()) ASSERT_EQ(v, -7.0f);
}

// What the session before left there, its time-outs and its epochs among it, is no part of the next one's.
TEST_F(CudaApi, ASessionStartsAnewInTheWorkMemoryOfTheOneBefore) {
  const std::vector<uint8_t> bytes = lstm_blob();
  const std::vector<float> x = random_floats(6 * 2 * 5, 1);
  CudaRunner fresh(bytes, resident(2));
  const std::vector<float> want = fresh.run(x);
  for (size_t time = 0; time < 8; ++time) {  // each in another order of blocks
    const size_t steps = 1 + time % 4;
    DeviceBytes work(fresh.memory().work_bytes);
    CudaOptions o = resident(2);
    o.work = &work;
    CudaRunner before(bytes, o);
    before.run(random_floats(steps * 2 * 5, 2));
    CudaRunner after(bytes, o);
    ASSERT_EQ(want, after.run(x)) << time;
  }
}

TEST_F(CudaApi, AGridThatDoesNotFitNowIsBusyAndLosesNothing) {
  CudaRunner runner(lstm_blob(5, 70), resident());
  ASSERT_GT(runner.layer().blocks, 1u);
  const std::vector<uint8_t> before = runner.save(0);
  emulated_gpu().device.sm_count = 1;
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 70, 0.0f);
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_E_BUSY);
  EXPECT_EQ(before, runner.save(0));
  emulated_gpu().device.sm_count = 16;
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_OK);
}

// A query of the stream that the session ran on before would invalidate the capture of another.
TEST_F(CudaApi, NoStreamIsQueriedDuringACapture) {
  CudaRunner runner(lstm_blob());
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 40, 0.0f);
  int captured = 0;
  emulated_gpu().capturing = true;
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), &captured), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_state_reset(runner.session(), 0, nullptr), RNNP_OK);
  EXPECT_EQ(emulated_gpu().waits_in_capture, 0u);
}

TEST_F(CudaApi, ASessionIsOfTheGpuThatItWasMadeOn) {
  CudaRunner runner(lstm_blob());
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 40, -7.0f);
  const std::vector<uint8_t> before = runner.save(0);
  EXPECT_EQ(rnnp_cuda_session_device(runner.session()), 0);
  EXPECT_EQ(rnnp_cuda_session_device(nullptr), -1);
  emulated_gpu().current = 1;
  EXPECT_EQ(rnnp_cuda_session_device(runner.session()), 0);
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_E_DEVICE);
  EXPECT_EQ(rnnp_cuda_error(runner.session()), 101);
  EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_E_DEVICE);
  EXPECT_EQ(y.vector(), std::vector<float>(4 * 40, -7.0f));
  emulated_gpu().current = 0;
  EXPECT_EQ(before, runner.save(0));
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_OK);
}

TEST_F(CudaApi, AFailedLaunchIsToldWithItsError) {
  CudaRunner runner(lstm_blob());
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 40, 0.0f);
  EXPECT_EQ(rnnp_cuda_error(runner.session()), 0);
  emulated_gpu().fail_next_launch = 701;
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_E_DEVICE);
  EXPECT_EQ(rnnp_cuda_error(runner.session()), 701);
}

// A block that never comes: all others end, the wait says so, and a reset session gives the bits of a fresh one.
TEST_F(CudaApi, AMissingBlockEndsInATimeOutAndAResetMakesTheSessionWhole) {
  for (const Cell cell : {Cell::kLstm, Cell::kGru}) {
    for (const ResidentKind &kind : kResidentKinds) {
      CudaOptions o = options_of(kind, 1);
      o.maps_findings = cell == Cell::kLstm;
      const std::vector<uint8_t> bytes = blob_of(kind, cell);
      CudaRunner runner(bytes, o), fresh(bytes, o);
      ASSERT_EQ(runner.layer().kernel, RNNP_CUDA_RESIDENT);
      ASSERT_EQ(is_side_by_side(runner), kind.side_by_side) << runner.layer().reason;
      ASSERT_GT(runner.layer().blocks, 1u);
      const std::vector<float> in = random_floats(4 * 5, 1);
      SharedArray<float> x(random_floats(4 * 5, 2)), y(4 * runner.out(), 0.0f);  // other words than those that are right later
      emulated_gpu().missing_blocks = 1;
      ASSERT_EQ(rnnp_cuda_run(runner.session(), 4, x.data(), y.data(), nullptr), RNNP_OK);
      emulated_gpu().missing_blocks = 0;
      EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_E_TIMEOUT);
      EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_OK) << "said once";
      runner.reset();
      EXPECT_EQ(runner.run(in), fresh.run(in));
    }
  }
}

// Words of launches long ago look fresh when 32 bits have run out, unless they are cleared; of one exchange and of the other.
void expect_bits_beyond_epochs(const ResidentKind &kind, uint32_t exchange) {
  using namespace rnnp::cuda;
  const CudaOptions o = options_of(kind, 3);
  const std::vector<uint8_t> bytes = blob_of(kind);
  CudaRunner runner(bytes, o), fresh(bytes, o);
  Context &c = runner.session()->context;
  uint32_t *own = c.control + exchange * kControlWords, *other = c.control + (1 - exchange) * kControlWords;
  const std::vector<float> in = random_floats(6 * 3 * 5, 1);
  const std::vector<float> want = fresh.run(in);
  for (const uint32_t epoch : {0x7ffffffeu, 0x80000000u, 0xfffffff0u}) {
    for (size_t i = 0; i < c.words_needed; ++i)  // fresh ones of epochs to come
      c.words[exchange * c.words_needed + i] = uint64_t{i % 4} << 32 | 0x3c003c00u;
    own[kEpoch] = epoch;
    other[kEpoch] += 100;
    const uint32_t before = other[kEpoch];
    runner.reset();
    EXPECT_EQ(runner.run(in), want) << epoch;
    EXPECT_EQ(own[kEpoch], epoch < 0x80000000u ? epoch + 6 : 6u);
    EXPECT_EQ(other[kEpoch], before + (kind.side_by_side ? 6 : 0));
    EXPECT_EQ(own[kArrived], 0u);
  }
}

TEST_F(CudaApi, EpochsRunOutWithoutAChangeOfBits) {
  for (const ResidentKind &kind : kResidentKinds) {
    expect_bits_beyond_epochs(kind, 0);
    if (kind.side_by_side) expect_bits_beyond_epochs(kind, 1);
  }
}

TEST_F(CudaApi, StridedTensorsAndLastStepsAreWhereTheyBelong) {
  const std::vector<uint8_t> bytes = lstm_blob();
  CudaOptions o = resident(2);
  o.chunk = 3;
  CudaRunner runner(bytes, o), packed(bytes, o);
  const std::vector<float> in = random_floats(7 * 2 * 5, 1);
  const std::vector<float> want = packed.run(in);
  SharedArray<float> x(7 * 2 * 9, 99.0f), y(7 * 2 * 44, -7.0f);
  for (size_t i = 0; i < in.size(); ++i) x.data()[i / 5 * 9 + i % 5] = in[i];
  rnnp_const_buffer from = {x.data(), 0, 36};
  rnnp_buffer to = {y.data(), 0, 176};
  rnnp_io io = RNNP_IO_INIT;
  io.batch = 2;
  io.steps = 7;
  io.input_count = io.output_count = 1;
  io.inputs = &from;
  io.outputs = &to;
  ASSERT_EQ(rnnp_cuda_run_io(runner.session(), &io, nullptr), RNNP_OK);
  ASSERT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_OK);
  const std::vector<float> got = y.vector();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i % 44 < 40 ? want[i / 44 * 40 + i % 44] : -7.0f) << i;
  runner.reset();
  const int32_t lengths[2] = {0, 5};
  const std::vector<float> last = runner.run_rows(in, 2, lengths, nullptr, RNNP_RUN_LAST_STEP);
  for (size_t i = 0; i < 40; ++i) {
    ASSERT_EQ(last[i], 0.0f);
    ASSERT_EQ(last[40 + i], want[(4 * 2 + 1) * 40 + i]);
  }
}

TEST_F(CudaApi, AModelThatReadsTheFutureWantsWholeSequences) {
  const std::vector<uint8_t> bytes = lstm_blob(5, 40, true);
  CudaOptions o = resident();
  o.max_steps = 4;
  CudaRunner runner(bytes, o);
  SharedArray<float> x(5 * 5, 1.0f), y(5 * 40, 0.0f);
  EXPECT_EQ(rnnp_cuda_step(runner.session(), x.data(), y.data(), nullptr), RNNP_E_NOT_CAUSAL);
  EXPECT_EQ(rnnp_cuda_run(runner.session(), 5, x.data(), y.data(), nullptr), RNNP_E_SHAPE);
}

}  // namespace cuda_api_calls_test
}  // namespace rnnp_test
