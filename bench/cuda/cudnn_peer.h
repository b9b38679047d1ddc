// cudnn_peer.h -- a layer of the tests' blobs by cuDNN's recurrent calls, with an algorithm asked for by name.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BENCH_CUDA_CUDNN_PEER_H_
#define RNNPACK_BENCH_CUDA_CUDNN_PEER_H_

#include <memory>
#include <string>
#include <vector>

#include "support/blob_builder.h"

namespace rnnp_bench {

enum class CudnnAlgorithm { kStandard, kPersistent, kSmallHidden };
const char *name_of(CudnnAlgorithm algorithm);

struct CudnnRun {
  size_t steps, batch;
  bool halves;  // weights, x and y as f16, on the matrix units; else f32 without TF32
};

class CudnnLayer {
 public:
  virtual ~CudnnLayer() = default;
  // Seconds from the call to its end, from a state of zeros.
  virtual double run() = 0;
  virtual std::vector<float> output() = 0;  // [steps][batch][hidden]
};

// x [steps][batch][input]. nullptr where cuDNN is not there, or does not do it; *why says which.
std::unique_ptr<CudnnLayer> make_cudnn_layer(const rnnp_test::RecurrentLayer &layer, const std::vector<float> &x,
                                             const CudnnRun &what, CudnnAlgorithm algorithm, std::string *why);

}  // namespace rnnp_bench
#endif  // RNNPACK_BENCH_CUDA_CUDNN_PEER_H_
