// random_api.cpp -- see random_api.h.
// SPDX-License-Identifier: Apache-2.0
#define RNNP_NODISCARD  // refusals are what is tried
#include "random_api.h"

#include <cstring>

#include "rnnpack/rnnpack.h"

namespace rnnp_fuzz {
namespace {

constexpr uint64_t kMostBytes = 32 << 10;  // of one tensor

class Walker {
 public:
  Walker(ByteSource *c, GuardedMemory *memory, ThreadPool *pool) : c_(*c), memory_(*memory), pool_(pool) {}

  Walk run(const std::vector<uint8_t> &blob) {
    if (!open(blob) || !ask() || !make()) return result_;
    result_.made = true;
    const uint32_t calls = c_.range(1, 6);
    for (uint32_t i = 0; i < calls; ++i) {
      const GuardedMemory::Mark mark = memory_.mark();
      call();
      memory_.release(mark);
    }
    return result_;
  }

 private:
  bool end() { return c_.once_in(2); }
  uint8_t *take(uint64_t bytes, size_t align = 4) {
    return bytes > GuardedMemory::kLarge ? nullptr : memory_.take(static_cast<size_t>(bytes), align, end());
  }

  bool open(const std::vector<uint8_t> &blob) {
    uint8_t *at = take(blob.size(), 64);
    if (at == nullptr) return false;
    if (!blob.empty()) std::memcpy(at, blob.data(), blob.size());
    const uint32_t odd = c_.below(64);
    if (odd == 1) rnnp_model_open(nullptr, at, blob.size(), 0);
    if (odd == 2) rnnp_model_open(&model_, nullptr, blob.size(), 0);
    if (odd == 3) rnnp_model_open(&model_, at + 4, blob.size() < 4 ? 0 : blob.size() - 4, 0);
    if (odd == 4) rnnp_model_open(&model_, at, blob.size(), c_.word());
    if (odd == 5) rnnp_model_open(&model_, at, blob.empty() ? 0 : c_.below(static_cast<uint32_t>(blob.size())), 0);
    const rnnp_status status = rnnp_model_open(&model_, at, blob.size(), odd == 6 ? RNNP_OPEN_CHECK_WEIGHTS : 0u);
    return result_.opened = status == RNNP_OK;
  }

  // Facts into a struct of any size.
  template <class T, class Ask>
  rnnp_status facts(T *out, Ask ask) {
    *out = {};
    out->struct_bytes = sizeof *out;
    if (c_.once_in(32)) {
      const uint32_t bytes = c_.of({0u, 3u, 4u, 8u, uint32_t(sizeof *out) - 4u, uint32_t(sizeof *out)});
      uint8_t *part = take(bytes < 4 ? 4 : bytes, 8);
      if (part != nullptr) {
        std::memcpy(part, &bytes, sizeof bytes);
        ask(reinterpret_cast<T *>(part));
      }
      ask(nullptr);
    }
    return ask(out);
  }

  bool ask() {
    rnnp_model_info m;
    if (facts(&m, [&](rnnp_model_info *f) { return rnnp_model_get_info(&model_, f); }) != RNNP_OK) return false;
    if (m.input_count > 16 || m.output_count > 16) return false;
    for (uint32_t i = 0; i <= m.input_count; ++i) {
      rnnp_tensor_info f;
      if (facts(&f, [&](rnnp_tensor_info *t) { return rnnp_model_get_input(&model_, i, t); }) != RNNP_OK) continue;
      inputs_.push_back(f);
    }
    for (uint32_t i = 0; i <= m.output_count; ++i) {
      rnnp_tensor_info f;
      if (facts(&f, [&](rnnp_tensor_info *t) { return rnnp_model_get_output(&model_, i, t); }) != RNNP_OK) continue;
      outputs_.push_back(f);
    }
    return true;
  }

  rnnp_session_options options() {
    rnnp_session_options o;
    rnnp_session_options_init(&o, sizeof o);
    o.max_batch = c_.of({1u, 1u, 2u, 3u, 5u});
    o.max_steps = c_.of({6u, 6u, 3u, 1u});
    o.chunk_steps = c_.of({0u, 1u, 2u, 3u});
    o.isa_allowed = c_.of({0u, 0u, RNNP_ISA_REFERENCE_ONLY, 0x7fu});
    o.flags = c_.of({0u, RNNP_SESSION_ALL_THREADS, RNNP_SESSION_PORTABLE_OPS, RNNP_SESSION_ALL_XNNPACK | RNNP_SESSION_ALL_THREADS});
    if (c_.once_in(4)) {
      o.l1d_bytes = c_.of({0u, 1u, 4096u, 0xffffffffu});
      o.l2_bytes = c_.of({0u, 1u, 4096u, 0xffffffffu});
      o.l3_bytes = c_.of({0u, 1u, 4096u, 0xffffffffu});
    }
    if (pool_ != nullptr && c_.once_in(8)) {
      executor_ = pool_->executor(c_.range(1, ThreadPool::kMost));
      o.executor = &executor_;
    }
    switch (c_.below(48)) {
      case 1:
        o.max_batch = c_.of({0u, 1u << 20, (1u << 20) + 1, 0xffffffffu});
        break;
      case 2:
        o.max_steps = c_.of({0u, 1u << 28, (1u << 28) + 1, 0xffffffffu});
        break;
      case 3:
        o.chunk_steps = c_.of({1u << 20, (1u << 20) + 1, 0xffffffffu});
        break;
      case 4:
        o.flags = c_.word();
        break;
      case 5:
        o.struct_bytes = c_.of({0u, 3u, 4u, 8u, 0xffffffffu});
        break;
      case 6:
        executor_ = RNNP_EXECUTOR_INIT;
        executor_.threads = c_.of({0u, 1u, 2u, 1025u});
        o.executor = &executor_;
        break;
    }
    return o;
  }

  bool make() {
    const rnnp_session_options o = options();
    const bool defaults = c_.once_in(32);
    const rnnp_session_options *given = defaults ? nullptr : &o;
    if (o.struct_bytes > sizeof o) return rnnp_session_memory(&model_, &o, &need_), false;
    if (c_.once_in(64)) rnnp_session_memory(&model_, given, nullptr);
    if (c_.once_in(64)) rnnp_session_memory(nullptr, given, &need_);
    if (rnnp_session_memory(&model_, given, &need_) != RNNP_OK || need_.session_bytes > GuardedMemory::kLarge) return false;
    batch_ = defaults ? 1 : o.max_batch;
    max_steps_ = defaults ? 6 : o.max_steps < 6 ? o.max_steps : 6;
    uint8_t *mem = take(need_.session_bytes, need_.alignment);
    if (mem == nullptr) return false;
    switch (c_.below(64)) {
      case 1:
        rnnp_session_init(nullptr, &model_, given, mem, need_.session_bytes);
        break;
      case 2:
        rnnp_session_init(&session_, nullptr, given, mem, need_.session_bytes);
        break;
      case 3:
        rnnp_session_init(&session_, &model_, given, nullptr, need_.session_bytes);
        break;
      case 4:
        rnnp_session_init(&session_, &model_, given, mem + 4, need_.session_bytes - 4);
        break;
      case 5:
        rnnp_session_init(&session_, &model_, given, mem, need_.session_bytes - 1);
        break;
      case 6:
      case 7:
      case 8:
      case 9:
        return explained(given, mem);
    }
    return rnnp_session_init(&session_, &model_, given, mem, need_.session_bytes) == RNNP_OK;
  }

  // The words for a refusal and the refusal itself agree, and what is named exists.
  bool explained(const rnnp_session_options *given, uint8_t *mem) {
    rnnp_refusal refusal = RNNP_REFUSAL_INIT;
    rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
    const rnnp_status told = rnnp_session_explain(&model_, given, mem, need_.session_bytes, &refusal);
    const rnnp_status made = rnnp_session_init(&session_, &model_, given, mem, need_.session_bytes);
    if (told != made || rnnp_model_get_info(&model_, &facts) != RNNP_OK) __builtin_trap();
    if (refusal.node != RNNP_NO_NODE && refusal.node >= facts.node_count) __builtin_trap();
    if (std::strlen(refusal.reason) == 0 || std::strlen(refusal.op) + std::strlen(refusal.node_name) > SIZE_MAX / 2)
      __builtin_trap();
    return made == RNNP_OK;
  }

  // Numbers of a tensor; indices lie within their limit, nearly always.
  void fill(uint8_t *at, uint64_t bytes, const rnnp_tensor_info &f, size_t steps) {
    const uint32_t seed = c_.below(256);
    const bool wild = c_.once_in(32);
    for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
      const uint32_t mixed = (seed + static_cast<uint32_t>(i)) * 2654435761u;
      int32_t number = 0;
      if (f.role == RNNP_ROLE_LENGTHS) {
        number = static_cast<int32_t>((mixed >> 8) % (steps + 1));
      } else if (f.dtype == RNNP_DTYPE_I32) {
        number = f.limit == 0 ? 0 : static_cast<int32_t>((mixed >> 8) % f.limit) - (mixed & 64 ? static_cast<int32_t>(f.limit) : 0);
      } else {
        const float real = static_cast<float>(static_cast<int32_t>(mixed)) / 1e9f;
        std::memcpy(&number, &real, sizeof number);
      }
      if (wild && (mixed & 0xf000) == 0) number = static_cast<int32_t>(c_.word());
      std::memcpy(at + i, &number, sizeof number);
    }
  }

  bool small(uint64_t rows) const {
    for (const auto *list : {&inputs_, &outputs_}) {
      for (const rnnp_tensor_info &f : *list) {
        if (f.row_elems * rows * 4 > kMostBytes) return false;
      }
    }
    return true;
  }

  void step_or_run() {
    const bool one = c_.once_in(2);
    const size_t steps = one ? 1 : c_.below(max_steps_ + 2);
    const rnnp_tensor_info *x = nullptr;
    for (const rnnp_tensor_info &f : inputs_) {
      if (f.role == RNNP_ROLE_SEQUENCE && x == nullptr) x = &f;
    }
    if (x == nullptr || outputs_.empty() || !small(uint64_t{batch_} * (steps + 1))) {
      rnnp_step(session_, nullptr, nullptr);
      return;
    }
    const rnnp_tensor_info &y = outputs_[0];
    const uint64_t in = x->row_elems * uint64_t{4} * batch_ * steps;
    const uint64_t out = y.row_elems * uint64_t{4} * batch_ * (y.role == RNNP_ROLE_SEQUENCE ? steps : 1);
    uint8_t *from = take(in), *to = take(out);
    if (from == nullptr || to == nullptr) return;
    fill(from, in, *x, steps);
    const uint32_t odd = c_.below(64);
    const void *given = odd == 1 ? nullptr : odd == 2 ? from + 1 : from;
    void *wanted = odd == 3 ? nullptr : odd == 4 ? to + 2 : to;
    rnnp_session *session = odd == 5 ? nullptr : session_;
    const rnnp_status status = one ? rnnp_step(session, given, wanted) : rnnp_run(session, steps, given, wanted);
    result_.ran += status == RNNP_OK;
  }

  // A buffer that ends with its last row, however it is strided.
  template <class Buffer>
  bool buffer(const rnnp_tensor_info &f, size_t steps, uint32_t batch, bool last_step, bool input, Buffer *b) {
    *b = {};
    const bool optional = !input || f.role == RNNP_ROLE_STATE || f.role == RNNP_ROLE_LENGTHS;
    if (c_.once_in(optional ? 3 : 64)) return true;
    const uint64_t row = f.row_elems * uint64_t{4};
    const bool sequence = f.role == RNNP_ROLE_SEQUENCE && !last_step;
    if (f.role != RNNP_ROLE_LENGTHS && c_.once_in(2)) {
      b->row_stride_bytes = static_cast<size_t>(row + 4 * c_.below(4));
      if (c_.once_in(2))
        b->step_stride_bytes = static_cast<size_t>(row + 4 * c_.below(4) + c_.below(2) * b->row_stride_bytes * batch);
      if (c_.once_in(24))
        (c_.once_in(2) ? b->row_stride_bytes : b->step_stride_bytes) = c_.of<size_t>({1, 4, SIZE_MAX - 3, SIZE_MAX / 2});
    }
    const uint64_t row_stride = b->row_stride_bytes != 0 ? b->row_stride_bytes : row;
    const uint64_t step_stride = b->step_stride_bytes != 0 ? b->step_stride_bytes : row_stride * batch;
    // As far as the last row; strides that leave the address space are refused before anything is read.
    const uint64_t rows_before = batch > 1 ? (row_stride < kMostBytes ? (batch - 1) * row_stride : 0) : 0;
    const uint64_t steps_before = sequence && steps > 1 ? (step_stride < 16 * kMostBytes ? (steps - 1) * step_stride : 0) : 0;
    const uint64_t bytes = sequence && steps == 0 ? 0 : steps_before + rows_before + row;
    uint8_t *at = take(bytes);
    if (at == nullptr) return false;
    if (input) fill(at, bytes, f, steps);
    b->data = c_.once_in(128) ? at + 1 : at;
    return true;
  }

  void run_io() {
    rnnp_io io = RNNP_IO_INIT;
    io.steps = c_.below(max_steps_ + 2);
    io.batch = c_.once_in(3) ? c_.below(batch_ + 2) : batch_;
    io.flags = c_.once_in(4) ? RNNP_RUN_LAST_STEP : 0u;
    if (!small((uint64_t{io.batch} + 1) * (io.steps + 1))) return;
    const uint32_t odd = c_.below(64);
    rnnp_const_buffer in[17] = {};
    rnnp_buffer out[17] = {};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!buffer(inputs_[i], io.steps, io.batch, false, true, &in[i])) return;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (!buffer(outputs_[i], io.steps, io.batch, (io.flags & RNNP_RUN_LAST_STEP) != 0, false, &out[i])) return;
    }
    io.input_count = static_cast<uint32_t>(inputs_.size()) + (odd == 1);
    io.output_count = static_cast<uint32_t>(outputs_.size()) + (odd == 2);
    io.inputs = odd == 3 ? nullptr : in;
    io.outputs = odd == 4 ? nullptr : out;
    // Never those of a call that might be made: buffers have the sizes of the flags above.
    if (odd == 5) io.flags = c_.word() | 0x80000000u;
    if (odd == 6) io.struct_bytes = c_.of({0u, 4u, uint32_t(offsetof(rnnp_io, rows))});
    if (odd == 9) io.buffer_bytes = c_.of({0u, 4u, uint32_t(sizeof(rnnp_buffer)) - 1, 0xffffffffu});
    if (c_.once_in(4)) io.lengths = lengths(io);
    if (c_.once_in(4)) io.rows = rows(io);
    const rnnp_status status = rnnp_run_io(odd == 7 ? nullptr : session_, odd == 8 ? nullptr : &io);
    result_.ran += status == RNNP_OK;
  }

  const int32_t *lengths(const rnnp_io &io) {
    uint8_t *at = take(io.batch * uint64_t{4});
    rnnp_tensor_info f = {};
    f.role = RNNP_ROLE_LENGTHS;
    if (at != nullptr) fill(at, io.batch * uint64_t{4}, f, io.steps);
    return reinterpret_cast<int32_t *>(at);
  }

  // A part of the rows in some order; now and then one twice, or one that is not there.
  const uint32_t *rows(const rnnp_io &io) {
    auto *at = reinterpret_cast<uint32_t *>(take(io.batch * uint64_t{4}));
    const uint32_t first = c_.below(batch_);
    for (uint32_t i = 0; at != nullptr && i < io.batch; ++i) at[i] = (first + i) % batch_;
    if (at != nullptr && io.batch > 1 && c_.once_in(8)) at[0] = c_.of({at[1], batch_, 0xffffffffu});
    return at;
  }

  void save_and_load() {
    const uint32_t row = c_.once_in(16) ? c_.of({batch_, 0xffffffffu}) : c_.below(batch_);
    uint8_t *at = take(need_.state_bytes);
    if (at == nullptr) return;
    const uint32_t odd = c_.below(32);
    if (odd == 1) rnnp_state_save(nullptr, row, at, need_.state_bytes);
    if (odd == 2) rnnp_state_save(session_, row, nullptr, need_.state_bytes);
    if (odd == 3) rnnp_state_save(session_, row, at, need_.state_bytes - 1);
    if (odd == 4) std::memset(at, 0x11, need_.state_bytes);
    if (odd != 4 && rnnp_state_save(session_, row, at, need_.state_bytes) != RNNP_OK) return;
    if (odd == 5) at[c_.below(static_cast<uint32_t>(need_.state_bytes))] ^= 4;
    if (odd == 6) rnnp_state_load(nullptr, row, at, need_.state_bytes);
    if (odd == 7) rnnp_state_load(session_, row, nullptr, need_.state_bytes);
    rnnp_state_load(session_, c_.below(batch_), at, odd == 8 ? need_.state_bytes - 1 : need_.state_bytes);
  }

  void call() {
    switch (c_.below(8)) {
      case 0:
      case 1:
        return step_or_run();
      case 2: {
        rnnp_session_info f;
        facts(&f, [&](rnnp_session_info *out) { return rnnp_session_get_info(session_, out); });
        rnnp_session_get_info(nullptr, &f);
        rnnp_state_reset(c_.once_in(8) ? nullptr : session_, c_.of({RNNP_ALL_ROWS, 0u, batch_ - 1, batch_}));
        return;
      }
      case 3:
        return save_and_load();
      default:
        return run_io();
    }
  }

  ByteSource &c_;
  GuardedMemory &memory_;
  ThreadPool *pool_;
  Walk result_;
  rnnp_model model_ = {};
  rnnp_session *session_ = nullptr;
  rnnp_executor executor_ = RNNP_EXECUTOR_INIT;
  rnnp_memory need_ = RNNP_MEMORY_INIT;
  uint32_t batch_ = 1, max_steps_ = 1;
  std::vector<rnnp_tensor_info> inputs_, outputs_;
};

}  // namespace

Walk walk(const std::vector<uint8_t> &blob, ByteSource *choices, GuardedMemory *memory, ThreadPool *pool) {
  const GuardedMemory::Mark mark = memory->mark();
  const Walk result = Walker(choices, memory, pool).run(blob);
  memory->release(mark);
  return result;
}

}  // namespace rnnp_fuzz
