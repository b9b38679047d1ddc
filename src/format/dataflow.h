// dataflow.h -- which memory of the pools a value holds from which node to which, and who owns a state: what takes memory to check,
// so a session checks it when it is made, before any node runs. The rules are those of docs/BLOB_FORMAT.md, "Lifetimes".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_DATAFLOW_H_
#define RNNPACK_FORMAT_DATAFLOW_H_

#include "format/model.h"

namespace rnnp {

// Bytes that dataflow_fits needs, a function of the sizes of the tables.
size_t dataflow_bytes(const Model &m);

// True when every value is written before it is read, no node writes memory that another value lives in, each output is a value of
// its own and no two layers share a state. Nodes' attributes have been checked by their operators. memory: dataflow_bytes, aligned
// to 4. Work: n log n in the number of values, linear in everything else.
// *node: where it does not, the node that shows it, or kNone.
bool dataflow_fits(const Model &m, void *memory, uint32_t *node);

// The two, for a registry to name or to leave out (rnnpack/registry.h).
struct BlobCheck {
  size_t (*bytes)(const Model &m);
  bool (*fits)(const Model &m, void *memory, uint32_t *node);
};
extern "C" {
extern const BlobCheck rnnp_check_dataflow;
}

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_DATAFLOW_H_
