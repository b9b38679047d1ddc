// cuda_graph.cpp -- a call as a CUDA graph, and memory for callers without CUDA's runtime. What allocates is here alone, by the
// runtime's own functions. Contract: cuda.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"

namespace rnnp {
namespace cuda {
namespace {

rnnp_cuda_graph *handle_of(void *graph) {
  return static_cast<rnnp_cuda_graph *>(graph);
}

rnnp_status of_memory(int32_t error) {
  return error == 0 ? RNNP_OK : RNNP_E_DEVICE;
}

}  // namespace
}  // namespace cuda
}  // namespace rnnp

rnnp_status rnnp_cuda_graph_make(rnnp_cuda_graph **graph, rnnp_cuda_session *session, const rnnp_io *io, void *stream) {
  using namespace rnnp::cuda;
  if (graph == nullptr || stream == nullptr) return RNNP_E_ARG;
  const rnnp_status begun = begin_work(session, stream);
  if (begun != RNNP_OK) return begun;
  if (gpu_is_capturing(stream)) return RNNP_E_BUSY;
  session->context.error = gpu_begin_capture(stream);
  if (session->context.error != 0) return take_error(session);
  const rnnp_status status = rnnp_cuda_run_io(session, io, stream);
  void *made = nullptr;
  session->context.error = gpu_end_capture(stream, status == RNNP_OK ? &made : nullptr);
  const rnnp_status ended = take_error(session);
  if (status != RNNP_OK || ended != RNNP_OK) {
    if (made != nullptr) gpu_free_graph(made);
    return status != RNNP_OK ? status : ended;
  }
  *graph = handle_of(made);
  return RNNP_OK;
}

rnnp_status rnnp_cuda_graph_run(rnnp_cuda_session *session, rnnp_cuda_graph *graph, void *stream) {
  using namespace rnnp::cuda;
  if (graph == nullptr) return RNNP_E_ARG;
  const rnnp_status status = begin_work(session, stream);
  if (status != RNNP_OK) return status;
  session->context.error = gpu_run_graph(graph, stream);
  return end_work(session);
}

void rnnp_cuda_graph_free(rnnp_cuda_graph *graph) {
  if (graph != nullptr) rnnp::cuda::gpu_free_graph(graph);
}

rnnp_status rnnp_cuda_alloc(uint32_t kind, size_t bytes, void **memory) {
  if (memory == nullptr || kind > RNNP_CUDA_MAPPED_MEMORY) return RNNP_E_ARG;
  *memory = nullptr;
  return rnnp::cuda::of_memory(rnnp::cuda::gpu_alloc(kind, bytes != 0 ? bytes : 1, memory));
}

void rnnp_cuda_free(uint32_t kind, void *memory) {
  if (memory != nullptr) rnnp::cuda::gpu_free(kind, memory);
}

rnnp_status rnnp_cuda_copy(void *to, const void *from, size_t bytes, void *stream) {
  if (bytes == 0) return RNNP_OK;
  if (to == nullptr || from == nullptr) return RNNP_E_ARG;
  const int32_t error = rnnp::cuda::gpu_upload(to, from, bytes, stream);
  return rnnp::cuda::of_memory(error != 0 ? error : rnnp::cuda::gpu_wait(stream));
}
