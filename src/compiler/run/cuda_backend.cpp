// cuda_backend.cpp -- Contract: cuda_backend.h. Compiled with RNNPACK_TOOL_CUDA where the build has librnnpack_cuda.a.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/cuda_backend.h"

#include "compiler/onnx/errors.h"

#ifdef RNNPACK_TOOL_CUDA
#include <cstdio>
#include <list>

#include "compiler/emit/refusal_text.h"
#include "rnnpack/cuda.h"
#endif

namespace rnnp::compiler {

#ifndef RNNPACK_TOOL_CUDA

std::unique_ptr<Backend> make_cuda_backend(const Runner &, const std::string &) {
  throw IoError("this rnnpack was built without CUDA; a build with -DRNNPACK_CUDA=ON runs models on a GPU (docs/CUDA.md)");
}

#else

namespace {

class CudaMemory {
 public:
  CudaMemory(uint32_t kind, size_t bytes, const char *what) : kind_(kind) {
    if (rnnp_cuda_alloc(kind, bytes, &data_) != RNNP_OK)
      throw IoError("the GPU has no memory for " + std::string(what) + " (" + std::to_string(bytes) + " bytes)");
  }
  CudaMemory(const CudaMemory &) = delete;
  CudaMemory &operator=(const CudaMemory &) = delete;
  ~CudaMemory() { rnnp_cuda_free(kind_, data_); }
  void *data() const { return data_; }

 private:
  uint32_t kind_;
  void *data_ = nullptr;
};

class CudaBackend : public Backend {
 public:
  CudaBackend(const Runner &runner, uint32_t weights) : runner_(runner), weights_(weights) {}

  void open(const rnnp_session_options &given) override {
    rnnp_cuda_options options = RNNP_CUDA_OPTIONS_INIT;
    options.max_batch = given.max_batch;
    options.max_steps = given.max_steps;
    options.chunk_steps = given.chunk_steps;
    options.weights = weights_;
    const rnnp_model &model = runner_.opened();
    rnnp_refusal why = RNNP_REFUSAL_INIT;
    if (rnnp_cuda_session_explain(&model, &options, &why) != RNNP_OK) {
      const std::string node =
          why.node == RNNP_NO_NODE ? "" : "node " + std::to_string(why.node) + " (" + why.op + " " + quote(why.node_name) + "): ";
      throw IoError("the GPU cannot run this blob: " + node + why.reason);
    }
    rnnp_cuda_memory need = RNNP_CUDA_MEMORY_INIT;
    check(rnnp_cuda_session_memory(&model, &options, &need), "rnnp_cuda_session_memory");
    AlignedBytes image(need.image_bytes, 64);
    check(rnnp_cuda_pack(&model, &options, image.data(), need.image_bytes), "rnnp_cuda_pack");
    host_ = std::make_unique<AlignedBytes>(need.host_bytes, need.host_align);
    device_.clear();
    const rnnp_cuda_buffers places = {sizeof places,
                                      0,
                                      host_->data(),
                                      need.host_bytes,
                                      image.data(),
                                      take(need.weight_bytes, "the weights"),
                                      take(need.work_bytes, "states and activations"),
                                      take(RNNP_CUDA_FINDINGS_BYTES, "findings", RNNP_CUDA_MAPPED_MEMORY)};
    check(rnnp_cuda_session_init(&session_, &model, &options, &places, nullptr), "rnnp_cuda_session_init");
    check(rnnp_cuda_wait(session_, nullptr), "rnnp_cuda_wait");  // the image is read until then
  }

  rnnp_status run(const rnnp_io &given) override {
    std::list<CudaMemory> memory;
    std::vector<rnnp_const_buffer> in(given.inputs, given.inputs + given.input_count);
    std::vector<rnnp_buffer> out(given.outputs, given.outputs + given.output_count);
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].data == nullptr) continue;
      const size_t bytes = bytes_of(runner_.inputs()[i], given, false);
      memory.emplace_back(RNNP_CUDA_DEVICE_MEMORY, bytes, "an input");
      check(rnnp_cuda_copy(memory.back().data(), in[i].data, bytes, nullptr), "rnnp_cuda_copy");
      in[i].data = memory.back().data();
    }
    const bool last_step = (given.flags & RNNP_RUN_LAST_STEP) != 0;
    for (size_t i = 0; i < out.size(); ++i) {
      memory.emplace_back(RNNP_CUDA_DEVICE_MEMORY, bytes_of(runner_.outputs()[i], given, last_step), "an output");
      out[i].data = memory.back().data();
    }
    rnnp_io io = given;
    io.inputs = in.data();
    io.outputs = out.data();
    rnnp_status status = rnnp_cuda_run_io(session_, &io, nullptr);
    if (status == RNNP_OK) status = rnnp_cuda_wait(session_, nullptr);
    for (size_t i = 0; i < out.size() && status == RNNP_OK; ++i)
      status = rnnp_cuda_copy(given.outputs[i].data, out[i].data, bytes_of(runner_.outputs()[i], given, last_step), nullptr);
    return status;
  }

 private:
  void *take(size_t bytes, const char *what, uint32_t kind = RNNP_CUDA_DEVICE_MEMORY) {
    device_.emplace_back(kind, bytes, what);
    return device_.back().data();
  }
  // Of a tensor of a call of the runner, which are packed.
  static size_t bytes_of(const rnnp_tensor_info &tensor, const rnnp_io &io, bool last_step) {
    const size_t rows = tensor.role == RNNP_ROLE_SEQUENCE && !last_step ? io.steps * io.batch : io.batch;
    return rows * (tensor.role == RNNP_ROLE_LENGTHS ? 1 : tensor.row_elems) * sizeof(float);
  }

  const Runner &runner_;
  uint32_t weights_;
  std::unique_ptr<AlignedBytes> host_;
  std::list<CudaMemory> device_;
  rnnp_cuda_session *session_ = nullptr;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const Runner &runner, const std::string &weights) {
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  if (rnnp_cuda_device_query(-1, &device) != RNNP_OK) throw IoError("there is no GPU here, or no driver for it");
#ifdef RNNPACK_TOOL_CUDA_EMULATED
  std::fprintf(stderr, "rnnpack: this build emulates a GPU\n");
#endif
  const uint32_t type = weights == "f16" ? RNNP_CUDA_F16 : weights == "bf16" ? RNNP_CUDA_BF16 : RNNP_CUDA_F32;
  return std::make_unique<CudaBackend>(runner, type);
}

#endif

}  // namespace rnnp::compiler
