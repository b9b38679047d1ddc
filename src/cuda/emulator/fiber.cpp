// fiber.cpp -- Contract: fiber.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/emulator/fiber.h"

#include "cuda/emulator/order.h"

#if defined(__SANITIZE_ADDRESS__)
#define RNNPACK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RNNPACK_ASAN 1
#endif
#endif
#ifdef RNNPACK_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves what a call must keep, and the stack pointer in *save; goes on where the stack `to` was left.
extern "C" void rnnp_fiber_switch(void **save, void *to);

#if defined(__x86_64__)
__asm__(
    ".text\n.globl rnnp_fiber_switch\nrnnp_fiber_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl rnnp_fiber_switch\nrnnp_fiber_switch:\n"
    " sub sp,sp,#160\n stp x19,x20,[sp]\n stp x21,x22,[sp,#16]\n stp x23,x24,[sp,#32]\n stp x25,x26,[sp,#48]\n"
    " stp x27,x28,[sp,#64]\n stp x29,x30,[sp,#80]\n stp d8,d9,[sp,#96]\n stp d10,d11,[sp,#112]\n stp d12,d13,[sp,#128]\n"
    " stp d14,d15,[sp,#144]\n mov x9,sp\n str x9,[x0]\n mov sp,x1\n"
    " ldp x19,x20,[sp]\n ldp x21,x22,[sp,#16]\n ldp x23,x24,[sp,#32]\n ldp x25,x26,[sp,#48]\n ldp x27,x28,[sp,#64]\n"
    " ldp x29,x30,[sp,#80]\n ldp d8,d9,[sp,#96]\n ldp d10,d11,[sp,#112]\n ldp d12,d13,[sp,#128]\n ldp d14,d15,[sp,#144]\n"
    " add sp,sp,#160\n ret\n");
#else
#error "RNNPACK_CUDA=EMULATED needs this CPU's switch of stacks: x86-64 and AArch64 have one"
#endif

namespace simt {
namespace {

#ifdef RNNPACK_ASAN
constexpr size_t kStackBytes = 256 * 1024;
#else
constexpr size_t kStackBytes = (kOrderIsWatched ? 96 : 48) * 1024;
#endif

Fiber *left_for_entry;  // whom a fiber that begins was switched from

}  // namespace

void Fiber::begin(void (*entry)()) {
  if (thread_ == nullptr) thread_ = order_new_thread();
  if (stack_ == nullptr) stack_.reset(new uint8_t[kStackBytes]);
#ifdef RNNPACK_ASAN  // what it left in the middle of
  uint8_t *const left_at = static_cast<uint8_t *>(stack_pointer_), *const end = stack_.get() + kStackBytes;
  if (left_at != nullptr) __asan_unpoison_memory_region(left_at, static_cast<size_t>(end - left_at));
#endif
  bottom_ = stack_.get();
  bytes_ = kStackBytes;
  fake_stack_ = nullptr;
  const uintptr_t top = (reinterpret_cast<uintptr_t>(stack_.get()) + kStackBytes) & ~uintptr_t{15};
  void **slot = static_cast<void **>(static_cast<void *>(stack_.get() + (top - reinterpret_cast<uintptr_t>(stack_.get()))));
#if defined(__x86_64__)
  *--slot = nullptr;  // where a call would have put its return address
  *--slot = reinterpret_cast<void *>(entry);
  slot -= 6;
#else
  slot -= 20;
  slot[11] = reinterpret_cast<void *>(entry);
#endif
  stack_pointer_ = slot;
}

void Fiber::switch_to(Fiber *to, bool for_good) {
  left_for_entry = this;
#ifdef RNNPACK_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, to->bottom_, to->bytes_);
#else
  (void)for_good;
#endif
  if (thread_ == nullptr) thread_ = order_this_thread();
  order_become(to->thread_);
  rnnp_fiber_switch(&stack_pointer_, to->stack_pointer_);
#ifdef RNNPACK_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::entered() {
#ifdef RNNPACK_ASAN
  Fiber *from = left_for_entry;
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  if (from->stack_ == nullptr) from->bottom_ = bottom, from->bytes_ = bytes;
#endif
}

}  // namespace simt
