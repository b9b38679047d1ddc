// fiber.h -- stacks that one OS thread switches between: 20 ns a switch. Touches nothing but the fibers. AddressSanitizer is told
// of every switch. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_EMULATOR_FIBER_H_
#define RNNPACK_CUDA_EMULATOR_FIBER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace simt {

class Fiber {
 public:
  Fiber() = default;  // of the thread that runs already
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // From now on a switch to it begins `entry`, which never returns. What it did before is forgotten.
  void begin(void (*entry)());
  // Leave this fiber, which runs, for `to`. for_good: it will not be switched to again before the next begin.
  void switch_to(Fiber *to, bool for_good = false);
  // The first thing that an entry does.
  static void entered();

 private:
  void *stack_pointer_ = nullptr;
  std::unique_ptr<uint8_t[]> stack_;
  const void *bottom_ = nullptr;
  size_t bytes_ = 0;
  void *fake_stack_ = nullptr;
  void *thread_ = nullptr;  // order.h
};

}  // namespace simt
#endif  // RNNPACK_CUDA_EMULATOR_FIBER_H_
