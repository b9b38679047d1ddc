// emulated_memory.cpp -- Contract: emulated_memory.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/emulator/emulated_memory.h"

#include <algorithm>
#include <iterator>

namespace simt {
namespace {

constexpr size_t kMostPast = 4;

uint64_t value_at(const void *p, uint32_t bytes) {
  uint64_t v = 0;
  memcpy(&v, p, bytes);
  return v;
}

}  // namespace

void end_round(Counter *counter) {
  if (counter->expects == 0 || counter->bytes != 0) return;
  ++counter->rounds;
  counter->expects = 0;
}

EmulatedMemory::EmulatedMemory(const Launch &launch)
    : running_(UINT32_MAX), old_values_(launch.old_values), acquired_(launch.blocks), held_(launch.blocks) {
  for (uint32_t i = 0; i < launch.plain_count; ++i) {
    uint8_t *p = static_cast<uint8_t *>(launch.plain[i].p);
    plain_.push_back({p, std::vector<uint8_t>(p, p + launch.plain[i].bytes / 4 * 4), {}});
    plain_.back().shown = plain_.back().visible;
  }
}

void EmulatedMemory::store(uint32_t block, void *p, uint64_t v, uint32_t bytes) {
  words_.push_back({p, v, bytes, block});
}

// The oldest store to the address of store `pick` becomes visible.
void EmulatedMemory::drain_word(size_t pick) {
  size_t i = 0;
  while (words_[i].p != words_[pick].p) ++i;
  const Word w = words_[i];
  words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
  ++time_;
  if (old_values_) {
    Past &past = past_[w.p];
    if (past.seen.empty()) past.seen.resize(acquired_.size());
    if (past.values.size() == kMostPast) past.values.erase(past.values.begin());
    past.values.push_back({value_at(w.p, w.bytes), time_});
  }
  memcpy(w.p, &w.v, w.bytes);
}

void EmulatedMemory::send(const Counted &store) {
  sent_.push_back(store);
}
void EmulatedMemory::drain_sent(size_t pick) {
  const Counted s = sent_[pick];
  sent_[pick] = sent_.back();
  sent_.pop_back();
  memcpy(s.to, s.v, s.words * sizeof s.v[0]);
  Counter counter;
  memcpy(&counter, s.counter, sizeof counter);
  counter.bytes += static_cast<int32_t>(s.words * sizeof s.v[0]);
  end_round(&counter);
  memcpy(s.counter, &counter, sizeof counter);
}

uint64_t EmulatedMemory::load(uint32_t block, const void *p, uint32_t bytes, uint64_t random) {
  const uint64_t now = value_at(p, bytes);
  if (!old_values_ || (random & 3) != 0) return now;
  const auto found = past_.find(p);
  if (found == past_.end()) return now;
  Past &past = found->second;
  uint64_t &seen = past.seen[block];
  const uint64_t floor = acquired_[block] > seen ? acquired_[block] : seen;
  size_t first = 0;
  while (first < past.values.size() && past.values[first].until <= floor) ++first;
  const size_t pick = first + (random >> 2) % (past.values.size() - first + 1);
  if (pick != 0) seen = past.values[pick - 1].until;
  return pick == past.values.size() ? now : past.values[pick].v;
}

void EmulatedMemory::release(uint32_t block, const void *flag) {
  for (size_t i = 0; i < words_.size();) {
    if (words_[i].block == block) {
      drain_word(i);
      i = 0;
    } else {
      ++i;
    }
  }
  // Nothing orders these; but blocks meet when all have been counted, or after so many tries that they have long come.
  for (size_t i = sent_.size(); i > 0; --i) {
    if (sent_[i - 1].block == block) drain_sent(i - 1);
  }
  keep_plain();
  drain_plain(block, true, 0);
  show_plain();
  released_[flag] = time_;
}
void EmulatedMemory::acquire(uint32_t block, const void *flag) {
  if (released_[flag] > acquired_[block]) acquired_[block] = released_[flag];
}

bool EmulatedMemory::has_stores_to(const void *from, size_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(from);
  return std::any_of(sent_.begin(), sent_.end(),
                     [&](const Counted &s) { return reinterpret_cast<uintptr_t>(s.to) - first < bytes; });
}

void EmulatedMemory::drain_plain(uint32_t block, bool all, uint64_t random) {
  std::map<Place, uint32_t> &held = held_[block];
  while (!held.empty()) {
    const auto first = std::next(held.begin(), static_cast<std::ptrdiff_t>(all ? 0 : random % held.size()));
    memcpy(plain_[first->first.range].visible.data() + 4 * first->first.word, &first->second, 4);
    held.erase(first);
    if (!all) return;
  }
}

// What the block that runs has stored since it was shown memory is its own.
void EmulatedMemory::keep_plain() {
  for (uint32_t r = 0; r < plain_.size() && running_ != UINT32_MAX; ++r) {
    const Plain &plain = plain_[r];
    if (memcmp(plain.p, plain.shown.data(), plain.shown.size()) == 0) continue;
    for (size_t i = 0; i < plain.shown.size() / 4; ++i) {
      uint32_t v, shown;
      memcpy(&v, plain.p + 4 * i, 4);
      memcpy(&shown, plain.shown.data() + 4 * i, 4);
      if (v != shown) held_[running_][{r, i}] = v;
    }
  }
}

void EmulatedMemory::show_plain() {
  for (Plain &plain : plain_) memcpy(plain.p, plain.visible.data(), plain.visible.size());
  if (running_ != UINT32_MAX) {
    for (const auto &[place, v] : held_[running_]) memcpy(plain_[place.range].p + 4 * place.word, &v, 4);
  }
  for (Plain &plain : plain_) memcpy(plain.shown.data(), plain.p, plain.visible.size());
}

void EmulatedMemory::show_to(uint32_t block) {
  if (plain_.empty() || block == running_) return;
  keep_plain();
  running_ = block;
  show_plain();
}

void EmulatedMemory::pass_time(uint64_t random) {
  if (!words_.empty() && (random >> 40 & 3) == 0) drain_word((random >> 20) % words_.size());
  if (!sent_.empty() && (random >> 42 & 3) == 0) drain_sent((random >> 20) % sent_.size());
  if (plain_.empty() || (random >> 44 & 63) != 0) return;
  const uint32_t block = static_cast<uint32_t>((random >> 20) % held_.size());
  if (block != running_) drain_plain(block, false, random >> 50);
}

void EmulatedMemory::drain_all() {
  while (!words_.empty()) drain_word(0);
  sent_.clear();  // what nobody waited for
  keep_plain();
  for (uint32_t b = 0; b < held_.size(); ++b) drain_plain(b, true, 0);
  running_ = UINT32_MAX;
  show_plain();
}

}  // namespace simt
