// allocator.cpp -- see allocator.h. The one place of the library that may reach the C heap: when another user of XNNPACK in the
// same process allocates after we initialised it, it gets what it would have got without us. Our own sessions never do.
// SPDX-License-Identifier: Apache-2.0
#include "platform/xnnpack/allocator.h"

#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

namespace rnnp {
namespace {

constexpr size_t kAlign = 64;

// Before every block: where it came from and how long it is.
struct alignas(kAlign) BlockHead {
  size_t bytes;
  bool from_heap;
};

// The hook has no argument that tells whose create call is running, and sessions may be made on several threads at once.
thread_local XnnMemoryScope *current_scope = nullptr;

}  // namespace

XnnMemoryScope::XnnMemoryScope(void *memory, size_t bytes) : next_(static_cast<uint8_t *>(memory)), end_(next_ + bytes) {
  current_scope = this;
}
XnnMemoryScope::~XnnMemoryScope() {
  current_scope = nullptr;
}
bool XnnMemoryScope::was_used() const {
  return used_;
}

void *xnn_take(size_t bytes) {
  XnnMemoryScope *scope = current_scope;
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t room = (bytes + kAlign - 1) / kAlign * kAlign + sizeof(BlockHead);
  void *at = nullptr;
  if (scope != nullptr) {
    scope->used_ = true;
    if (static_cast<size_t>(scope->end_ - scope->next_) < room) return nullptr;
    at = scope->next_;
    scope->next_ += room;
  } else {
    if (posix_memalign(&at, kAlign, room) != 0) return nullptr;
  }
  BlockHead *head = static_cast<BlockHead *>(at);
  *head = {bytes, scope == nullptr};
  return head + 1;
}

namespace {

void *hook_allocate(void *, size_t bytes) {
  return xnn_take(bytes);
}
void *hook_aligned_allocate(void *, size_t alignment, size_t bytes) {
  return alignment <= kAlign ? xnn_take(bytes) : nullptr;
}
void hook_deallocate(void *, void *pointer) {
  if (pointer == nullptr) return;
  BlockHead *head = static_cast<BlockHead *>(pointer) - 1;
  if (head->from_heap) free(head);
}
void *hook_reallocate(void *context, void *pointer, size_t bytes) {
  void *fresh = xnn_take(bytes);
  if (fresh == nullptr || pointer == nullptr) return fresh;
  const BlockHead *head = static_cast<BlockHead *>(pointer) - 1;
  memcpy(fresh, pointer, head->bytes < bytes ? head->bytes : bytes);
  hook_deallocate(context, pointer);
  return fresh;
}

}  // namespace

bool xnn_ready() {
  static const xnn_allocator hook = {nullptr,         hook_allocate,         hook_reallocate,
                                     hook_deallocate, hook_aligned_allocate, hook_deallocate};
  return xnn_initialize(&hook) == xnn_status_success;
}

}  // namespace rnnp
