// passes.h -- rewrites of the compiler's graph that leave every result as it is: fusion, removal of what nobody reads, and the
// facts the header needs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_PASSES_H_
#define RNNPACK_COMPILER_IR_PASSES_H_

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// All passes in order.
void run_passes(Graph *graph);

// One at a time, for tests.
void fuse_linear_constants(Graph *graph);   // dense or conv, then a constant per output added or multiplied
void fuse_linear_activation(Graph *graph);  // dense or conv, then an activation
void merge_equal_nodes(Graph *graph);       // the same element-wise node or reduction twice
void fuse_norm(Graph *graph);               // means, squares and roots that make up a normalisation
void fuse_copies(Graph *graph);             // copies that nobody but a copy reads
void transpose_states(Graph *graph);        // a state that is transposed before it is kept is kept as it was
void drop_idle_copies(Graph *graph);        // copies of a whole row as it lies
void put_weights_in_order(Graph *graph);    // of a layer that reads a copy of a row in another order
void remove_dead(Graph *graph);             // nodes and values that reach no output
void drop_unread_lengths(Graph *graph);     // integer inputs that no node reads
void find_first_chunk_rows(Graph *graph);   // Value::early
void find_causality(Graph *graph);          // Graph::causal and looks_ahead

// Why the node needs later steps of what it reads, or nullptr.
const char *reads_later_steps(const Node &node);

// Causal, if the library kept these inputs.
bool would_be_causal(const Graph &graph, const std::vector<uint32_t> &kept);

// How many nodes and outputs read each value.
std::vector<uint32_t> use_counts(const Graph &graph);
// The copies that make up a value; nothing where another node writes it too.
std::vector<size_t> copies_that_make(const Graph &graph, uint32_t value);
// Multiply-accumulates of one step of one row.
uint64_t macs_per_step(const Graph &graph);
// FNV-1a 64 over the graph and its unpacked weights: the same for every target.
uint64_t model_id(const Graph &graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_PASSES_H_
