// walk.cpp -- Contract: walk.h.
// SPDX-License-Identifier: Apache-2.0
#include "walk.h"

#include <algorithm>
#include <memory>
#include <set>

#include "call.h"
#include "compiler/cli/executor.h"

namespace rnnp::onnx_fuzz {
namespace {

// Pools are kept: one per number of threads.
const rnnp_executor *threads(size_t count) {
  static std::map<size_t, std::unique_ptr<compiler::Executor>> pools;
  if (count < 2) return nullptr;
  auto &pool = pools[count];
  if (!pool) pool = compiler::make_executor(static_cast<uint32_t>(count));
  return pool->get();
}

struct Place {
  uint32_t max_batch;
  std::string options;  // in words
  std::unique_ptr<Session> session;
  std::set<size_t> free;
};

class Walk {
 public:
  Walk(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths, uint32_t seed, bool serial)
      : network_(network), expected_(expected), lengths_(lengths), serial_(serial), random_(seed), streams_(network.batch()) {
    const size_t count = 1 + random_.below(3);
    for (size_t i = 0; i < count; ++i) make_session();
    for (const rnnp_tensor_info &facts : network.inputs()) has_states_ = has_states_ || facts.role == RNNP_ROLE_STATE;
    place_all();
  }

  void run() {
    while (true) {
      std::vector<size_t> open;
      for (size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i].done < network_.steps()) open.push_back(i);
      }
      if (open.empty()) return;
      const Stream &one = streams_[open[random_.below(open.size())]];
      if (random_.one_in(4)) move_some(one.session);
      run_some(open, one.session, one.done == 0);
    }
  }

 private:
  void make_session() {
    rnnp_session_options options;
    rnnp_session_options_init(&options, sizeof options);
    const size_t batch = network_.batch();
    options.max_batch = static_cast<uint32_t>(network_.fixed_batch() ? batch : batch + random_.below(3));
    options.max_steps = static_cast<uint32_t>(network_.steps() + random_.below(3));
    constexpr uint32_t kChunks[] = {0, 0, 1, 2, 3, 5, 8};
    options.chunk_steps = kChunks[random_.below(7)];
    options.flags = network_.flags | (random_.one_in(5) ? 0u : RNNP_SESSION_ALL_THREADS);
    options.isa_allowed = network_.isa_allowed;
    constexpr size_t kThreads[] = {1, 1, 1, 2, 2, 3};
    const size_t count = serial_ ? 1 : kThreads[random_.below(6)];
    options.executor = threads(count);
    const std::string words = std::to_string(count) + " threads, chunks of " + std::to_string(options.chunk_steps) + ", flags " +
                              std::to_string(options.flags) + ", isa " + std::to_string(options.isa_allowed);
    Place place{options.max_batch, words, std::make_unique<Session>(network_, options), {}};
    for (size_t row = 0; row < options.max_batch; ++row) place.free.insert(row);
    places_.push_back(std::move(place));
  }

  size_t take_row(size_t session) {
    auto &free = places_[session].free;
    auto row = free.begin();
    if (!network_.fixed_batch()) std::advance(row, static_cast<std::ptrdiff_t>(random_.below(free.size())));
    const size_t taken = *row;
    free.erase(row);
    return taken;
  }

  void place_all() {
    const size_t home = random_.below(places_.size());
    for (Stream &stream : streams_) {
      const bool together = network_.fixed_batch() || !network_.causal();
      stream.session = together ? home : random_.below(places_.size());
      stream.row = take_row(stream.session);
    }
  }

  // States leave a session as bytes and go on elsewhere; all rows of a fixed batch at once.
  void move_some(size_t from) {
    const size_t to = random_.below(places_.size());
    if (to == from || !network_.causal()) return;
    for (Stream &stream : streams_) {
      if (stream.session != from || stream.done == 0 || (!network_.fixed_batch() && random_.one_in(2))) continue;
      std::vector<uint8_t> state(places_[from].session->memory().state_bytes);
      expect_ok(rnnp_state_save(places_[from].session->get(), static_cast<uint32_t>(stream.row), state.data(), state.size()),
                "rnnp_state_save");
      places_[from].free.insert(stream.row);
      stream.session = to;
      stream.row = take_row(to);
      expect_ok(rnnp_state_load(places_[to].session->get(), static_cast<uint32_t>(stream.row), state.data(), state.size()),
                "rnnp_state_load");
    }
  }

  void run_some(const std::vector<size_t> &open, size_t session, bool fresh) {
    Call call{network_, expected_, lengths_, streams_, {}, network_.steps()};
    const bool all = network_.fixed_batch() || random_.one_in(3);
    for (size_t i : open) {
      const bool alike = !has_states_ || (streams_[i].done == 0) == fresh;  // initial states are given to all rows or none
      if (streams_[i].session == session && alike && (all || random_.one_in(2))) call.who.push_back(i);
    }
    if (call.who.empty()) return;
    if (!network_.fixed_batch() && random_.one_in(2)) random_.shuffle(&call.who);
    rnnp_session *const at = places_[session].session->get();
    for (size_t i : call.who) {
      if (streams_[i].done == 0 && !network_.fixed_batch())
        expect_ok(rnnp_state_reset(at, static_cast<uint32_t>(streams_[i].row)), "rnnp_state_reset");
      call.steps = std::min(call.steps, network_.steps() - streams_[i].done);
    }
    if (network_.causal() && !random_.one_in(4))
      call.steps = 1 + random_.below(random_.one_in(2) ? call.steps : std::min<size_t>(call.steps, 3));
    try {
      call.run(at, places_[session].max_batch, &random_);
    } catch (const Wrong &wrong) {
      throw Wrong(wrong.what() + std::string(" (") + places_[session].options + (lengths_.empty() ? ")" : ", with lengths)"));
    }
    for (size_t i : call.who) {
      streams_[i].done += call.steps;
      if (streams_[i].done == network_.steps() && !network_.fixed_batch()) places_[session].free.insert(streams_[i].row);
    }
  }

  const Network &network_;
  const std::vector<Words> &expected_;
  const std::vector<int32_t> &lengths_;
  const bool serial_;
  Random random_;
  std::vector<Stream> streams_;
  std::vector<Place> places_;
  bool has_states_ = false;
};

}  // namespace

void walk(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths, uint32_t seed,
          bool serial) {
  Walk(network, expected, lengths, seed, serial).run();
}

}  // namespace rnnp::onnx_fuzz
