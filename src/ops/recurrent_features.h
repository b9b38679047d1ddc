// recurrent_features.h -- a recurrent layer over a feature axis, whatever its kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_FEATURES_H_
#define RNNPACK_OPS_RECURRENT_FEATURES_H_

#include "ops/recurrent_build.h"

namespace rnnp {

struct FeatureLayer {
  RNNPACK_BYTES_32(32);
  Recurrent *layer;
  uint32_t steps, rows, x_elems;
  uint32_t block;       // rows that one call of a kernel takes
  uint32_t positions;   // rows times steps whose pre-activations are made at once; 0: the step takes its input itself
  size_t state_bytes;   // of one buffer of `block` rows
  size_t thread_bytes;  // of the scratch: the layer's, then h twice, then c
};

// The numbers of a FeatureLayer, and the layer's own.
struct FeaturePlan {
  RecurrentPlan cut;
  uint32_t block, positions;
  size_t state_bytes, thread_bytes;
};

// Op::check and Op::costs.
rnnp_status check_features(const Model &m, const BlobNode &node);
NodeCosts feature_costs(const Model &m, const BlobNode &node);

FeaturePlan plan_features(const BuildEnv &env, const AttrFeatureRecurrent &a);

// Op::build and Op::run. *built stays as it is while measuring. products: the thread's own, of an unfused layer.
rnnp_status build_over_features(BuildEnv *env, const AttrFeatureRecurrent &a, const FeaturePlan &plan,
                                const RecurrentKernels &kernels, FeatureLayer **built);
void run_over_features(const RunEnv &env, const BlobNode &node, const FeatureLayer &features, uint32_t thread, Products *products);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_FEATURES_H_
