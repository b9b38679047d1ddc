// winograd_lines.h -- windows of three columns at one or more steps, channels side by side, by F(2, 3): 4 products in the place of
// 6 for two results of a line. What conv_winograd.cpp does where its result has no planes. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_WINOGRAD_LINES_H_
#define RNNPACK_OPS_WINOGRAD_LINES_H_

#include "ops/conv_history.h"

namespace rnnp {

// After check_conv.
rnnp_status check_winograd_lines(const Model &m, const AttrConv &a);
rnnp_status build_winograd_lines(BuildEnv *env, const BlobNode &node, void **object);
void run_winograd_lines(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread);

}  // namespace rnnp
#endif  // RNNPACK_OPS_WINOGRAD_LINES_H_
