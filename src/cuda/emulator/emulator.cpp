// emulator.cpp -- Contract: emulator.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/emulator/emulator.h"

#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "cuda/emulator/emulated_memory.h"
#include "cuda/emulator/fiber.h"
#include "cuda/emulator/order.h"

namespace simt {
namespace {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kMailBytes = 64;
constexpr uint32_t kTogether = 3;      // blocks of a kernel whose blocks wait for nobody
constexpr uint32_t kWatched = 4096;    // threads that a sanitizer is shown
constexpr uint32_t kWatchedOnes = 64;  // of a kernel whose threads wait for nobody

struct Rendezvous {
  uint32_t size = 0, arrived = 0;
  bool any = false, last_any = false;
  uint8_t order[2] = {0, 0};  // of this barrier and the next
  uint32_t turn = 0;
  std::vector<uint32_t> waiting;
};

struct Warp {
  Rendezvous rendezvous;
  uint8_t mail[2][kLanes][kMailBytes];
  uint32_t turn = 0;  // no lane can be two exchanges ahead of another, so two sets of mail do
};

struct Block {
  uint32_t id = 0;
  std::vector<uint8_t> shared;
  Rendezvous rendezvous;
  std::vector<Warp> warps;
  uint32_t running = 0;  // threads
};

struct Thread {
  uint32_t block = 0, index = 0;  // of the block in `blocks`, in its block
};

// Who falls behind: threads [first, first + count), until so many switches have been made.
struct Slow {
  uint64_t first = 0, count = 0, until = 0;
};

struct Machine {
  Launch launch;
  void (*kernel)(const void *);
  const void *args;
  EmulatedMemory memory;
  std::vector<Thread> threads;
  std::vector<Block> blocks;
  std::vector<std::vector<Block>> past_blocks;  // their memory is not given to others while order is watched
  std::vector<uint32_t> ready;
  uint32_t running = 0;  // threads
  std::vector<Rendezvous> clusters;
  bool stored_too_late = false;
  size_t first_fiber = 0;
  Slow slow;
  Fiber launcher;
  uint32_t self = 0;
  uint64_t random = 0, switched = 0;
};

Machine *machine;
uint64_t switches_made;
uint8_t launch_begins, launch_ends;  // for order.h: where they are is what counts

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

void choose_slow() {
  const uint64_t r = next_random(), widths[4] = {1, kLanes, machine->launch.threads, 0};
  Slow &slow = machine->slow;
  slow.count = widths[r & 3];
  slow.first = slow.count != 0 ? (r >> 8) % machine->threads.size() / slow.count * slow.count : 0;
  // Where nobody should get on before all have begun, some begin so late that others would have done a step.
  const bool begins = machine->switched == 0 && machine->launch.sync == Sync::kCluster;
  const uint64_t turns = begins ? 100 : 20;
  slow.until = machine->switched + 1000 + (r >> 40) % (turns * machine->threads.size());
}

// The place in `ready` of who runs next.
size_t choose_next(uint64_t r) {
  const std::vector<uint32_t> &ready = machine->ready;
  const Slow &slow = machine->slow;
  size_t at = (r & 0xfffff) % ready.size();
  for (int tries = 0; tries < 20 && ready[at] - slow.first < slow.count; ++tries) at = next_random() % ready.size();
  return at;
}

Fiber *fiber_of(uint32_t thread) {
  return fibers()[machine->first_fiber + thread].get();
}

// Who runs next; the one who launched, where every thread waits or has ended.
Fiber *next_to_run() {
  const Unseen unseen;
  Machine &m = *machine;
  if (m.ready.empty()) return &m.launcher;
  const uint64_t r = next_random();
  m.memory.pass_time(r);
  if (m.switched >= m.slow.until) choose_slow();
  const size_t at = choose_next(r);
  m.self = m.ready[at];
  m.ready[at] = m.ready.back();
  m.ready.pop_back();
  ++m.switched;
  m.memory.show_to(my_block().id);
  return fiber_of(m.self);
}

// The thread that runs waits until somebody makes it ready.
void wait() {
  Fiber *const from = fiber_of(machine->self), *const to = next_to_run();
  if (to != from) from->switch_to(to);
}

uint8_t *first_byte(Block *b) {
  uint8_t *bytes = b->shared.data();
  return bytes + (128 - reinterpret_cast<uintptr_t>(bytes) % 128) % 128;
}

// What a block's shared memory is may be another's, once it has ended.
void end_of_thread() {
  const Unseen unseen;
  Block &b = my_block();
  --machine->running;
  if (--b.running != 0 || machine->launch.sync != Sync::kCluster) return;
  machine->stored_too_late |= machine->memory.has_stores_to(b.shared.data(), b.shared.size());
}

void enter_thread() {
  Fiber::entered();
  order_acquire(&launch_begins);
  machine->kernel(machine->args);
  order_release(&launch_ends);
  end_of_thread();
  Fiber *const from = fiber_of(machine->self);
  from->switch_to(next_to_run(), true);
  std::abort();
}

bool meet(Rendezvous *rendezvous, bool v) {
  const Unseen unseen;
  rendezvous->any |= v;
  if (++rendezvous->arrived < rendezvous->size) {
    rendezvous->waiting.push_back(machine->self);
    wait();
    return rendezvous->last_any;
  }
  ++rendezvous->turn;
  rendezvous->last_any = rendezvous->any;
  rendezvous->any = false;
  rendezvous->arrived = 0;
  machine->ready.insert(machine->ready.end(), rendezvous->waiting.begin(), rendezvous->waiting.end());
  rendezvous->waiting.clear();
  return rendezvous->last_any;
}
// A barrier: what was before it is ordered before what is after it. Shuffles and products are none.
bool meet_in_order(Rendezvous *rendezvous, bool v) {
  uint8_t *order = &rendezvous->order[rendezvous->turn & 1];
  order_release(order);
  const bool any = meet(rendezvous, v);
  order_acquire(order);
  return any;
}

// The blocks of ids[first] to ids[first + count - 1], all at the same time.
void place_blocks(const uint32_t *ids, uint32_t count) {
  Machine &m = *machine;
  const Launch &l = m.launch;
  if (kOrderIsWatched && !m.blocks.empty()) m.past_blocks.push_back(std::move(m.blocks));
  m.blocks = std::vector<Block>(count);
  m.threads.assign(size_t{count} * l.threads, {});
  m.ready.clear();
  m.slow = {};
  for (Block &b : m.blocks) {
    b.id = *ids++;
    b.shared.assign(l.shared_bytes + 128, 0xff);
    b.rendezvous.size = b.running = l.threads;
    b.warps.resize(l.threads / kLanes);
    for (Warp &w : b.warps) w.rendezvous.size = kLanes;
  }
  const uint32_t of_cluster = l.cluster != 0 ? l.cluster : count;
  m.clusters.assign(l.sync == Sync::kCluster ? count / of_cluster : 0, {});
  for (Rendezvous &cluster : m.clusters) cluster.size = of_cluster * l.threads;
  order_release(&launch_begins);
  while (fibers().size() < m.first_fiber + m.threads.size()) fibers().push_back(std::make_unique<Fiber>());
  for (uint32_t i = 0; i < m.threads.size(); ++i) {
    m.threads[i].block = i / l.threads;
    m.threads[i].index = i % l.threads;
    if (m.blocks[m.threads[i].block].id >= l.blocks - l.missing_blocks) continue;
    fiber_of(i)->begin(enter_thread);
    m.ready.push_back(i);
  }
}

bool run_blocks(const uint32_t *ids, uint32_t count) {
  Machine &m = *machine;
  place_blocks(ids, count);
  m.running = static_cast<uint32_t>(m.ready.size());
  m.launcher.switch_to(next_to_run());
  return m.running == 0;
}

// Blocks that wait for nobody: some at a time, in any order.
bool run_apart(uint32_t *ids) {
  Machine &m = *machine;
  const uint32_t count = m.launch.blocks;
  for (uint32_t i = count; i > 1; --i) std::swap(ids[i - 1], ids[next_random() % i]);
  bool ended = true;
  for (uint32_t b = 0; b < count && ended; b += kTogether) {
    ended = run_blocks(ids + b, count - b < kTogether ? count - b : kTogether);
    m.first_fiber += kOrderIsWatched ? kTogether * m.launch.threads : 0;
    if (m.first_fiber + kTogether * m.launch.threads > kWatched) m.first_fiber = 0;
  }
  return ended;
}

// Threads that wait for nobody need no stacks of their own.
void run_alone() {
  Machine &m = *machine;
  static std::vector<void *> watched;
  while (kOrderIsWatched && watched.size() < kWatchedOnes) watched.push_back(order_new_thread());
  void *const self = order_this_thread();
  m.threads.assign(1, {});
  m.blocks = std::vector<Block>(1);
  order_release(&launch_begins);
  const uint64_t count = uint64_t{m.launch.blocks} * m.launch.threads, from = next_random() % count;
  const bool backwards = (next_random() & 1) != 0;
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t i = (from + (backwards ? count - n : n)) % count;
    m.blocks[0].id = static_cast<uint32_t>(i / m.launch.threads);
    m.threads[0].index = static_cast<uint32_t>(i % m.launch.threads);
    m.memory.show_to(m.blocks[0].id);
    if (kOrderIsWatched) order_become(watched[n % kWatchedOnes]);
    order_acquire(&launch_begins);
    m.kernel(m.args);
    order_release(&launch_ends);
    if (kOrderIsWatched) order_become(self);
  }
}

}  // namespace

bool run_grid(const Launch &launch, void (*kernel)(const void *), const void *args) {
  const Unseen unseen;
  Machine m = {launch, kernel, args, EmulatedMemory(launch), {}, {}, {}, {}, 0, {}, false, 0, {}, {}, 0, 0, 0};
  machine = &m;
  m.random = launch.seed * 2654435761u + 88172645463325252ull;
  bool ended = true;
  if (launch.sync == Sync::kNobody) {
    run_alone();
  } else {
    std::vector<uint32_t> ids(launch.blocks);
    std::iota(ids.begin(), ids.end(), 0u);
    const bool together = launch.sync == Sync::kGrid || launch.sync == Sync::kCluster;
    ended = together ? run_blocks(ids.data(), launch.blocks) : run_apart(ids.data());
    ended = ended && !m.stored_too_late;
  }
  m.memory.drain_all();
  order_acquire(&launch_ends);
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
  return my_block().id;
}
uint32_t block_count() {
  return machine->launch.blocks;
}
uint8_t *shared() {
  return first_byte(&my_block());
}
static uint32_t my_cluster() {
  return static_cast<uint32_t>(my_block().id / (machine->blocks.size() / machine->clusters.size()));
}
Remote in_block(const void *p, uint32_t block) {
  const Unseen unseen;
  const size_t to = my_cluster() * (machine->blocks.size() / machine->clusters.size()) + block;
  return {first_byte(&machine->blocks[to]) + (static_cast<const uint8_t *>(p) - shared()), static_cast<uint32_t>(to)};
}
void store_words(const Remote &to, const Remote &counter, const uint32_t *v, uint32_t words) {
  order_release(counter.p);
  const Unseen unseen;
  machine->stored_too_late |= machine->blocks[to.block].running == 0;
  Counted store = {to.p, counter.p, {0, 0, 0, 0}, words, my_block().id};
  memcpy(store.v, v, words * sizeof *v);
  machine->memory.send(store);
}
void counter_expect(uint64_t *counter, uint32_t bytes) {
  const Unseen unseen;
  Counter c;
  memcpy(&c, counter, sizeof c);
  c.expects = 1;
  c.bytes -= static_cast<int32_t>(bytes);
  end_round(&c);
  memcpy(counter, &c, sizeof c);
}
bool counter_is_full(uint64_t *counter, uint32_t round) {
  pause();
  Counter c;
  {
    const Unseen unseen;
    memcpy(&c, counter, sizeof c);
  }
  if (c.rounds <= round) return false;
  order_acquire(counter);
  return true;
}
void pause() {
  {
    const Unseen unseen;
    machine->ready.push_back(machine->self);
  }
  wait();
}
void sync_block() {
  meet_in_order(&my_block().rendezvous, false);
}
// It releases and acquires: all that a block stored before is there.
void sync_cluster() {
  Rendezvous &cluster = machine->clusters[my_cluster()];
  const auto turn = [&] { return &cluster.order[cluster.turn & 1]; };
  {
    const Unseen unseen;
    machine->memory.release(my_block().id, turn());
  }
  const uint8_t *flag = turn();
  meet_in_order(&cluster, false);
  const Unseen unseen;
  machine->memory.acquire(my_block().id, flag);
}
bool sync_block_or(bool v) {
  return meet_in_order(&my_block().rendezvous, v);
}

const void *warp_exchange(const void *mine, uint32_t bytes) {
  Warp &w = my_block().warps[me().index / kLanes];
  const uint32_t turn = w.turn;
  {
    const Unseen unseen;
    memcpy(w.mail[turn][me().index % kLanes], mine, bytes);
  }
  if (w.rendezvous.arrived + 1 == kLanes) w.turn ^= 1;
  meet(&w.rendezvous, false);
  return w.mail[turn];
}
void sync_warp() {
  Warp &w = my_block().warps[me().index / kLanes];
  if (w.rendezvous.arrived + 1 == kLanes) w.turn ^= 1;
  meet_in_order(&w.rendezvous, false);
}

void reads_are_told(const uint64_t *words) {
  order_release(const_cast<uint64_t *>(words));
}
void reads_were_told(const uint64_t *words) {
  order_acquire(const_cast<uint64_t *>(words));
}
void delayed_store(void *p, uint64_t v, uint32_t bytes) {
  const Unseen unseen;
  machine->memory.store(my_block().id, p, v, bytes);
}
uint64_t word_load(const void *p, uint32_t bytes) {
  const Unseen unseen;
  return machine->memory.load(my_block().id, p, bytes, next_random());
}
void arrive_at(uint32_t *p) {
  order_release(p);
  const Unseen unseen;
  machine->memory.release(my_block().id, p);
  ++*p;
}
// What was released by `p` is seen from now on.
static void acquire(const uint32_t *p) {
  {
    const Unseen unseen;
    machine->memory.acquire(my_block().id, p);
  }
  order_acquire(const_cast<uint32_t *>(p));
}
uint32_t arrive_in_turn_at(uint32_t *p) {
  arrive_at(p);
  acquire(p);
  const Unseen unseen;
  return *p - 1;
}
uint32_t flag_acquire(const uint32_t *p) {
  const uint32_t v = static_cast<uint32_t>(word_load(p, 4));
  acquire(p);
  return v;
}

}  // namespace simt
