// cudnn_absent.cpp -- Contract: cudnn_peer.h, where no cuDNN was found. SPDX-License-Identifier: Apache-2.0
#include "cudnn_peer.h"

namespace rnnp_bench {

const char *name_of(CudnnAlgorithm) {
  return "cuDNN";
}
std::unique_ptr<CudnnLayer> make_cudnn_layer(const rnnp_test::RecurrentLayer &, const std::vector<float> &, const CudnnRun &,
                                             CudnnAlgorithm, std::string *why) {
  *why = "absent";
  return nullptr;
}

}  // namespace rnnp_bench
