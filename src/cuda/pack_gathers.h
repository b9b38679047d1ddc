// pack_gathers.h -- the image of a resident sparse matrix (gather_layout.h) from the blocks of the blob.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PACK_GATHERS_H_
#define RNNPACK_CUDA_PACK_GATHERS_H_

#include "cuda/gather_slots.h"
#include "format/model.h"

namespace rnnp {
namespace cuda {

// A gate of the 32 units from `unit` on.
RowGroup row_group_of(const Matrix &m, uint32_t gate, uint32_t unit);

// The bundles of the gate's longest row group.
uint32_t bundles_of_gate(Weights weights, const Matrix &m, uint32_t gate);

// A row group of a block's image: `to` is where the block begins, group its number within.
void pack_row_group(Weights weights, const GatherShape &s, uint32_t group, const Matrix &m, const RowGroup &blocks, uint8_t *to);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PACK_GATHERS_H_
