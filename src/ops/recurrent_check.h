// recurrent_check.h -- what a recurrent node must be, what it costs, and which kernel it asks for.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_CHECK_H_
#define RNNPACK_OPS_RECURRENT_CHECK_H_

#include "ops/op.h"

namespace rnnp {

// Shapes, matrices, vectors, states, operands and results, as docs/BLOB_FORMAT.md asks for them.
rnnp_status check_recurrent(const Model &m, const BlobNode &node);
// The same where cells up to `last` may be.
rnnp_status check_recurrent_of(const Model &m, const BlobNode &node, Cell last);

// The same of a layer alone: its numbers, then, where they fit, its matrices and vectors.
bool recurrent_sizes_fit(const AttrRecurrent &a, Cell last = Cell::kGruLinear);
rnnp_status check_recurrent_weights(const Model &m, const AttrRecurrent &a);

// Whether the cell is a kLstmNorm. Of any node of the kind.
bool has_norms(const Model &m, const BlobNode &node);

// Whether products of their own multiply by R. Of any node of the kind.
bool is_unfused(const Model &m, const BlobNode &node);

// Of a node that has been checked.
NodeCosts recurrent_costs(const Model &m, const BlobNode &node);

// The family of a direction's step; of kGru, of its gates z and r.
KernelFamily step_family(const AttrRecurrent &a, const BlobDirection &d);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_CHECK_H_
