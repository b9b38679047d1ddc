// cuda_runner.h -- a model and a CUDA session in owned memory, for tests: what session_fixture.h is for the CPU.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_CUDA_RUNNER_H_
#define RNNPACK_TESTS_CUDA_CUDA_RUNNER_H_

#include "cuda/device_bytes.h"
#include "rnnpack/cuda.h"
#include "support/session_fixture.h"

namespace rnnp_test {

struct CudaOptions {
  uint32_t batch = 1, max_steps = 0, chunk = 0, launch_steps = 0, weights = RNNP_CUDA_F32, kernels = 0, sms = 4, arch = 870;
#ifdef RNNPACK_CUDA_EMULATED
  uint32_t spins = 50000;  // a broken exchange ends within seconds
#else
  uint32_t spins = 0;  // as many as there are: the compiler's sanitizers are slow
#endif
  const rnnp_cuda_device *device = nullptr;  // nullptr: a small one of `sms` SMs
  DeviceBytes *work = nullptr;               // nullptr: memory of its own
  bool maps_findings = true;                 // else each wait copies them
};

inline rnnp_cuda_device small_device(uint32_t sms, uint32_t arch = 870) {
  return {sizeof(rnnp_cuda_device), arch, sms, 163 * 1024, 4u << 20, 1300, 204800, 1, 1, arch >= 900 ? 16u : 0u};
}

class CudaRunner {
 public:
  explicit CudaRunner(const std::vector<uint8_t> &blob, CudaOptions o = {}) : blob_(blob), batch_(o.batch) {
    expect_ok(rnnp_model_open(&model_, blob_.data(), blob_.size(), RNNP_OPEN_CHECK_WEIGHTS), "open");
    device_ = o.device != nullptr ? *o.device : small_device(o.sms, o.arch);
    rnnp_cuda_options c = RNNP_CUDA_OPTIONS_INIT;
    c.max_batch = o.batch;
    c.max_steps = o.max_steps;
    c.chunk_steps = o.chunk;
    c.max_steps_per_launch = o.launch_steps;
    c.weights = o.weights;
    c.kernels_allowed = o.kernels;
    c.spin_limit = o.spins;
    c.device = &device_;
    options_ = c;
    expect_ok(rnnp_cuda_session_memory(&model_, &c, &memory_), "memory");
    std::vector<uint64_t> image((memory_.image_bytes + 15) / 8 + 2);
    uint8_t *at = static_cast<uint8_t *>(static_cast<void *>(image.data()));
    at += (16 - reinterpret_cast<uintptr_t>(at) % 16) % 16;
    expect_ok(rnnp_cuda_pack(&model_, &c, at, memory_.image_bytes), "pack");
    host_ = AlignedBytes(memory_.host_bytes);
    std::memset(host_.data(), 0xA5, host_.size());
    weights_ = std::make_unique<DeviceBytes>(memory_.weight_bytes);
    if (o.work == nullptr) work_ = std::make_unique<DeviceBytes>(memory_.work_bytes);
    DeviceBytes &work = o.work != nullptr ? *o.work : *work_;
    if (o.maps_findings) expect_ok(rnnp_cuda_alloc(RNNP_CUDA_MAPPED_MEMORY, RNNP_CUDA_FINDINGS_BYTES, &findings_), "findings");
    const rnnp_cuda_buffers places = {sizeof places, 0, host_.data(), host_.size(), at, weights_->data(), work.data(), findings_};
    expect_ok(rnnp_cuda_session_init(&session_, &model_, &c, &places, nullptr), "init");
    expect_ok(rnnp_cuda_wait(session_, nullptr), "wait");
    rnnp_tensor_info f = RNNP_TENSOR_INFO_INIT;
    if (inputs() != 0) expect_ok(rnnp_model_get_input(&model_, 0, &f), "input");
    in_ = f.row_elems;
    expect_ok(rnnp_model_get_output(&model_, 0, &f), "output");
    out_ = f.row_elems;
  }
  ~CudaRunner() { rnnp_cuda_free(RNNP_CUDA_MAPPED_MEMORY, findings_); }
  CudaRunner(const CudaRunner &) = delete;
  CudaRunner &operator=(const CudaRunner &) = delete;

  rnnp_cuda_session *session() { return session_; }
  const rnnp_model *model() const { return &model_; }
  const rnnp_cuda_memory &memory() const { return memory_; }
  const rnnp_cuda_options &options() const { return options_; }
  size_t in() const { return in_; }
  size_t out() const { return out_; }

  // x [steps][batch][in] -> y, in pieces of `cut` steps (0: all at once), single ones by rnnp_cuda_step.
  std::vector<float> run(const std::vector<float> &x, size_t cut = 0) {
    const size_t steps = x.size() / (in_ * batch_);
    SharedArray<float> from(x), to(steps * batch_ * out_, -77.0f);
    for (size_t t = 0; t < steps;) {
      const size_t n = cut == 0 || cut > steps - t ? steps - t : cut;
      const float *a = from.data() + t * batch_ * in_;
      float *b = to.data() + t * batch_ * out_;
      expect_ok(cut == 1 ? rnnp_cuda_step(session_, a, b, nullptr) : rnnp_cuda_run(session_, n, a, b, nullptr), "run");
      t += n;
    }
    expect_ok(rnnp_cuda_wait(session_, nullptr), "wait");
    return to.vector();
  }

  // The first input and output, with lengths and rows.
  std::vector<float> run_rows(const std::vector<float> &x, uint32_t batch, const int32_t *lengths, const uint32_t *rows = nullptr,
                              uint32_t flags = 0) {
    const size_t steps = x.size() / (in_ * batch);
    SharedArray<float> from(x), to((flags & RNNP_RUN_LAST_STEP ? 1 : steps) * batch * out_, -77.0f);
    std::vector<rnnp_const_buffer> in(inputs());
    std::vector<rnnp_buffer> out(outputs());
    in[0].data = from.data();
    out[0].data = to.data();
    rnnp_io io = RNNP_IO_INIT;
    io.flags = flags;
    io.batch = batch;
    io.steps = steps;
    io.input_count = inputs();
    io.output_count = outputs();
    io.lengths = lengths;
    io.inputs = in.data();
    io.outputs = out.data();
    io.rows = rows;
    expect_ok(rnnp_cuda_run_io(session_, &io, nullptr), "run_io");
    expect_ok(rnnp_cuda_wait(session_, nullptr), "wait");
    return to.vector();
  }

  std::vector<uint8_t> save(uint32_t row) {
    std::vector<uint8_t> bytes(memory_.state_bytes);
    expect_ok(rnnp_cuda_state_save(session_, row, bytes.data(), bytes.size(), nullptr), "save");
    return bytes;
  }
  void load(uint32_t row, const std::vector<uint8_t> &bytes) {
    expect_ok(rnnp_cuda_state_load(session_, row, bytes.data(), bytes.size(), nullptr), "load");
  }
  void reset() { expect_ok(rnnp_cuda_state_reset(session_, RNNP_ALL_ROWS, nullptr), "reset"); }

  rnnp_cuda_layer_info layer(uint32_t index = 0) {
    rnnp_cuda_layer_info f = RNNP_CUDA_LAYER_INFO_INIT;
    expect_ok(rnnp_cuda_layer_get_info(session_, index, &f), "info");
    return f;
  }

  uint32_t inputs() const { return facts().input_count; }
  uint32_t outputs() const { return facts().output_count; }
  DeviceBytes &work() { return *work_; }

 private:
  rnnp_model_info facts() const {
    rnnp_model_info f = RNNP_MODEL_INFO_INIT;
    expect_ok(rnnp_model_get_info(&model_, &f), "info");
    return f;
  }

  AlignedBytes blob_, host_;
  rnnp_model model_;
  rnnp_cuda_device device_;
  rnnp_cuda_options options_;
  rnnp_cuda_memory memory_ = RNNP_CUDA_MEMORY_INIT;
  std::unique_ptr<DeviceBytes> weights_, work_;
  void *findings_ = nullptr;
  rnnp_cuda_session *session_ = nullptr;
  uint32_t batch_;
  size_t in_ = 0, out_ = 0;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_CUDA_CUDA_RUNNER_H_
