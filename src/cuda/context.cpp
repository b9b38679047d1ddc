// context.cpp -- Contract: context.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/context.h"

#include "cuda/kernels/plain_args.h"

namespace rnnp {
namespace cuda {
namespace {

void keep_error(Context *c, int32_t error) {
  if (c->error == 0) c->error = error;
}

void zero(DataMemory *self, void *to, size_t bytes) {
  Context *c = context_of(self);
  keep_error(c, gpu_zero(to, bytes, c->stream));
}

void copy(DataMemory *self, void *to, const void *from, size_t bytes) {
  Context *c = context_of(self);
  keep_error(c, gpu_copy(to, from, bytes, c->stream));
}

RowsPlace words_of(const RowPlaces &p) {
  return {view_as<uint32_t>(static_cast<void *>(p.data)), p.step_bytes / 4, p.row_bytes / 4};
}

void copy_rows_there(DataMemory *self, const RowsCopy &rows) {
  const uint32_t words = static_cast<uint32_t>(rows.bytes / 4);
  const RowsCopyArgs args = {uint64_t{rows.steps} * rows.batch * words, words_of(rows.to), words_of(rows.from), rows.batch, words};
  launch_plain(context_of(self), KernelId::copy_tensor_rows, args);
}

void last_steps(DataMemory *self, const LastSteps &last) {
  Context *c = context_of(self);
  const uint32_t words = static_cast<uint32_t>(last.bytes / 4);
  const int32_t *lengths = c->lengths != nullptr ? c->lengths : last.lengths;
  const LastStepArgs args = {uint64_t{last.batch} * words,
                             words_of(last.to),
                             words_of(last.from),
                             lengths,
                             last.first,
                             last.steps,
                             last.call_steps,
                             last.batch,
                             words};
  launch_plain(c, KernelId::copy_last_step, args);
}

void read(DataMemory *self, void *host, const void *from, size_t bytes) {
  Context *c = context_of(self);
  keep_error(c, gpu_upload(host, from, bytes, c->stream));
  keep_error(c, gpu_wait(c->stream));
}

void write(DataMemory *self, void *to, const void *host, size_t bytes) {
  Context *c = context_of(self);
  keep_error(c, gpu_upload(to, host, bytes, c->stream));
  keep_error(c, gpu_wait(c->stream));
}

const float *constant(DataMemory *self, uint32_t value) {
  return context_of(self)->constants[value];
}
const float *initial(DataMemory *self, uint32_t state) {
  return context_of(self)->initials[state];
}

}  // namespace

void begin_context(Context *context) {
  *context = {};
  context->plan_key = kFirstKey;
  static_cast<DataMemory &>(*context) = {zero, copy, copy_rows_there, last_steps, read, write, constant, initial};
}

void load_plain_kernels(Context *c) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(KernelId::count); ++i) {
    if (is_plain(kKernels[i])) load_kernel(c, KernelId(i), 1, 0);
  }
}

void load_product_kernels(Context *c, const ProductPlan &p) {
  load_kernel(c, product_kernel(p.weights), p.blocks, p.shared_bytes);
  if (p.wide_columns != 0) load_kernel(c, wide_product_kernel(p.weights), p.wide_blocks, wide_product_bytes(p, p.wide_columns));
}

void add_plan(Context *c, const ProductPlan &p) {
  const uint32_t parts[] = {static_cast<uint32_t>(p.weights), p.units, p.blocks};
  for (const uint32_t part : parts) c->plan_key = add_to_key(c->plan_key, part);
}
void add_plan(Context *c, const LayerPlan &p) {
  const uint32_t parts[] = {static_cast<uint32_t>(p.resident), static_cast<uint32_t>(p.weights), p.directions, p.units, p.blocks};
  for (const uint32_t part : parts) c->plan_key = add_to_key(c->plan_key, part);
  for (const uint32_t bundles : p.bundles) c->plan_key = add_to_key(c->plan_key, bundles);
  add_plan(c, p.input);
}

void set_device_words(Context *c, void *to, const void *words, uint32_t count) {
  for (uint32_t done = 0; done < count; done += kWordsAtOnce) {
    SetWordsArgs args = {};
    args.count = count - done < kWordsAtOnce ? count - done : kWordsAtOnce;
    args.to = static_cast<uint32_t *>(to) + done;
    copy_bytes(args.words, static_cast<const uint32_t *>(words) + done, args.count * sizeof(uint32_t));
    launch_plain(c, KernelId::set_words, args);
  }
}

}  // namespace cuda
}  // namespace rnnp
