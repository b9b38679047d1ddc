// cuda_session.h -- a CUDA session as it lies in the caller's host memory: the runtime's Session whose operators enqueue and whose
// data is on the device, and what these share. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_CUDA_SESSION_H_
#define RNNPACK_CUDA_CUDA_SESSION_H_

#include "cuda/context.h"
#include "runtime/prepare.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kCudaSessionTag = 0x61647563u;

// What begins an image: whose it is.
struct ImageHeader {
  uint32_t magic, version;
  uint64_t key;    // of the model and its plans
  uint64_t bytes;  // of the whole image
  uint32_t crc;    // of what follows the header
  uint32_t reserved;
};
constexpr uint32_t kImageMagic = 0x49504e52u;  // the bytes "RNPI"

// Everything that can be said of a session before it is made. Holds pointers into itself: not moved.
struct Prepared {
  Context context;
  Model model;
  SessionConfig config;
  Refusal refusal;
  const char *reason;  // where it is not the runtime that refuses; else nullptr
  rnnp_status status;
  size_t own_bytes, host_bytes, weight_bytes, work_bytes;
  uint64_t key;
};
// p->status, and all sizes where that is RNNP_OK. loads_kernels: those of the session's runs; p->context.error is what that gave.
void prepare(const rnnp_model *model, const rnnp_cuda_options *options, Prepared *p, bool loads_kernels = false);
// One more walk of the nodes: packs into image.host, or places with pointers into image.device. config.memory is the context.
rnnp_status walk_nodes(const SessionConfig &config, Context *context, const Image &image, Arena *arena, Arena *data,
                       Session **session, Refusal *refusal);

extern const rnnp_registry kCudaRegistry;

}  // namespace cuda
}  // namespace rnnp

struct rnnp_cuda_session {
  uint32_t tag;
  bool has_run;
  void *last_stream;
  int32_t error;   // the last cudaError_t
  int32_t device;  // the GPU of its memory and kernels
  rnnp::cuda::Context context;
  rnnp::Session *session;
};

namespace rnnp {
namespace cuda {

inline bool is_cuda_session(const rnnp_cuda_session *s) {
  return s != nullptr && s->tag == kCudaSessionTag;
}
// Around what is enqueued. begin: RNNP_E_ARG, RNNP_E_BUSY where another stream still uses the session, RNNP_E_DEVICE where the
// thread's GPU is not the session's.
rnnp_status begin_work(rnnp_cuda_session *s, void *stream);
rnnp_status end_work(rnnp_cuda_session *s);
rnnp_status status_of_error(int32_t error);
// RNNP_OK, or what the context's failure is; the context may go on afterwards.
rnnp_status take_error(rnnp_cuda_session *s);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_CUDA_SESSION_H_
