// timed_ops.cpp -- Contract: timed_ops.h. An operator's functions are called without anything of one's own, so each gets functions
// of its place in the list. SPDX-License-Identifier: Apache-2.0
#define RNNPACK_REGISTRY_NO_OBJECTS 1  // operators are known here by their full type
#include "compiler/cli/timed_ops.h"

#include <array>
#include <chrono>
#include <utility>

#include "compiler/onnx/problem.h"
#include "ops/op.h"

namespace rnnp::compiler {
namespace {

constexpr size_t kMostOps = 64;

std::vector<NodeTime> measured;  // by nodes
const Op *originals[kMostOps];

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
  const rnnp_status status = originals[kAt]->build(env, node, &own);
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
  if (originals[kAt]->finish != nullptr) timed->step = originals[kAt]->finish(env, node, timed->object);
  return timed->step != nullptr ? timed_step : nullptr;
}

template <size_t kAt>
void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Timed &timed = *static_cast<const Timed *>(object);
  const Clock clock(timed.node);
  originals[kAt]->run(env, node, timed.object, thread);
}

struct TimedOps {
  std::array<Op, kMostOps> ops;
  std::array<const Op *, kMostOps> list;
  rnnp_registry registry;

  TimedOps() : registry(rnnp_default_registry) {
    if (registry.op_count > kMostOps) throw IoError("the library has more operators than can be timed");
    const Op *const *from = reinterpret_cast<const Op *const *>(registry.ops);
    for (size_t i = 0; i < registry.op_count; ++i) originals[i] = from[i];
    surround(std::make_index_sequence<kMostOps>());
    registry.ops = reinterpret_cast<const rnnp_op *const *>(list.data());
  }

  template <size_t... kAt>
  void surround(std::index_sequence<kAt...>) {
    (surround_one<kAt>(), ...);
  }

  template <size_t kAt>
  void surround_one() {
    if (kAt >= registry.op_count) return;
    ops[kAt] = *originals[kAt];
    ops[kAt].build = build<kAt>;
    ops[kAt].finish = finish<kAt>;
    ops[kAt].run = run<kAt>;
    list[kAt] = &ops[kAt];
  }
};

}  // namespace

const rnnp_registry &timed_registry() {
  static const TimedOps timed;
  return timed.registry;
}

std::vector<NodeTime> take_node_times(size_t nodes) {
  std::vector<NodeTime> taken = measured;
  taken.resize(nodes);
  for (NodeTime &time : measured) time = {};
  return taken;
}

}  // namespace rnnp::compiler
