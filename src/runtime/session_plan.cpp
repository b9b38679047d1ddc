// session_plan.cpp -- Contract: session_plan.h. Operators say what their nodes cost; nothing here knows an operator.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/session_plan.h"

#include "base/many_threads.h"
#include "ops/channel_major.h"
#include "ops/recurrent_plan.h"

namespace rnnp {
namespace {

// Of the nodes of one step: the dearest between two syncs, the widest, and all syncs.
struct StepNeeds {
  uint64_t macs_per_sync;
  size_t row_bytes;
  uint32_t syncs;
  bool loops;  // nodes run step by step within a chunk
};

// Of a node that has been checked.
NodeCosts costs_of(const Op &op, const Model &m, const BlobNode &node) {
  return op.costs != nullptr ? op.costs(m, node) : element_costs(m, node, kElementCost);
}

uint64_t macs_of(const void *config, uint32_t node) {
  const SessionConfig &c = *static_cast<const SessionConfig *>(config);
  const BlobNode &n = c.model->nodes[node];
  return costs_of(*operator_of(c, n), *c.model, n).macs;
}

bool is_known(const SessionConfig &c, const BlobNode &node) {
  for (uint32_t i = 0; i < c.ops.count; ++i) {
    if (uint32_t(c.ops.ops[i]->kind) == node.op) return true;
  }
  return false;
}

// What the nodes of a step, and those of a run, may cost by what the header says of them and what they make; several times as much
// as any that the compiler writes. Else a small blob could ask for hours.
constexpr uint64_t kMostPerMac = 16, kMostPerElement = 1024, kMostPerRun = uint64_t{1} << 35;

struct PlanWork {
  uint64_t most[2], cost[2];  // of a run, of a step

  bool take(const Model &m, const BlobNode &node, uint64_t macs) {
    uint64_t elems = 0;
    uint32_t per_step = 0;
    for (uint32_t i = 0; i < node.output_count; ++i) {
      const uint32_t y = m.node_output(node, i);
      if (y == kNone) continue;
      elems += m.values[y].row_elems;
      per_step |= m.values[y].sequence;
    }
    most[per_step] += cost_product(elems, kMostPerElement);
    cost[per_step] += macs;
    return cost[per_step] <= most[per_step];
  }
};

rnnp_status check_nodes(const SessionConfig &c, StepNeeds *needs, Refusal *refusal) {
  const Model &m = *c.model;
  *needs = {};
  const uint64_t macs = cost_product(m.header->macs_per_step, kMostPerMac);
  PlanWork work = {{macs + kMostPerRun, macs}, {0, 0}};
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    const Op *op = operator_of(c, m.nodes[i]);
    if (op == nullptr) return refuse(refusal, is_known(c, m.nodes[i]) ? Reason::kNotTaken : Reason::kNoOperator, i);
    if (op->check == nullptr && c.check != nullptr) return refuse(refusal, Reason::kOtherBlob, i);
    const rnnp_status status = op->check == nullptr ? RNNP_OK : op->check(m, m.nodes[i]);
    if (status != RNNP_OK) return refuse(refusal, reason_of(status), i);
    const NodeCosts costs = costs_of(*op, m, m.nodes[i]);
    if (!work.take(m, m.nodes[i], costs.macs)) return refuse(refusal, Reason::kTooMuchWork, i);
    needs->syncs += costs.syncs;
    if (costs.macs_per_sync > needs->macs_per_sync) needs->macs_per_sync = costs.macs_per_sync;
    if (costs.row_bytes > needs->row_bytes) needs->row_bytes = costs.row_bytes;
    if (op->loop != nullptr && op->loop->nodes(m, m.nodes[i]) != 0) needs->loops = true;
  }
  return RNNP_OK;
}

// Steps of one chunk: asked for, or the longest that keeps the widest layer's rows in cache.
uint32_t program_chunk_steps(const SessionConfig &c, const rnnp_session_options &o, const StepNeeds &needs) {
  const BlobHeader &h = *c.model->header;
  if (!(h.flags & kBlobCausal)) return o.max_steps;
  if ((h.flags & kBlobStepwise) && !needs.loops) return 1;
  if (o.chunk_steps != 0) return o.chunk_steps;
  if (h.stream_steps != 0) return h.stream_steps;
  const size_t pool_bytes = mul_sat(h.sequence_pool_elems, sizeof(float));
  return choose_chunk_steps(pool_bytes > needs.row_bytes ? pool_bytes : needs.row_bytes, h.weights.bytes, c.max_batch, c.l2_bytes);
}

// Threads that the model gains from: a step's largest recurrence decides, since all meet after it.
uint32_t session_threads(const SessionConfig &c, const rnnp_session_options &o, const StepNeeds &needs) {
  if (!kManyThreads || o.executor == nullptr) return 1;
  if (o.flags & RNNP_SESSION_ALL_THREADS) return o.executor->threads;
  const uint64_t macs = needs.macs_per_sync != 0 ? needs.macs_per_sync : c.model->header->macs_per_step;
  return choose_threads(macs, c.max_batch, o.executor->threads);
}

// A wavefront may use threads that sharing a layer does not. It needs chunks that follow one another, none of which waits for the
// whole of the one before it, and no loops, whose nodes one stage would have to hold.
void plan_threads(const rnnp_session_options &o, const StepNeeds &needs, SessionConfig *c) {
  if (!kManyThreads || o.executor == nullptr || (o.flags & RNNP_SESSION_ALL_THREADS)) return;
  if ((c->model->header->flags & (kBlobCausal | kBlobStepwise)) != kBlobCausal) return;
  const StepCosts costs = {macs_of, c, c->model->nodes.count, needs.syncs};
  c->wavefront = plan_wavefront(costs, o.executor->threads, c->threads, c->max_batch, c->chunk_steps);
  if (c->wavefront.stages == 0) return;
  if (c->threads != 1) return;
  c->region_threads = c->wavefront.stages;
  c->parallel_steps = UINT32_MAX;
}

// One row on one thread, in chunks of many steps.
void plan_channel_major(const StepNeeds &needs, SessionConfig *c) {
  if (!kManyThreads || needs.loops || c->max_batch != 1 || c->threads != 1 || c->memory != nullptr ||
      c->chunk_steps < kFewestChannelMajorSteps)
    return;
  for (uint32_t i = 0; i < c->ops.count; ++i) {
    if (c->ops.ops[i]->channel_major != nullptr) c->channel_major = c->ops.ops[i];
  }
  for (uint32_t i = 0; i < c->model->nodes.count; ++i) {
    if (channel_major_of(*c, c->model->nodes[i]) != nullptr) return;
  }
  c->channel_major = nullptr;
}

}  // namespace

const Op *channel_major_of(const SessionConfig &c, const BlobNode &node) {
  const Op *op = kManyThreads ? c.channel_major : nullptr;
  return op != nullptr && uint32_t(op->kind) == node.op && op->takes_channel_major(choice_of(c), node) ? op : nullptr;
}

const Op *operator_of(const SessionConfig &c, const BlobNode &node) {
  const OpChoice choice = choice_of(c);
  for (uint32_t i = 0; i < c.ops.count; ++i) {
    const Op *op = c.ops.ops[i];
    if (uint32_t(op->kind) == node.op && (op->accepts == nullptr || op->accepts(choice, node))) return op;
  }
  return nullptr;
}

rnnp_status plan_session(const rnnp_session_options &o, SessionConfig *c, Refusal *refusal) {
  StepNeeds needs;
  const rnnp_status status = check_nodes(*c, &needs, refusal);
  if (status != RNNP_OK) return status;
  c->max_steps = o.max_steps;
  c->layer_chunk_steps = o.chunk_steps;
  c->chunk_steps = program_chunk_steps(*c, o, needs);
  c->threads = session_threads(*c, o, needs);
  c->region_threads = c->threads;
  const bool always = !kManyThreads || (o.flags & RNNP_SESSION_ALL_THREADS) != 0;
  c->parallel_steps = always ? 1 : choose_parallel_steps(c->model->header->macs_per_step, o.max_batch);
  plan_threads(o, needs, c);
  plan_channel_major(needs, c);
  return RNNP_OK;
}

}  // namespace rnnp
