// captured_nodes.cpp -- Contract: captured_nodes.h. By a trace of the run: its events name the library's own view of the chunk.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/captured_nodes.h"

#include "ops/op.h"
#include "rnnpack/trace.h"

namespace rnnp::compiler {
namespace {

struct Capture {
  std::vector<bool> wanted;
  std::vector<SeenNode> seen;
};

// Rows of this chunk behind those of the chunks before.
void see(const RunEnv &env, uint32_t value, SeenRows *out) {
  if (value == kNone || env.values[value].data == nullptr) return;
  const BlobValue &v = env.model->values[value];
  if (v.dtype != uint32_t(DType::kF32)) return;
  out->elems = v.row_elems;
  out->per_step = v.sequence != 0;
  if (!out->per_step) out->rows.clear();
  const size_t count = chunk_rows(env, value);
  if (is_channel_major(env, value)) {
    const float *first = row_of(env.values[value], 0);
    for (size_t i = 0; i < count * v.row_elems; ++i) out->rows.push_back(first[i % v.row_elems * count + i / v.row_elems]);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const float *row = row_of(env.values[value], i);
    out->rows.insert(out->rows.end(), row, row + v.row_elems);
  }
}

const RunEnv &chunk_of(const rnnp_trace_event &event) {
  return *static_cast<const RunEnv *>(event.chunk);
}

// Rows of a run are made in its first chunk or in its last; in others their memory may hold anything.
SeenNode *seen_node(Capture *capture, const rnnp_trace_event &event) {
  const RunEnv &env = chunk_of(event);
  const BlobNode &node = env.model->nodes[event.node];
  bool works = OpKind(node.op) == OpKind::kRecurrent;
  for (uint32_t i = 0; i < node.output_count && !works; ++i) {
    const uint32_t value = env.model->node_output(node, i);
    works = value != kNone && runs_in_chunk(env, value);
  }
  return works && event.node < capture->wanted.size() && capture->wanted[event.node] ? &capture->seen[event.node] : nullptr;
}

void see_operands(void *ctx, const rnnp_trace_event *event) {
  SeenNode *seen = seen_node(static_cast<Capture *>(ctx), *event);
  if (seen == nullptr) return;
  const RunEnv &env = chunk_of(*event);
  const BlobNode &node = env.model->nodes[event->node];
  const bool layer = OpKind(node.op) == OpKind::kRecurrent;
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

void see_results(void *ctx, const rnnp_trace_event *event) {
  SeenNode *seen = seen_node(static_cast<Capture *>(ctx), *event);
  if (seen == nullptr) return;
  const RunEnv &env = chunk_of(*event);
  const BlobNode &node = env.model->nodes[event->node];
  for (uint32_t i = 0; i < node.output_count; ++i) see(env, env.model->node_output(node, i), &seen->out[i]);
}

}  // namespace

SeenRun watch_run(Runner *runner, const Arrays &inputs, const std::vector<bool> &wanted) {
  Capture capture = {wanted, std::vector<SeenNode>(wanted.size())};
  const rnnp_trace trace = {sizeof trace, &capture, see_operands, see_results};
  RunOptions options;
  options.trace = &trace;
  SeenRun run;
  run.outputs = runner->run(inputs, options);
  run.nodes = std::move(capture.seen);
  return run;
}

}  // namespace rnnp::compiler
