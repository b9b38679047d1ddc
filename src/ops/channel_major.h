// channel_major.h -- which values of a session are channel-major, [element][step], in a chunk of many steps: few channels fill a
// vector with steps where they cannot fill it with themselves. A value is where all nodes that make and read it take it so; bits
// are those of rows, [step][element]. Of one element both are the same. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_CHANNEL_MAJOR_H_
#define RNNPACK_OPS_CHANNEL_MAJOR_H_

#include "ops/op.h"

namespace rnnp {

constexpr uint32_t kFewestChannelMajorSteps = 8;  // of a chunk; measured, Zen 4 (bench/notebook/kernels.md)

// `rows`: all nodes as they run rows. `nodes`: those that another operator runs where values are channel-major; the rest is
// filled in. Marks values, and says whether there is anything to be run so. Where such an operator runs a node its result is
// channel-major, x as it may be; of other nodes all operands are alike.
bool mark_channel_major(const OpChoice &choice, const NodeSlot *rows, NodeSlot *nodes, uint8_t *marks);

}  // namespace rnnp
#endif  // RNNPACK_OPS_CHANNEL_MAJOR_H_
