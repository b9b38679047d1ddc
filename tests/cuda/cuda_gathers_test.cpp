// cuda_gathers_test.cpp -- the slots of resident sparse matrices as their kernel reads them, over random patterns: every block is
// multiplied once, nothing else is, and no two lanes of a slot meet in a bank. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "cuda/pack_gathers.h"
#include "pack/pack.h"

namespace rnnp::cuda {
namespace {

// A matrix in blocks, in memory as a blob has it.
struct Sparse {
  Weights weights;
  uint32_t gates, units, k, height;
  std::vector<float> numbers;  // [gate][unit][k]
  std::vector<uint32_t> panels, index;
  Matrix matrix = {};

  Sparse(Weights kind, uint32_t gate_count, uint32_t unit_count, uint32_t columns, uint32_t block_units)
      : weights(kind), gates(gate_count), units(unit_count), k(columns), height(block_units), numbers(size_t{gates} * units * k) {}

  // keep(gate, strip, quad): whether a block is there. Weights are all different as far as a byte can be.
  template <class Keep>
  void fill(Keep keep) {
    std::map<std::vector<uint32_t>, bool> kept;
    for (uint32_t gate = 0; gate < gates; ++gate) {
      for (uint32_t unit = 0; unit < units; ++unit) {
        for (uint32_t i = 0; i < k; ++i) {
          const std::vector<uint32_t> block = {gate, unit / height, i / 4};
          const auto found = kept.find(block);
          const bool here = found != kept.end() ? found->second : (kept[block] = keep(gate, unit / height, i / 4));
          const size_t at = (size_t{gate} * units + unit) * k + i;
          if (here) numbers[at] = are_bytes(weights) ? static_cast<float>(1 + at % 60) : static_cast<float>(at + 1);
        }
      }
    }
    pack();
  }
  void pack() {
    const DType type = are_bytes(weights) ? DType::kI8 : DType::kF32;
    for (const PanelFormat &f : kPanelFormats) {
      if (is_sparse(f) && f.weight == type && f.index_bytes == 2 * kPanelUnits / height) matrix.format = f;
    }
    const PackedMatrix packed = pack_matrix(matrix.format, {numbers.data(), units, k, 0, gates});
    matrix.shape = {gates, units, k, packed.entries};
    panels.resize(packed.panels.size() / 4);
    index.resize(packed.index.size() / 4 + 1);
    std::memcpy(panels.data(), packed.panels.data(), packed.panels.size());
    std::memcpy(index.data(), packed.index.data(), packed.index.size());
    matrix.panels = static_cast<const uint8_t *>(static_cast<const void *>(panels.data()));
    matrix.index = static_cast<const uint8_t *>(static_cast<const void *>(index.data()));
  }
};

// What one lane reads in one slot.
struct Read {
  uint32_t weight, word;
};

// The image of a layer, read as the kernel does.
class Image {
 public:
  Image(const Sparse &from, uint32_t block_units) : shape_{from.gates, from.k, block_units, {}} {
    for (uint32_t gate = 0; gate < from.gates; ++gate) shape_.bundles[gate] = bundles_of_gate(from.weights, from.matrix, gate);
    bytes_.assign(ceil_div(from.units, block_units) * gather_block_bytes(shape_), 0xA5);
    for (uint32_t unit = 0; unit < from.units; unit += kGroupUnits) {
      for (uint32_t gate = 0; gate < from.gates; ++gate)
        pack_row_group(from.weights, shape_, unit % block_units / kGroupUnits * from.gates + gate, from.matrix,
                       row_group_of(from.matrix, gate, unit), &bytes_[unit / block_units * gather_block_bytes(shape_)]);
    }
  }

  const GatherShape &shape() const { return shape_; }

  // All slots of a part of a row group, in order: 32 lanes each.
  std::vector<std::vector<Read>> slots(uint32_t unit, uint32_t gate, uint32_t part) const {
    const uint32_t group = unit % shape_.units / kGroupUnits * shape_.gates + gate, set = group % kRowSets;
    const uint8_t *warp = &bytes_[unit / shape_.units * gather_block_bytes(shape_) + place_of_warp(shape_, set, part)];
    std::vector<std::vector<Read>> all;
    for (uint32_t i = 0; i < shape_.bundles[gate]; ++i) {
      const uint8_t *bundle = warp + (size_t{bundles_before(shape_, set, group)} + i) * kBundleBytes;
      for (uint32_t slot = 0; slot < kBundleSlots; ++slot) {
        all.emplace_back();
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          uint32_t weight;
          uint16_t word;
          std::memcpy(&weight, bundle + lane * 16 + slot * 4, sizeof weight);
          std::memcpy(&word, bundle + 512 + lane * 8 + slot * 2, sizeof word);
          const bool last = i + 1 == shape_.bundles[gate] && slot == 0;
          EXPECT_EQ(word >= 0x8000, last) << "the mark of a row group's last bundle";
          all.back().push_back({weight, word & 0x7fffu});
        }
      }
    }
    return all;
  }

 private:
  GatherShape shape_;
  std::vector<uint8_t> bytes_;
};

void expect_no_bank_twice(const std::vector<Read> &lanes) {
  std::map<uint32_t, uint32_t> word_of_bank;
  for (const Read &r : lanes) {
    const auto placed = word_of_bank.emplace(r.word % 32, r.word);
    ASSERT_EQ(placed.first->second, r.word) << "two words of bank " << r.word % 32;
  }
}

// The weights that a lane multiplies by each k, of all parts.
void add_products(const Sparse &m, uint32_t part, const Read &r, std::map<uint32_t, std::vector<float>> *products) {
  if (are_bytes(m.weights)) {
    for (uint32_t i = 0; i < 4; ++i) {
      const int8_t byte = static_cast<int8_t>(r.weight >> 8 * i & 255);
      if (byte != 0) (*products)[r.word * 4 + i].push_back(byte);
    }
  } else {
    float weight;
    std::memcpy(&weight, &r.weight, sizeof weight);
    if (weight != 0) (*products)[r.word * 4 + part].push_back(weight);
  }
}

// The stored number of a weight.
float stored(const Sparse &m, uint32_t gate, uint32_t unit, uint32_t k) {
  if (!are_bytes(m.weights)) return m.numbers[(size_t{gate} * m.units + unit) * m.k + k];
  const uint32_t *first = m.index.data();
  const uint16_t *quads = static_cast<const uint16_t *>(static_cast<const void *>(first + ceil_div(m.units, 16) * m.gates + 1));
  const uint32_t column = unit / 16 * m.gates + gate, strips = 16 / m.height;
  for (uint32_t e = first[column]; e < first[column + 1]; ++e) {
    if (quads[e * strips + unit % 16 / m.height] == k / 4)
      return static_cast<int8_t>(m.matrix.panels[(size_t{e} * 16 + unit % 16) * 4 + k % 4]);
  }
  return 0;
}

void expect_right(const Sparse &m, uint32_t block_units) {
  const Image image(m, block_units);
  const uint32_t quads = (m.k + 3) / 4;
  for (uint32_t unit = 0; unit < m.units; unit += 32) {
    for (uint32_t gate = 0; gate < m.gates; ++gate) {
      std::vector<std::map<uint32_t, std::vector<float>>> products(32);
      for (uint32_t part = 0; part < 4; ++part) {
        std::vector<uint32_t> before(32, 0);
        for (const std::vector<Read> &lanes : image.slots(unit, gate, part)) {
          ASSERT_NO_FATAL_FAILURE(expect_no_bank_twice(lanes));
          for (uint32_t lane = 0; lane < 32; ++lane) {
            const Read &r = lanes[lane];
            ASSERT_LT(r.word, quads + 32) << "no such word";
            if (r.word >= quads) {
              ASSERT_EQ(r.weight, 0u) << "a slot without a block has a weight";
              continue;
            }
            if (!are_bytes(m.weights)) {
              ASSERT_LE(before[lane], r.word) << "a chain out of order";
              before[lane] = r.word + 1;
            }
            add_products(m, part, r, &products[lane]);
          }
        }
      }
      for (uint32_t lane = 0; lane < 32; ++lane) {
        for (uint32_t k = 0; k < m.k; ++k) {
          const float want = unit + lane < m.units ? stored(m, gate, unit + lane, k) : 0;
          const std::vector<float> got = products[lane].count(k) ? products[lane][k] : std::vector<float>();
          ASSERT_EQ(got, want == 0 ? std::vector<float>() : std::vector<float>{want}) << "unit " << unit + lane << " k " << k;
          products[lane].erase(k);
        }
        ASSERT_TRUE(products[lane].empty()) << "weights for no k";
      }
    }
  }
}

// The most blocks of a strip and of a bank, from the numbers.
struct Degrees {
  uint32_t strip = 0, bank = 0, all = 0;
};
Degrees degrees(const Sparse &m, uint32_t gate, uint32_t unit) {
  Degrees d;
  std::vector<uint32_t> of_bank(32);
  for (uint32_t first = unit; first < std::min(unit + 32, m.units); first += m.height) {
    uint32_t count = 0;
    for (uint32_t quad = 0; quad * 4 < m.k; ++quad) {
      bool any = false;
      for (uint32_t i = 0; i < m.height * 4; ++i) {
        const uint32_t u = first + i / 4, k = quad * 4 + i % 4;
        any = any || (u < m.units && k < m.k && m.numbers[(size_t{gate} * m.units + u) * m.k + k] != 0);
      }
      if (any) ++count, ++of_bank[quad % 32];
    }
    d.strip = std::max(d.strip, count), d.all += count;
  }
  d.bank = *std::max_element(of_bank.begin(), of_bank.end());
  return d;
}

TEST(CudaGathers, EveryBlockIsMultipliedOnceAndNoTwoLanesMeetInABank) {
  std::mt19937 random(3);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (uint32_t round = 0; round < 60; ++round) {
    const Weights weights = round % 2 == 0 ? Weights::kByteBlocks : Weights::kBlocks;
    Sparse m(weights, 1 + below(4), 1 + below(100), 1 + below(700), 4u << below(3));
    const double density = 0.01 + 0.05 * below(12);
    m.fill([&](uint32_t, uint32_t, uint32_t) { return std::bernoulli_distribution(density)(random); });
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(expect_right(m, 32 * (1 + below(3))));
  }
}

TEST(CudaGathers, BlocksOfAnyOrderTakeAsFewSlotsAsTheirLargestDegree) {
  std::mt19937 random(5);
  for (uint32_t round = 0; round < 40; ++round) {
    const uint32_t height = 4u << round % 3, k = 256 + static_cast<uint32_t>(random() % 900);
    Sparse m(Weights::kByteBlocks, 2, 64, k, height);
    m.fill([&](uint32_t, uint32_t, uint32_t) { return random() % 10 < 1 + round % 8; });
    for (uint32_t unit = 0; unit < 64; unit += 32) {
      const Degrees d = degrees(m, 1, unit);
      ASSERT_EQ(colour_slots(row_group_of(m.matrix, 1, unit), nullptr), std::max(d.strip, d.bank));
    }
  }
}

// In order there is no such invariant. Random patterns take a few slots more than their longest strip.
TEST(CudaGathers, BlocksInOrderTakeFewSlotsMore) {
  std::mt19937 random(6);
  for (const uint32_t height : {16u, 8u, 4u}) {
    Sparse m(Weights::kBlocks, 1, 32, 2304, height);
    m.fill([&](uint32_t, uint32_t, uint32_t) { return random() % 10 == 0; });
    const Degrees d = degrees(m, 0, 0);
    const uint32_t slots = deal_slots_in_order(row_group_of(m.matrix, 0, 0), nullptr);
    EXPECT_GE(slots, d.strip);
    EXPECT_LE(slots * 100, d.strip * 112);
  }
}

// All blocks of one bank, one strip that has them all, gates without any but one, and everything.
TEST(CudaGathers, PatternsThatAreHardToDealAreDealt) {
  for (const Weights weights : {Weights::kByteBlocks, Weights::kBlocks}) {
    for (const uint32_t height : {16u, 8u, 4u}) {
      Sparse bank(weights, 1, 40, 1100, height), strip(weights, 2, 64, 300, height), all(weights, 3, 50, 130, height);
      bank.fill([](uint32_t, uint32_t, uint32_t quad) { return quad % 32 == 7; });
      strip.fill([](uint32_t gate, uint32_t at, uint32_t quad) { return (gate == 0 && at == 1) || (gate == 1 && quad == 3); });
      all.fill([](uint32_t, uint32_t, uint32_t) { return true; });
      for (const Sparse *m : {&bank, &strip, &all}) ASSERT_NO_FATAL_FAILURE(expect_right(*m, 64));
    }
  }
}

// Shared memory's words of zeros are one of each bank, behind those of k.
TEST(CudaGathers, AWordOfZerosIsInEveryBank) {
  for (const uint32_t k : {1u, 4u, 127u, 128u, 129u, 1024u}) {
    for (uint32_t bank = 0; bank < 32; ++bank) {
      EXPECT_EQ(zero_word(k, bank) % 32, bank);
      EXPECT_GE(zero_word(k, bank), (k + 3) / 4);
      EXPECT_LT(zero_word(k, bank), plane_words(k));
    }
  }
}

}  // namespace
}  // namespace rnnp::cuda
