// profiled_ops.cpp -- Contract: profiled_ops.h.
// SPDX-License-Identifier: Apache-2.0
#define RNNPACK_REGISTRY_NO_OBJECTS 1  // operators are known here by their full type
#include "compiler/cli/profiled_ops.h"

#include <chrono>

#include "compiler/cli/instrumented_ops.h"

namespace rnnp::compiler {
namespace {

struct Timing;
using ProfiledOps = InstrumentedOps<Timing>;

std::vector<NodeTime> measured;  // by nodes

// A node's object: the operator's own, and what surrounds it.
struct Timed {
  void *object;
  StepFn step;
  size_t node;
};

class Clock {
 public:
  explicit Clock(size_t node) : node_(node), begin_(std::chrono::steady_clock::now()) {}
  Clock(const Clock &) = delete;
  Clock &operator=(const Clock &) = delete;
  ~Clock() {
    NodeTime &time = measured[node_];
    time.ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin_).count();
    ++time.calls;
  }

 private:
  size_t node_;
  std::chrono::steady_clock::time_point begin_;
};

template <size_t kAt>
rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  Timed *timed = env->arena->take<Timed>(1);
  void *own = nullptr;
  const rnnp_status status = ProfiledOps::originals[kAt]->build(env, node, &own);
  const size_t index = static_cast<size_t>(&node - &env->model->nodes[0]);
  if (index >= measured.size()) measured.resize(index + 1);
  if (timed != nullptr) *timed = {own, nullptr, index};
  *object = timed;
  return status;
}

void timed_step(void *object) {
  const Timed &timed = *static_cast<const Timed *>(object);
  const Clock clock(timed.node);
  timed.step(timed.object);
}

template <size_t kAt>
StepFn finish(FinishEnv *env, const BlobNode &node, void *object) {
  Timed *timed = static_cast<Timed *>(object);
  if (ProfiledOps::originals[kAt]->finish != nullptr) timed->step = ProfiledOps::originals[kAt]->finish(env, node, timed->object);
  return timed->step != nullptr ? timed_step : nullptr;
}

template <size_t kAt>
void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Timed &timed = *static_cast<const Timed *>(object);
  const Clock clock(timed.node);
  ProfiledOps::originals[kAt]->run(env, node, timed.object, thread);
}

struct Timing {
  template <size_t kAt>
  static void surround(Op *op) {
    op->build = build<kAt>;
    op->finish = finish<kAt>;
    op->run = run<kAt>;
  }
};

}  // namespace

const rnnp_registry &timed_registry() {
  static const ProfiledOps timed;
  return timed.registry;
}

std::vector<NodeTime> take_node_times(size_t nodes) {
  std::vector<NodeTime> taken = measured;
  taken.resize(nodes);
  for (NodeTime &time : measured) time = {};
  return taken;
}

}  // namespace rnnp::compiler
