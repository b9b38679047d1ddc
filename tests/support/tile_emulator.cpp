// tile_emulator.cpp -- Contract: tile_emulator.h. The instructions of AMX-TILE, AMX-INT8 and AMX-BF16 as in Intel's manual, volume
// 2; whatever that forbids ends the program. SPDX-License-Identifier: Apache-2.0
#include "support/tile_emulator.h"

#include "platform/x86/tile_permission.h"

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace rnnp {
namespace {

constexpr unsigned kTiles = 8, kRows = 16, kRowBytes = 64;

struct State {
  bool configured;
  unsigned rows[kTiles], row_bytes[kTiles];
  uint8_t bytes[kTiles][kRows][kRowBytes];
  uint64_t products;
};
thread_local State state;
uint64_t configurations = 0;
bool emulated = false;

[[noreturn]] void forbidden(const char *what) {
  const auto ignored = write(2, what, std::strlen(what));
  static_cast<void>(ignored);
  std::abort();
}

// C4, then R X B and the opcode's map, then W, the third register, L and the prefix, the opcode, ModRM: all of them are so.
struct Instruction {
  unsigned prefix, opcode, reg, rm, third;  // prefix: 0 none, 1 66, 2 F3, 3 F2
  bool in_memory;
  uint64_t address;
  int64_t row_stride;  // what the index register adds from row to row
  unsigned length;
};

int64_t general_register(const ucontext_t &context, unsigned number) {
  constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return context.uc_mcontext.gregs[kOrder[number]];
}

// The address of ModRM and what follows; relative to the next instruction where there is no base.
void read_address(const uint8_t *code, const ucontext_t &context, Instruction *in) {
  const unsigned mod = code[4] >> 6, rm = code[4] & 7, b = (code[1] >> 5 & 1) ^ 1, x = (code[1] >> 6 & 1) ^ 1;
  unsigned base = rm | b << 3, at = 5;
  bool has_base = true;
  if (rm == 4) {
    const uint8_t sib = code[at++];
    const unsigned index = (sib >> 3 & 7) | x << 3;
    base = (sib & 7) | b << 3;
    has_base = !(mod == 0 && (sib & 7) == 5);
    if (index != 4) in->row_stride = general_register(context, index) * (int64_t{1} << (sib >> 6));
  }
  const bool relative = mod == 0 && rm == 5;
  int32_t offset = 0;
  if (mod == 1) {
    offset = static_cast<int8_t>(code[at++]);
  } else if (mod == 2 || relative || !has_base) {
    std::memcpy(&offset, code + at, sizeof offset);
    at += 4;
  }
  in->length = at;
  const uint64_t from = relative   ? reinterpret_cast<uint64_t>(code) + at
                        : has_base ? static_cast<uint64_t>(general_register(context, base))
                                   : 0;
  in->address = from + static_cast<uint64_t>(int64_t{offset});
}

bool read_instruction(const ucontext_t &context, Instruction *in) {
  const uint8_t *code = reinterpret_cast<const uint8_t *>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84) != 0) return false;
  *in = {code[2] & 3u, code[3], (code[4] >> 3) & 7u, code[4] & 7u, (~code[2] >> 3) & 15u, (code[4] >> 6) != 3, 0, 0, 5};
  if (in->in_memory) read_address(code, context, in);
  return true;
}

void configure(const uint8_t *from) {
  if (from[0] != 1 || from[1] != 0) forbidden("LDTILECFG: palette or first row\n");
  for (unsigned i = 2; i < 16; ++i)
    if (from[i] != 0) forbidden("LDTILECFG: reserved bytes\n");
  const uint64_t products = state.products;
  state = {};
  state.configured = true;
  __atomic_fetch_add(&configurations, uint64_t{1}, __ATOMIC_RELAXED);
  state.products = products;
  for (unsigned t = 0; t < 16; ++t) {
    const unsigned rows = from[48 + t], row_bytes = from[16 + 2 * t] | from[17 + 2 * t] << 8;
    if (rows > kRows || row_bytes > kRowBytes || row_bytes % 4 != 0 || (rows == 0) != (row_bytes == 0) ||
        (t >= kTiles && rows != 0))
      forbidden("LDTILECFG: the shape of a tile\n");
    if (t < kTiles) state.rows[t] = rows, state.row_bytes[t] = row_bytes;
  }
}

void check_tile(unsigned t) {
  if (!state.configured || t >= kTiles || state.rows[t] == 0) forbidden("a tile that is not configured\n");
}

void load(unsigned t, const Instruction &in) {
  std::memset(state.bytes[t], 0, sizeof state.bytes[t]);
  for (unsigned row = 0; row < state.rows[t]; ++row)
    std::memcpy(state.bytes[t][row], reinterpret_cast<const void *>(in.address + static_cast<uint64_t>(row * in.row_stride)),
                state.row_bytes[t]);
}

void store(unsigned t, const Instruction &in) {
  for (unsigned row = 0; row < state.rows[t]; ++row)
    std::memcpy(reinterpret_cast<void *>(in.address + static_cast<uint64_t>(row * in.row_stride)), state.bytes[t][row],
                state.row_bytes[t]);
}

int byte_of(uint8_t byte, bool with_sign) {
  return with_sign ? static_cast<int8_t>(byte) : byte;
}

void check_product(unsigned sums, unsigned a, unsigned b) {
  check_tile(sums), check_tile(a), check_tile(b);
  if (sums == a || sums == b || a == b || state.rows[sums] != state.rows[a] || state.row_bytes[sums] != state.row_bytes[b] ||
      state.row_bytes[a] != 4 * state.rows[b])
    forbidden("a product of tiles that do not fit\n");
}

// TDPBUUD, TDPBUSD, TDPBSUD and TDPBSSD, in the order of prefixes.
void add_dots(unsigned sums, unsigned a, unsigned b, unsigned prefix) {
  check_product(sums, a, b);
  const bool a_sign = prefix >= 2, b_sign = prefix % 2 == 1;
  for (unsigned m = 0; m < state.rows[a]; ++m) {
    for (unsigned k = 0; k < state.row_bytes[a] / 4; ++k) {
      for (unsigned n = 0; n < state.row_bytes[b] / 4; ++n) {
        uint32_t sum;
        std::memcpy(&sum, &state.bytes[sums][m][4 * n], 4);
        for (unsigned i = 0; i < 4; ++i) {
          const int product = byte_of(state.bytes[a][m][4 * k + i], a_sign) * byte_of(state.bytes[b][k][4 * n + i], b_sign);
          sum += static_cast<uint32_t>(product);
        }
        std::memcpy(&state.bytes[sums][m][4 * n], &sum, 4);
      }
    }
  }
  ++state.products;
}

float half_of(unsigned t, unsigned row, unsigned number) {
  uint32_t bits = 0;
  std::memcpy(reinterpret_cast<uint8_t *>(&bits) + 2, &state.bytes[t][row][2 * number], 2);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// TDPBF16PS: even and odd k apart, each from 0, then both onto the sums; rounded to nearest, denormals are zeros both ways,
// whatever the program has set.
void add_halves(unsigned sums, unsigned a, unsigned b) {
  check_product(sums, a, b);
  const unsigned old = _mm_getcsr();
  _mm_setcsr(0x9fc0);
  for (unsigned m = 0; m < state.rows[a]; ++m) {
    for (unsigned n = 0; n < state.row_bytes[b] / 4; ++n) {
      float half[2] = {0.0f, 0.0f}, sum;
      for (unsigned k = 0; k < state.row_bytes[a] / 2; ++k)
        half[k % 2] = std::fma(half_of(a, m, k), half_of(b, k / 2, 2 * n + k % 2), half[k % 2]);
      std::memcpy(&sum, &state.bytes[sums][m][4 * n], 4);
      sum = sum + (half[0] + half[1]);
      std::memcpy(&state.bytes[sums][m][4 * n], &sum, 4);
    }
  }
  _mm_setcsr(old);
  ++state.products;
}

// False: no instruction on tiles.
bool run_instruction(const Instruction &in) {
  if (in.opcode == 0x49 && in.in_memory && in.prefix == 0 && in.reg == 0) {
    configure(reinterpret_cast<const uint8_t *>(in.address));
  } else if (in.opcode == 0x49 && !in.in_memory && in.prefix == 0 && in.reg == 0 && in.rm == 0) {
    const uint64_t products = state.products;
    state = {};
    state.products = products;
  } else if (in.opcode == 0x49 && !in.in_memory && in.prefix == 3 && in.rm == 0) {
    check_tile(in.reg);
    std::memset(state.bytes[in.reg], 0, sizeof state.bytes[in.reg]);
  } else if (in.opcode == 0x4b && in.in_memory && in.rm == 4 && in.prefix == 3) {
    check_tile(in.reg);
    load(in.reg, in);
  } else if (in.opcode == 0x4b && in.in_memory && in.rm == 4 && in.prefix == 2) {
    check_tile(in.reg);
    store(in.reg, in);
  } else if (in.opcode == 0x5e && !in.in_memory) {
    add_dots(in.reg, in.rm, in.third, in.prefix);
  } else if (in.opcode == 0x5c && !in.in_memory && in.prefix == 2) {
    add_halves(in.reg, in.rm, in.third);
  } else {
    return false;
  }
  return true;
}

void on_illegal_instruction(int number, siginfo_t *, void *raw) {
  ucontext_t *context = static_cast<ucontext_t *>(raw);
  Instruction in;
  if (!read_instruction(*context, &in) || !run_instruction(in)) {
    signal(number, SIG_DFL);  // and again, for good
    return;
  }
  context->uc_mcontext.gregs[REG_RIP] += in.length;
}

// Without them the kernels of tiles do not run either way.
bool has_vectors() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

bool start_emulation() {
  if (request_tiles()) return true;
  if (!has_vectors()) return false;
  struct sigaction action = {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return emulated = sigaction(SIGILL, &action, nullptr) == 0;
}

}  // namespace

bool make_tiles_run() {
  static const bool run = start_emulation();
  return run;
}
bool tiles_are_emulated() {
  return emulated;
}
bool tiles_are_in_use() {
  return state.configured;
}
uint64_t tile_products() {
  return state.products;
}
uint64_t tile_configurations() {
  return __atomic_load_n(&configurations, __ATOMIC_RELAXED);
}

}  // namespace rnnp

#else
namespace rnnp {
bool make_tiles_run() {
  return false;
}
bool tiles_are_emulated() {
  return false;
}
bool tiles_are_in_use() {
  return false;
}
uint64_t tile_products() {
  return 0;
}
uint64_t tile_configurations() {
  return 0;
}
}  // namespace rnnp
#endif
