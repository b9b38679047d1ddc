// cuda_exchange_search_test.cpp -- the exchange of h (kernels/exchange.h) in every execution that PTX's memory model allows, for
// three blocks of two threads, three steps, and the clearing of all words where epochs wrap: an exhaustive search.
//
// The model. Stores to one address have one order, that of their making: each word has one writer at a time. A block's view says,
// of each address, the oldest store it may still read; a load returns any store from there on, and moves the view of that address
// alone (relaxed; coherence). arrive is a fence and an addition: it leaves the block's whole view beside the counter; an acquiring
// load takes it over. A barrier makes one view of those of the block's threads. Nothing else orders: stores become visible to each
// block in any order. A store comes after the loads that it depends on (no thin air), which is all that a poll and a publish need.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace {

constexpr uint8_t kBlocks = 3, kThreads = 2, kSlots = 2, kWords = kBlocks * kSlots, kFlag = kWords, kPlaces = kWords + 1;

constexpr uint8_t kMostStores = 5, kLongAgo = 99;

enum class Fault { kNone, kOneSlot, kNoBarrier, kRelaxedFlag, kNoClear };

using View = std::array<uint8_t, kPlaces>;
struct Store {
  uint8_t epoch, value;  // of the flag: how many have arrived
};
// Where a thread is in its program.
enum class At : uint8_t { kClear, kArrive, kWait, kPoll, kMeet, kPublish, kDone };
struct Thread {
  At at;
  uint8_t step, word;  // of a poll: which block's word is next
  View view;
};
// Bytes without gaps: states are compared as such.
struct State {
  std::array<uint8_t, kPlaces> counts;
  std::array<std::array<Store, kMostStores>, kPlaces> stores;
  std::array<View, kMostStores> left;  // of each store of the flag: the view that an acquiring load takes over
  std::array<Thread, kBlocks * kThreads> threads;

  const Store &last(uint8_t place) const { return stores[place][counts[place] - 1]; }
  uint8_t put(uint8_t place, Store store) {
    EXPECT_LT(counts[place], kMostStores);
    stores[place][counts[place]] = store;
    return counts[place]++;
  }
};
struct HashOfState {
  size_t operator()(const State &s) const {
    return std::hash<std::string_view>()({static_cast<const char *>(static_cast<const void *>(&s)), sizeof s});
  }
};
struct SameState {
  bool operator()(const State &a, const State &b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
};

void take_over(View *view, const View &other) {
  for (uint8_t p = 0; p < kPlaces; ++p) (*view)[p] = std::max((*view)[p], other[p]);
}

class Search {
 public:
  Search(Fault fault, bool wraps, uint8_t steps) : fault_(fault), wraps_(wraps), steps_(steps) {}

  // Whether every execution reads right words only, and none for ever.
  bool run() {
    State first = {};
    // Words of long ago: zeros, or, before a wrap, such as look like those of the steps to come.
    for (uint8_t w = 0; w < kWords; ++w) first.put(w, {static_cast<uint8_t>(!wraps_ ? 0 : w % kSlots == 0 ? 2 : 1), kLongAgo});
    first.put(kFlag, {0, 0});
    for (Thread &t : first.threads) t = {wraps_ && fault_ != Fault::kNoClear ? At::kClear : At::kPublish, 0, 0, {}};
    visit(first);
    while (!open_.empty() && good_) {
      const State s = open_.back();
      open_.pop_back();
      for (uint8_t t = 0; t < kBlocks * kThreads; ++t) advance(s, t);
    }
    return good_;
  }
  size_t states() const { return seen_.size(); }
  bool ended() const { return ended_; }

 private:
  void visit(const State &s) {
    if (seen_.insert(s).second) open_.push_back(s);
  }
  static uint8_t slot_of(Fault fault, uint8_t epoch) { return fault == Fault::kOneSlot ? 0 : epoch % kSlots; }
  // What block b publishes for an epoch.
  static uint8_t payload(uint8_t block, uint8_t epoch) { return static_cast<uint8_t>(10 * block + epoch); }

  static void put(State *s, uint8_t place, uint8_t thread, Store store) { s->threads[thread].view[place] = s->put(place, store); }
  // All threads of the block have come to the barrier: one view, and the next part of the program.
  static void meet(State *s, uint8_t block, At next) {
    View all = {};
    for (uint8_t i = 0; i < kThreads; ++i) take_over(&all, s->threads[block * kThreads + i].view);
    for (uint8_t i = 0; i < kThreads; ++i) {
      Thread &t = s->threads[block * kThreads + i];
      t.view = all, t.at = next, t.word = i;  // the words are dealt to the threads
    }
  }
  // A thread that has done its part waits for the other one.
  void arrive_at_barrier(State s, uint8_t thread, At next, bool is_barrier) {
    const uint8_t block = thread / kThreads, other = static_cast<uint8_t>(block * kThreads + (1 - thread % kThreads));
    if (!is_barrier) {
      s.threads[thread].at = next, s.threads[thread].word = thread % kThreads;
    } else if (s.threads[other].at == At::kMeet && s.threads[other].step == s.threads[thread].step) {
      meet(&s, block, next);
    } else {
      s.threads[thread].at = At::kMeet;
    }
    visit(s);
  }

  void advance(const State &s, uint8_t thread) {
    switch (s.threads[thread].at) {
      case At::kClear:
        return clear(s, thread);
      case At::kArrive:
        return arrive(s, thread);
      case At::kWait:
        return wait(s, thread);
      case At::kPublish:
        return publish(s, thread);
      case At::kPoll:
        return poll(s, thread);
      case At::kMeet:
      case At::kDone:
        return;
    }
  }

  // Words by stride, whoever they belong to.
  void clear(State s, uint8_t thread) {
    for (uint8_t w = thread; w < kWords; w += kBlocks * kThreads) put(&s, w, thread, {0, 0});
    arrive_at_barrier(s, thread, At::kArrive, true);
  }
  // Thread 0 of the block. Later additions carry on what earlier ones left.
  void arrive(State s, uint8_t thread) {
    if (thread % kThreads != 0) return arrive_at_barrier(s, thread, At::kPublish, true);
    const uint8_t before = s.counts[kFlag] - 1;
    const uint8_t at = s.put(kFlag, {0, static_cast<uint8_t>(s.last(kFlag).value + 1)});
    s.left[at] = s.left[before];
    take_over(&s.left[at], s.threads[thread].view);
    s.threads[thread].view[kFlag] = at;
    s.threads[thread].at = At::kWait;
    visit(s);
  }
  void wait(const State &s, uint8_t thread) {
    for (uint8_t i = s.threads[thread].view[kFlag]; i < s.counts[kFlag]; ++i) {
      if (s.stores[kFlag][i].value != kBlocks) continue;  // it goes on waiting
      State then = s;
      View &view = then.threads[thread].view;
      view[kFlag] = i;
      if (fault_ != Fault::kRelaxedFlag) take_over(&view, s.left[i]);
      arrive_at_barrier(then, thread, At::kPublish, true);
    }
  }
  // Thread 0 has the block's cells. Then the words of all are polled, those of a block by one thread.
  void publish(State s, uint8_t thread) {
    Thread &t = s.threads[thread];
    if (t.step == steps_) {
      t.at = At::kDone;
      ended_ = true;
      return visit(s);
    }
    const uint8_t block = thread / kThreads, epoch = static_cast<uint8_t>(t.step + 1);
    t.at = At::kPoll, t.word = thread % kThreads, t.step = epoch;
    if (t.word == 0) put(&s, static_cast<uint8_t>(block * kSlots + slot_of(fault_, epoch)), thread, {epoch, payload(block, epoch)});
    visit(s);
  }
  void poll(const State &s, uint8_t thread) {
    const Thread &t = s.threads[thread];
    if (t.word >= kBlocks) return arrive_at_barrier(s, thread, At::kPublish, fault_ != Fault::kNoBarrier);
    const uint8_t place = static_cast<uint8_t>(t.word * kSlots + slot_of(fault_, t.step));
    bool can_come = s.last(place).epoch < t.step || s.last(place).value == kLongAgo;
    for (uint8_t i = t.view[place]; i < s.counts[place]; ++i) {
      const Store &read = s.stores[place][i];
      const bool fresh = read.epoch == t.step;
      can_come = can_come || fresh;
      if (fresh && read.value != payload(t.word, t.step)) good_ = false;
      if (!fresh && i == t.view[place]) continue;
      State then = s;
      then.threads[thread].view[place] = i;  // and polls again, if it is not the one
      if (fresh) then.threads[thread].word = static_cast<uint8_t>(t.word + kThreads);
      visit(then);
    }
    if (!can_come) good_ = false;  // overwritten before it was read
  }

  Fault fault_;
  bool wraps_, good_ = true, ended_ = false;
  uint8_t steps_;
  std::unordered_set<State, HashOfState, SameState> seen_;
  std::vector<State> open_;
};

bool is_sound(Fault fault, bool wraps, uint8_t steps) {
  Search search(fault, wraps, steps);
  const bool good = search.run();
  if (good) {
    EXPECT_TRUE(search.ended());
    testing::Test::RecordProperty("states", static_cast<int>(search.states()));
  }
  return good;
}

TEST(CudaExchangeSearch, NoExecutionReadsAWrongWord) {
  EXPECT_TRUE(is_sound(Fault::kNone, false, 3));
}
TEST(CudaExchangeSearch, NorDoesOneAcrossTheWrapOfEpochs) {
  EXPECT_TRUE(is_sound(Fault::kNone, true, 3));
}
TEST(CudaExchangeSearch, EachFaultHasAnExecutionThatDoes) {
  EXPECT_FALSE(is_sound(Fault::kOneSlot, false, 3)) << "one slot";
  EXPECT_FALSE(is_sound(Fault::kNoBarrier, false, 3)) << "no barrier after the poll";
  EXPECT_FALSE(is_sound(Fault::kRelaxedFlag, true, 2)) << "the flag is not acquired";
  EXPECT_FALSE(is_sound(Fault::kNoClear, true, 2)) << "words are not cleared";
}

}  // namespace
