// reduce_slow_path.h -- the reductions that networks rarely have, built small. Declared here, so that whoever includes this gets
// the source of the same name along (compiler/emit/one_file.cpp). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_REDUCE_SLOW_PATH_H_
#define RNNPACK_OPS_REDUCE_SLOW_PATH_H_

#include "ops/op.h"

namespace rnnp {

struct ReduceNode {
  RNNPACK_BYTES_32(12);
  const AttrReduce *attr;
  float count;    // elements per output
  bool columns;   // outputs side by side
  uint8_t lanes;  // that the elements of one output reach, a power of two: others would change nothing
};

void reduce_slow_path(const ReduceNode &r, const float *x, float *y);

}  // namespace rnnp
#endif  // RNNPACK_OPS_REDUCE_SLOW_PATH_H_
