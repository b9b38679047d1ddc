// cpu_linux.cpp -- CPU facts on Linux without cpuinfo: cpuid on x86; elsewhere the kernel's hardware capabilities, and sysfs for
// caches. No heap: sysfs is read with plain system calls into a few bytes of stack. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "platform/isa_of_cpu.h"
#include "platform/platform.h"
#include "platform/x86/cpuid_x86.h"

namespace rnnp {

#if defined(__x86_64__) || defined(__i386__)

CpuFacts platform_cpu() {
  return x86_facts();
}

#else
namespace {

constexpr char kCaches[] = "/sys/devices/system/cpu/cpu0/cache/index";
constexpr uint32_t kPathBytes = sizeof kCaches + 24;
constexpr uint32_t kTextBytes = 64;

// The first bytes of .../index<i>/<name>; how many there are, 0 when there is no such file.
uint32_t read_text(uint32_t index, const char *name, char *text) {
  char path[kPathBytes] = {};
  uint32_t n = 0;
  for (; kCaches[n] != 0; ++n) path[n] = kCaches[n];
  path[n++] = static_cast<char>('0' + index);
  path[n++] = '/';
  while (*name != 0 && n + 1 < kPathBytes) path[n++] = *name++;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, kTextBytes);
  close(file);
  return got > 0 ? static_cast<uint32_t>(got) : 0;
}

// "2" or "32K".
uint32_t read_number(uint32_t index, const char *name) {
  char text[kTextBytes];
  const uint32_t got = read_text(index, name, text);
  uint32_t value = 0, i = 0;
  for (; i < got && text[i] >= '0' && text[i] <= '9'; ++i) value = value * 10 + static_cast<uint32_t>(text[i] - '0');
  return i < got && text[i] == 'K' ? value * 1024 : value;
}

// CPUs that share the cache, from a hexadecimal mask such as "0000000f".
uint32_t read_sharers(uint32_t index) {
  char text[kTextBytes];
  const uint32_t got = read_text(index, "shared_cpu_map", text);
  uint32_t count = 0;
  for (uint32_t i = 0; i < got; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
    count += static_cast<uint32_t>(__builtin_popcount(static_cast<unsigned>(digit)));
  }
  return count == 0 ? 1 : count;
}

}  // namespace

CpuFacts platform_cpu() {
  CpuFacts facts = {};
  facts.isa = isa_of_cpu();
  for (uint32_t i = 0; i < 5; ++i) {
    char type[kTextBytes];
    if (read_text(i, "type", type) == 0 || type[0] == 'I') continue;
    const uint32_t level = read_number(i, "level");
    if (level == 1) facts.l1d_bytes = read_number(i, "size");
    if (level == 2) facts.l2_bytes = read_number(i, "size") / read_sharers(i);
    if (level == 3) facts.l3_bytes = read_number(i, "size");
  }
  return facts;
}
#endif

}  // namespace rnnp
