// dense.h -- parts of a dense node's work, for who runs the rest of it elsewhere (ops/xnnpack). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_DENSE_H_
#define RNNPACK_OPS_DENSE_H_

#include "ops/op.h"

namespace rnnp {

// Vectors of this chunk, a row holding `groups` of them, and output tiles; done by one thread.
struct DensePart {
  size_t first, count;
  uint32_t tile_begin, tile_end;
  uint32_t thread;
};

// The products and biases of a part, of a node with one matrix; then its activation. object: rnnp_op_dense's.
void dense_product(const RunEnv &env, const BlobNode &node, const void *object, const DensePart &part);
void dense_activate(const RunEnv &env, const BlobNode &node, const void *object, const DensePart &part);

}  // namespace rnnp
#endif  // RNNPACK_OPS_DENSE_H_
