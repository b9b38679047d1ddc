// recurrent.cpp -- the operator of recurrent layers whose kernels multiply by R.
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_build.h"
#include "ops/recurrent_check.h"
#include "ops/recurrent_run.h"
#include "ops/recurrent_step.h"

namespace rnnp {
namespace {

bool is_not_split(const OpChoice &choice, const BlobNode &node) {
  return !splits_step(*choice.model, node);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  RecurrentPlan plan;
  Recurrent *layer = nullptr;
  const rnnp_status status = build_recurrent(env, node, false, &plan, &layer);
  *object = layer;
  return status;
}

}  // namespace

RNNPACK_OP(recurrent, {OpKind::kRecurrent, is_not_split, check_recurrent, recurrent_costs, build, finish_recurrent, run_recurrent});

}  // namespace rnnp
