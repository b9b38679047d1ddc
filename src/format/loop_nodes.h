// loop_nodes.h -- where the loops of a blob begin and end: AttrLoop. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_LOOP_NODES_H_
#define RNNPACK_FORMAT_LOOP_NODES_H_

#include "format/model.h"

namespace rnnp {

// Nodes of the loop that begins with this one; 0: none does.
inline uint32_t loop_nodes(const Model &m, const BlobNode &node) {
  if (node.op != uint32_t(OpKind::kStateRead)) return 0;
  const AttrLoop *loop = m.attr<AttrLoop>(node);
  return loop != nullptr ? loop->nodes : 0;
}

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_LOOP_NODES_H_
