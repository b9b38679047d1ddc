// kernel_support.cpp -- see kernel_support.h.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_support.h"

#if defined(__unix__) && !defined(__wasi__)
#include <sys/mman.h>
#include <unistd.h>
#define RNNPACK_GUARD_PAGES 1
#endif

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__riscv) && defined(__linux__)
#include <csetjmp>
#include <csignal>
#endif

#include "base/compiled_isa.h"
#include "pack/layout.h"
#include "pack/pack.h"
#include "platform/isa_of_cpu.h"
#include "rnnpack/rnnpack.h"
#include "support/tile_emulator.h"

namespace rnnp {
namespace {

// Memory of whole pages, the byte after which may not be touched; without an operating system just memory.
struct Pages {
  void *map;
  size_t map_bytes;
  char *begin;  // on 64 bytes
  size_t bytes;
};

#ifdef RNNPACK_GUARD_PAGES
Pages new_pages(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t usable = (bytes + page - 1) / page * page;
  void *map = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || mprotect(static_cast<char *>(map) + usable, page, PROT_NONE) != 0) std::abort();
  return {map, usable + page, static_cast<char *>(map), usable};
}
void free_pages(void *map, size_t map_bytes) {
  munmap(map, map_bytes);
}
#else
Pages new_pages(size_t bytes) {
  const size_t usable = (bytes + 63) / 64 * 64;
  char *map = static_cast<char *>(std::malloc(usable + 63));
  if (map == nullptr) std::abort();
  return {map, usable + 63, map + (64 - reinterpret_cast<uintptr_t>(map) % 64) % 64, usable};
}
void free_pages(void *map, size_t) {
  std::free(map);
}
#endif

#if defined(__riscv) && defined(__linux__)
// Tried, not asked: QEMU 7.2 emulates vectors without telling of them in AT_HWCAP.
sigjmp_buf no_vectors;
void on_illegal_instruction(int) {
  siglongjmp(no_vectors, 1);
}
bool try_vectors() {
  struct sigaction action = {}, old;
  action.sa_handler = on_illegal_instruction;
  sigaction(SIGILL, &action, &old);
  const bool executes = sigsetjmp(no_vectors, 1) == 0;
  if (executes) __asm__ volatile(".4byte 0xcd00f057" : : : "memory");  // vsetivli zero, 1, e32, m1, ta, ma
  sigaction(SIGILL, &old, nullptr);
  return executes;
}
bool vectors_execute() {
  static const bool executes = try_vectors();
  return executes;
}
#endif

}  // namespace

uint32_t cpu_isa_bits() {
  uint32_t bits = kCompiledIsa | isa_of_cpu();
  if (make_tiles_run()) bits |= isa_of_cpu() | RNNP_ISA_AMX_INT8;
  if (tiles_are_emulated() && (bits & RNNP_ISA_AVX512_BF16) != 0) bits |= RNNP_ISA_AMX_BF16;
#if defined(__riscv) && defined(__linux__)
  if (vectors_execute()) bits |= RNNP_ISA_RVV;
#endif
  return bits;
}

bool cpu_runs(const Kernel &kernel) {
  return (kernel.isa & ~cpu_isa_bits()) == 0;
}

bool is_fused(const Kernel &kernel) {
  return kernel.isa != 0 && kernel.isa != RNNP_ISA_SIMD128;
}

const Kernel *reference_of(const Kernel &kernel) {
  return find_kernel(kAllKernels, kernel.family, kernel.dtype, kernel.nr, 0);
}

// Those have tests of their own (fixed_point_test.cpp).
static bool is_cell_in_integers(const Kernel &kernel) {
  return kernel.dtype == DType::kI8 && kernel.nr == 0;
}

std::vector<const Kernel *> kernels_of(std::initializer_list<KernelFamily> families) {
  std::vector<const Kernel *> out;
  for (uint32_t i = 0; i < kAllKernels.count; ++i)
    for (KernelFamily f : families)
      if (kAllKernels.rows[i]->family == f && !is_cell_in_integers(*kAllKernels.rows[i])) out.push_back(kAllKernels.rows[i]);
  return out;
}

static bool is_fused_peer(const Kernel &kernel, const Kernel &other) {
  return &kernel != &other && kernel.isa != 0 && other.isa != 0 && kernel.family == other.family && kernel.dtype == other.dtype &&
         kernel.nr == other.nr;
}

std::vector<const Kernel *> with_fused_peers(const std::vector<const Kernel *> &kernels) {
  std::vector<const Kernel *> out;
  for (const Kernel *kernel : kernels) {
    bool peers = false;
    for (const Kernel *other : kernels_of({kernel->family})) peers |= is_fused_peer(*kernel, *other);
    if (peers) out.push_back(kernel);
  }
  return out;
}

std::vector<const Kernel *> fused_peers(const Kernel &kernel) {
  std::vector<const Kernel *> out;
  for (const Kernel *other : kernels_of({kernel.family}))
    if (is_fused_peer(kernel, *other) && cpu_runs(*other)) out.push_back(other);
  return out;
}

std::string kernel_name(const testing::TestParamInfo<const Kernel *> &info) {
  return info.param->name;
}

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

float Random::uniform(float low, float high) {
  return low + (high - low) * static_cast<float>(next() >> 40) * (1.0f / 16777216.0f);
}

Rows::Rows(size_t rows, size_t cols, size_t stride_floats, bool aligned) : rows_(rows), cols_(cols), stride_(stride_floats) {
  if (stride_ < cols_) stride_ = cols_;
  const size_t elems = (rows_ - 1) * stride_ + cols_;
  const Pages pages = new_pages(elems * sizeof(float) + 64);
  map_ = pages.map;
  map_bytes_ = pages.map_bytes;
  size_t from = pages.bytes - elems * sizeof(float);
  if (aligned) from = from / 64 * 64;
  first_ = static_cast<float *>(static_cast<void *>(pages.begin + from));
  for (size_t i = 0; i < elems; ++i) first_[i] = std::numeric_limits<float>::quiet_NaN();
}

Rows::~Rows() {
  if (map_ != nullptr) free_pages(map_, map_bytes_);
}

void Rows::swap(Rows &other) {
  std::swap(first_, other.first_);
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(rows_, other.rows_);
  std::swap(cols_, other.cols_);
  std::swap(stride_, other.stride_);
}

void Rows::fill(float value) const {
  for (size_t m = 0; m < rows_; ++m)
    for (size_t n = 0; n < cols_; ++n) at(m, n) = value;
}

std::vector<float> Rows::values() const {
  std::vector<float> out;
  for (size_t m = 0; m < rows_; ++m) out.insert(out.end(), row(m), row(m) + cols_);
  return out;
}

bool Rows::gaps_are_untouched() const {
  for (size_t m = 0; m + 1 < rows_; ++m)
    for (size_t n = cols_; n < stride_; ++n)
      if (!std::isnan(row(m)[n])) return false;
  return true;
}

testing::AssertionResult same_bits(const std::vector<float> &a, const std::vector<float> &b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0)
      return testing::AssertionFailure() << "element " << i << " of " << a.size() << ": " << std::hexfloat << a[i] << " and "
                                         << b[i];
  }
  return testing::AssertionSuccess();
}

float stored_as(DType type, float weight) {
  if (type == DType::kF32) return weight;
  int exponent;
  std::frexp(weight, &exponent);
  const int bits = type == DType::kF16 ? 11 : 8;  // of a mantissa
  return std::ldexp(std::nearbyint(std::ldexp(weight, bits - exponent)), exponent - bits);
}

Rows packed_as(const Kernel &kernel, const std::vector<float> &m, uint32_t units, uint32_t k, uint32_t gates) {
  for (const PanelFormat &format : kPanelFormats) {
    if (format.weight != kernel.dtype || format.nr != kernel.nr || format.index_bytes != 0) continue;
    const std::vector<uint8_t> bytes = pack_matrix(format, {m.data(), units, k, 0, gates}).panels;
    Rows out(1, (bytes.size() + sizeof(float) - 1) / sizeof(float), 0, true);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  std::abort();
}

Rows packed(const std::vector<float> &m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates, uint32_t nr) {
  const uint32_t tiles = tile_count(units, nr);
  Rows out(1, static_cast<size_t>(matrix_elems(units, k, gates, nr)), 0, true);
  float *to = out.data();
  for (uint32_t t = 0; t < tiles; ++t)
    for (uint32_t i = 0; i < k; ++i)
      for (uint32_t g = 0; g < gates; ++g)
        for (uint32_t n = 0; n < nr; ++n) {
          const uint32_t unit = t * nr + n;
          *to++ = unit < units ? m[(size_t{first_gate + g} * units + unit) * k + i] : 0.0f;
        }
  return out;
}

}  // namespace rnnp
