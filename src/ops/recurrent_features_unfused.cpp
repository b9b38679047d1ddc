// recurrent_features_unfused.cpp -- layers over a feature axis whose R is in panels that recurrent kernels do not read: an operator
// of its own, as recurrent_products.cpp. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_check.h"
#include "ops/recurrent_features.h"
#include "ops/recurrent_products.h"

namespace rnnp {
namespace {

rnnp_status build_unfused_features(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrFeatureRecurrent &a = *env->model->attr<AttrFeatureRecurrent>(node);
  const FeaturePlan plan = plan_features(*env, a);
  UnfusedKernels kernels;
  rnnp_status status = find_unfused_kernels(*env, a.layer, plan.cut, &kernels);
  if (status != RNNP_OK) return status;
  FeatureLayer *features = nullptr;
  status = build_over_features(env, a, plan, kernels.others, &features);
  add_products(env, a.layer, plan.cut, kernels.product, features != nullptr ? features->layer : nullptr);
  *object = features;
  return status;
}

void run_unfused_features(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  Products products;
  run_over_features(env, node, *static_cast<const FeatureLayer *>(object), thread, &products);
}

bool accepts_unfused_features(const OpChoice &choice, const BlobNode &node) {
  return is_unfused(*choice.model, node);
}

}  // namespace

RNNPACK_OP(feature_recurrent_unfused, {OpKind::kFeatureRecurrent, accepts_unfused_features, check_features, feature_costs,
                                       build_unfused_features, nullptr, run_unfused_features});

}  // namespace rnnp
