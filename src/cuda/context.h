// context.h -- what the operators of a CUDA session share, and where its data lies: the DataMemory of the runtime
// (ops/data_memory.h) on a GPU. One walk of the nodes measures, packs and places, so the three cannot differ.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_CONTEXT_H_
#define RNNPACK_CUDA_CONTEXT_H_

#include "cuda/gpu.h"
#include "cuda/plan.h"
#include "ops/op.h"

namespace rnnp {
namespace cuda {

constexpr size_t kDeviceAlign = 256;
constexpr size_t kControlBytes = kDeviceAlign;  // room for the words of kernels/args.h

// The image of all weights, front to back. host: where it is written, nullptr when it is not; device: where it lies, or will.
struct Image {
  uint8_t *host;
  uint8_t *device;
  size_t used;

  struct Part {
    uint8_t *host;
    const uint8_t *device;
  };
  Part reserve(size_t bytes) {
    const size_t at = align_up(used, kDeviceAlign);
    used = add_sat(at, bytes);
    return {host != nullptr ? host + at : nullptr, device != nullptr ? device + at : nullptr};
  }
  const uint8_t *put_bytes(const void *from, size_t bytes) {
    const Part part = reserve(bytes);
    if (part.host != nullptr) copy_bytes(part.host, from, bytes);
    return part.device;
  }
  const float *put(const void *from, size_t bytes) { return view_as<float>(put_bytes(from, bytes)); }
};

struct Context : DataMemory {
  const Model *model;
  PlanLimits limits;
  uint32_t spin_limit;
  Image image;
  const float **constants, **initials;  // by value and by state; nullptr while there is no session
  size_t words_needed;                  // most of any layer, of each exchange
  bool both_exchanges;                  // the second is used
  uint64_t plan_key;                    // of all plans: the image's layout
  bool loads_kernels;                   // a walk of the nodes loads what their runs will launch
  uint64_t *words;                      // what follows: the device's
  uint32_t *control, *row_list;
  uint32_t *findings;  // the host's too where has_mapped_findings
  bool has_mapped_findings;
  int32_t *length_list;
  // Of the call under way.
  void *stream;
  const uint32_t *rows;    // nullptr: in order
  const int32_t *lengths;  // nullptr: none were given with the call
  int32_t error;           // the first failure; nothing is launched after it
};

// Fills the functions of DataMemory.
void begin_context(Context *context);

inline Context *context_of(DataMemory *memory) {
  return static_cast<Context *>(memory);
}

inline size_t words_of_exchanges(const Context &c) {
  return mul_sat(c.words_needed, c.both_exchanges ? 2 : 1);
}

// Enqueued on the context's stream. Nothing after a failure. cluster: GpuLaunch's.
template <class Args>
void launch(Context *c, KernelId kernel, uint32_t blocks, uint32_t shared_bytes, const Args &args, uint32_t cluster = 0) {
  if (c->error == 0) c->error = gpu_launch({kernel, blocks, shared_bytes, &args, cluster}, c->stream);
}
// What a node's runs will launch, of at most so many blocks; plain kernels need not be named.
inline void load_kernel(Context *c, KernelId kernel, uint32_t blocks, uint32_t shared_bytes, uint32_t cluster = 0) {
  if (c->loads_kernels && c->error == 0) c->error = gpu_load({kernel, blocks, shared_bytes, nullptr, cluster});
}
void load_plain_kernels(Context *c);
void load_product_kernels(Context *c, const ProductPlan &plan);

constexpr uint64_t kFirstKey = 14695981039346656037ull;
inline uint64_t add_to_key(uint64_t key, uint64_t v) {
  constexpr uint64_t kFnvPrime = 1099511628211ull;
  for (int i = 0; i < 8; ++i) key = (key ^ (v >> 8 * i & 255)) * kFnvPrime;
  return key;
}
void add_plan(Context *c, const ProductPlan &plan);
void add_plan(Context *c, const LayerPlan &plan);

// One thread per element: args.count of them.
template <class Args>
void launch_plain(Context *c, KernelId kernel, const Args &args) {
  constexpr uint64_t kMostBlocks = 1u << 16;
  const uint64_t blocks = args.count / kThreads + (args.count % kThreads != 0);
  if (blocks != 0) launch(c, kernel, static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks), 0, args);
}

// `each` results of args.count a block.
template <class Args>
void launch_by_warps(Context *c, KernelId kernel, uint32_t each, uint32_t shared_bytes, const Args &args) {
  constexpr uint64_t kMostBlocks = 1u << 16;
  const uint64_t blocks = (args.count + each - 1) / each;
  if (blocks != 0) launch(c, kernel, static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks), shared_bytes, args);
}

// Numbers to the device's memory, by launches, so that a capture has them.
void set_device_words(Context *c, void *to, const void *words, uint32_t count);

// The call's lengths, else those of the node's own operand, if it has one. The device's.
inline const int32_t *device_lengths(const Context &c, const RunEnv &env, uint32_t value) {
  if (c.lengths != nullptr || value == kNone) return c.lengths;
  return static_cast<const int32_t *>(env.values[value].data);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_CONTEXT_H_
