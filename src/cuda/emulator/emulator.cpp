// emulator.cpp -- Contract: emulator.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/emulator/emulator.h"

#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "cuda/emulator/fiber.h"

namespace simt {
namespace {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kMailBytes = 64;

struct Rendezvous {
  uint32_t size = 0, arrived = 0;
  bool any = false, last_any = false;
  std::vector<uint32_t> waiting;
};

struct Warp {
  Rendezvous rendezvous;
  uint8_t mail[2][kLanes][kMailBytes];
  uint32_t turn = 0;  // no lane can be two exchanges ahead of another, so two sets of mail do
};

struct Block {
  std::vector<uint8_t> shared;
  Rendezvous rendezvous;
  std::vector<Warp> warps;
};

struct Thread {
  uint32_t block = 0, index = 0;  // of the block in `blocks`, in its block
  bool done = false, parked = false;
};

struct Pending {
  void *p;
  uint64_t v;
  uint32_t bytes;
};

// Who falls behind: threads [first, first + count), until so many switches have been made.
struct Slow {
  uint64_t first = 0, count = 0, until = 0;
};

struct Machine {
  Launch launch;
  void (*kernel)(const void *);
  const void *args;
  uint32_t first_block;  // of those that run now
  std::vector<Thread> threads;
  std::vector<Block> blocks;
  std::vector<uint32_t> ready;
  std::deque<Pending> stores;
  Slow slow;
  Fiber scheduler;
  uint32_t self = 0;
  uint64_t random = 0, switched = 0;
};

Machine *machine;
uint64_t switches_made;

std::vector<std::unique_ptr<Fiber>> &fibers() {
  static std::vector<std::unique_ptr<Fiber>> all;
  return all;
}

uint64_t next_random() {
  uint64_t &r = machine->random;
  r ^= r << 13;
  r ^= r >> 7;
  r ^= r << 17;
  return r;
}

Thread &me() {
  return machine->threads[machine->self];
}
Block &my_block() {
  return machine->blocks[me().block];
}

void to_scheduler(bool for_good = false) {
  fibers()[machine->self]->switch_to(&machine->scheduler, for_good);
}

void enter_thread() {
  Fiber::entered();
  machine->kernel(machine->args);
  me().done = true;
  to_scheduler(true);
  std::abort();
}

// The oldest store to the address of store `pick` becomes visible.
void drain_one(size_t pick) {
  std::deque<Pending> &stores = machine->stores;
  size_t i = 0;
  while (stores[i].p != stores[pick].p) ++i;
  memcpy(stores[i].p, &stores[i].v, stores[i].bytes);
  stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(i));
}

void drain_all() {
  while (!machine->stores.empty()) drain_one(0);
}

bool meet(Rendezvous *rendezvous, bool v) {
  rendezvous->any |= v;
  if (++rendezvous->arrived < rendezvous->size) {
    rendezvous->waiting.push_back(machine->self);
    me().parked = true;
    to_scheduler();
    return rendezvous->last_any;
  }
  rendezvous->last_any = rendezvous->any;
  rendezvous->any = false;
  rendezvous->arrived = 0;
  for (const uint32_t i : rendezvous->waiting) {
    machine->threads[i].parked = false;
    machine->ready.push_back(i);
  }
  rendezvous->waiting.clear();
  return rendezvous->last_any;
}

void choose_slow() {
  const uint64_t r = next_random(), widths[4] = {1, kLanes, machine->launch.threads, 0};
  Slow &slow = machine->slow;
  slow.count = widths[r & 3];
  slow.first = slow.count != 0 ? (r >> 8) % machine->threads.size() / slow.count * slow.count : 0;
  slow.until = machine->switched + 1000 + (r >> 40) % (20 * machine->threads.size());
}

// The place in `ready` of who runs next.
size_t choose_next(uint64_t r) {
  const std::vector<uint32_t> &ready = machine->ready;
  const Slow &slow = machine->slow;
  size_t at = (r & 0xfffff) % ready.size();
  for (int tries = 0; tries < 20 && ready[at] - slow.first < slow.count; ++tries) at = next_random() % ready.size();
  return at;
}

// `count` blocks from `first` on, all at the same time.
bool run_blocks(uint32_t first, uint32_t count) {
  Machine &m = *machine;
  const Launch &l = m.launch;
  m.first_block = first;
  m.blocks = std::vector<Block>(count);
  m.threads.assign(size_t{count} * l.threads, {});
  m.ready.clear();
  m.slow = {};
  for (Block &b : m.blocks) {
    b.shared.assign(l.shared_bytes + 128, 0xff);
    b.rendezvous.size = l.threads;
    b.warps.resize(l.threads / kLanes);
    for (Warp &w : b.warps) w.rendezvous.size = kLanes;
  }
  while (fibers().size() < m.threads.size()) fibers().push_back(std::make_unique<Fiber>());
  for (uint32_t i = 0; i < m.threads.size(); ++i) {
    m.threads[i].block = i / l.threads;
    m.threads[i].index = i % l.threads;
    if (first + m.threads[i].block >= l.blocks - l.missing_blocks) continue;
    fibers()[i]->begin(enter_thread);
    m.ready.push_back(i);
  }
  size_t left = m.ready.size();
  while (left != 0 && !m.ready.empty()) {
    const uint64_t r = next_random();
    if (!m.stores.empty() && (r >> 40 & 3) == 0) drain_one((r >> 20) % m.stores.size());
    if (m.switched >= m.slow.until) choose_slow();
    const size_t at = choose_next(r);
    m.self = m.ready[at];
    m.ready[at] = m.ready.back();
    m.ready.pop_back();
    ++m.switched;
    m.scheduler.switch_to(fibers()[m.self].get());
    if (me().done) {
      --left;
    } else if (!me().parked) {
      m.ready.push_back(m.self);
    }
  }
  drain_all();
  return left == 0;
}

// Threads that wait for nobody need no stacks of their own.
void run_alone() {
  Machine &m = *machine;
  m.threads.assign(1, {});
  m.blocks = std::vector<Block>(1);
  for (uint32_t b = 0; b < m.launch.blocks; ++b) {
    m.first_block = b;
    for (uint32_t t = 0; t < m.launch.threads; ++t) {
      m.threads[0].index = t;
      m.kernel(m.args);
    }
  }
  drain_all();
}

}  // namespace

bool run_grid(const Launch &launch, void (*kernel)(const void *), const void *args) {
  Machine m;
  machine = &m;
  m.launch = launch;
  m.kernel = kernel;
  m.args = args;
  m.random = launch.seed * 2654435761u + 88172645463325252ull;
  bool ended = true;
  if (launch.sync == Sync::kNobody) {
    run_alone();
  } else if (launch.sync == Sync::kGrid) {
    ended = run_blocks(0, launch.blocks);
  } else {
    for (uint32_t b = 0; b < launch.blocks && ended; ++b) ended = run_blocks(b, 1);
  }
  switches_made = m.switched;
  machine = nullptr;
  return ended;
}

uint64_t switches() {
  return switches_made;
}

uint32_t thread() {
  return me().index;
}
uint32_t block() {
  return machine->first_block + me().block;
}
uint32_t block_count() {
  return machine->launch.blocks;
}
uint8_t *shared() {
  uint8_t *bytes = my_block().shared.data();
  return bytes + (128 - reinterpret_cast<uintptr_t>(bytes) % 128) % 128;
}
void pause() {
  to_scheduler();
}
void sync_block() {
  meet(&my_block().rendezvous, false);
}
bool sync_block_or(bool v) {
  return meet(&my_block().rendezvous, v);
}

const void *warp_exchange(const void *mine, uint32_t bytes) {
  Warp &w = my_block().warps[me().index / kLanes];
  const uint32_t turn = w.turn;
  memcpy(w.mail[turn][me().index % kLanes], mine, bytes);
  if (w.rendezvous.arrived + 1 == kLanes) w.turn ^= 1;
  meet(&w.rendezvous, false);
  return w.mail[turn];
}
void sync_warp() {
  const uint32_t none = 0;
  warp_exchange(&none, sizeof none);
}

void arrive(uint32_t *p) {
  drain_all();
  ++*p;
}
void delayed_store(void *p, uint64_t v, uint32_t bytes) {
  machine->stores.push_back({p, v, bytes});
}

float half_value(uint16_t h) {
  const uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexpf(static_cast<float>(fraction), -24);
  return sign * ldexpf(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
}

uint16_t half_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  const uint32_t sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) return static_cast<uint16_t>(sign | static_cast<uint32_t>(nearbyintf(fabsf(x) * 16777216.0f)));
  return static_cast<uint16_t>(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13));
}

uint16_t bf16_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

namespace {

float bf16_value(uint16_t h) {
  const uint32_t u = uint32_t{h} << 16;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

// Which lane and register have which element: PTX ISA, fragments of mma.m16n8k16.
void mma_halves(float d[4], const uint32_t a[4], const uint32_t b[2], float (*value)(uint16_t)) {
  uint16_t in[12];
  memcpy(in, a, 16);
  memcpy(in + 8, b, 8);
  float mine[12];
  for (int i = 0; i < 12; ++i) mine[i] = value(in[i]);
  const uint8_t *mail = static_cast<const uint8_t *>(warp_exchange(mine, sizeof mine));
  const auto element = [&](uint32_t lane, uint32_t i) {
    float v;
    memcpy(&v, mail + kMailBytes * lane + 4 * i, sizeof v);
    return v;
  };
  const uint32_t lane = me().index % kLanes;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane / 4 + (i & 2 ? 8 : 0), column = 2 * (lane % 4) + (i & 1);
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t pair = k % 8 / 2;
      d[i] +=
          element(row % 8 * 4 + pair, 4 * (k / 8) + 2 * (row / 8) + k % 2) * element(column * 4 + pair, 8 + 2 * (k / 8) + k % 2);
    }
  }
}

}  // namespace

void mma_f16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  mma_halves(d, a, b, half_value);
}
void mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  mma_halves(d, a, b, bf16_value);
}

// The fragments of mma.m16n8k32: register i of a lane has 4 k, from 16 (i / 2) + 4 (lane % 4) on.
void mma_i8(int32_t d[4], const uint32_t a[4], const uint32_t b[2]) {
  int8_t mine[24];
  memcpy(mine, a, 16);
  memcpy(mine + 16, b, 8);
  const int8_t *mail = static_cast<const int8_t *>(warp_exchange(mine, sizeof mine));
  const uint32_t lane = me().index % kLanes;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane / 4 + (i & 2 ? 8 : 0), column = 2 * (lane % 4) + (i & 1);
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t quad = k % 16 / 4;
      const int8_t *from = mail + kMailBytes * (row % 8 * 4 + quad), *other = mail + kMailBytes * (column * 4 + quad);
      d[i] += from[4 * (2 * (k / 16) + row / 8) + k % 4] * other[16 + 4 * (k / 16) + k % 4];
    }
  }
}

}  // namespace simt
