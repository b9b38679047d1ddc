// captured_ops.cpp -- Contract: captured_ops.h.
// SPDX-License-Identifier: Apache-2.0
#define RNNPACK_REGISTRY_NO_OBJECTS 1  // operators are known here by their full type
#include "compiler/cli/captured_ops.h"

#include "compiler/cli/instrumented_ops.h"

namespace rnnp::compiler {
namespace {

struct Watching;
using CapturedOps = InstrumentedOps<Watching>;

// Of the thread's run.
thread_local std::vector<bool> wanted_nodes;
thread_local std::vector<SeenNode> seen_nodes;

// Rows of this chunk behind those of the chunks before.
void see(const RunEnv &env, uint32_t value, SeenRows *out) {
  if (value == kNone || env.values[value].data == nullptr) return;
  const BlobValue &v = env.model->values[value];
  if (v.dtype != uint32_t(DType::kF32)) return;
  out->elems = v.row_elems;
  out->per_step = v.sequence != 0;
  if (!out->per_step) out->rows.clear();
  const size_t count = chunk_rows(env, value);
  for (size_t i = 0; i < count; ++i) {
    const float *row = row_of(env.values[value], i);
    out->rows.insert(out->rows.end(), row, row + v.row_elems);
  }
}

template <size_t kAt>
void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const size_t index = static_cast<size_t>(&node - &env.model->nodes[0]);
  // Rows of a run are made in its first chunk or in its last; in others their memory may hold anything.
  const bool layer = OpKind(node.op) == OpKind::kRecurrent, has_result = node.output_count != 0;
  const bool works = layer || (has_result && runs_in_chunk(env, env.model->node_output(node, 0)));
  const bool watched = works && index < wanted_nodes.size() && wanted_nodes[index];
  SeenNode *seen = watched ? &seen_nodes[index] : nullptr;
  if (watched) {
    seen->batch = env.batch;
    seen->in.resize(node.input_count);
    seen->out.resize(node.output_count);
    for (uint32_t i = 0; i < node.input_count; ++i) {
      const bool starts = layer && (i == 1 || i == 2);
      if (env.first_chunk || !starts) see(env, env.model->node_input(node, i), &seen->in[i]);
    }
    const int32_t *lengths = layer ? row_lengths(env, env.model->node_input(node, 3)) : env.lengths;
    if (lengths != nullptr) seen->lengths.assign(lengths, lengths + env.batch);
  }
  CapturedOps::originals[kAt]->run(env, node, object, thread);
  if (watched) {
    for (uint32_t i = 0; i < node.output_count; ++i) see(env, env.model->node_output(node, i), &seen->out[i]);
  }
}

// The fast path of single steps is not watched.
template <size_t kAt>
StepFn finish(FinishEnv *env, const BlobNode &node, void *object) {
  CapturedOps::originals[kAt]->finish(env, node, object);
  return nullptr;
}

struct Watching {
  template <size_t kAt>
  static void surround(Op *op) {
    op->run = run<kAt>;
    if (op->finish != nullptr) op->finish = finish<kAt>;
  }
};

}  // namespace

SeenRun watch_run(Runner *runner, const Arrays &inputs, const std::vector<bool> &wanted) {
  static const CapturedOps watched;
  wanted_nodes = wanted;
  seen_nodes.assign(wanted.size(), {});
  RunOptions options;
  options.registry = &watched.registry;
  SeenRun run;
  run.outputs = runner->run(inputs, options);
  run.nodes = std::move(seen_nodes);
  return run;
}

}  // namespace rnnp::compiler
