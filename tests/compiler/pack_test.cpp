// pack_test.cpp -- the packer: what panels of every format hold of a matrix. SPDX-License-Identifier: Apache-2.0
#include "pack/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <random>

#include "compiler/onnx/problem.h"

namespace rnnp::testing_support {
namespace {

struct Format {
  const char *name;
  uint32_t id;
  PanelFormat row;
};
const Format kFormats[] = {
#define RNNPACK_PANEL_FORMAT(name, id, ...) {#name, id, find_panel_format(id)},
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT
};

// Blobs name formats by these numbers.
TEST(Pack, IdsOfFormatsArePinned) {
  const std::map<std::string, uint32_t> pinned = {
      {"f32_nr16", 1},       {"f32_nr8", 2},        {"f32_nr4", 3},         {"f32_row", 4},        {"f16_nr16", 5},
      {"f16_nr8", 6},        {"f16_nr4", 7},        {"bf16_nr16", 8},       {"bf16_nr8", 9},       {"bf16_nr4", 10},
      {"i8_nr16", 11},       {"i8_nr8", 12},        {"i8_nr4", 13},         {"i4_nr16", 14},       {"i4_nr8", 15},
      {"i4_nr4", 16},        {"f32_16x4_nr16", 17}, {"f32_8x4_nr16", 18},   {"f32_4x4_nr16", 19},  {"i8_16x4_nr16", 20},
      {"i8_8x4_nr16", 21},   {"i8_4x4_nr16", 22},   {"bf16_16x4_nr16", 26}, {"bf16_8x4_nr16", 27}, {"bf16_4x4_nr16", 28},
      {"i8_q15_nr16", 23},   {"i8_q15_nr8", 24},    {"i8_q15_nr4", 25},     {"i8_smlad_nr4", 29},  {"i8_kmajor16_nr4", 30},
      {"f32_ell_nr16", 31},  {"i8_ell_nr16", 32},   {"q8_nr16", 33},        {"q8_nr8", 34},        {"q8_nr4", 35},
      {"dot_bf16_nr16", 36}, {"dot_bf16_nr8", 37},  {"dot_bf16_nr4", 38}};
  ASSERT_EQ(pinned.size(), std::size(kFormats));
  for (const Format &f : kFormats) {
    EXPECT_EQ(pinned.at(f.name), f.id);
    EXPECT_EQ(f.id, f.row.id);
    EXPECT_EQ(f.name, panel_format_name(f.id));
    EXPECT_EQ(f.id, panel_format_id(f.name));
  }
  for (const uint32_t id : {0u, 99u, 0xffffffffu}) EXPECT_EQ(0u, find_panel_format(id).id) << id;
  EXPECT_EQ("unknown 99", panel_format_name(99));
  EXPECT_EQ(0u, panel_format_id("unknown 99"));
}

// Small integers have the same value in every type of 16 bits and more: their codes, written out.
uint32_t code_of(DType type, uint32_t value) {
  uint32_t exponent = 0;
  while (value >> exponent > 1) ++exponent;
  const uint32_t mantissa = value == 0 ? 0 : value - (1u << exponent);
  const uint32_t bits = type == DType::kF16 ? 10 : type == DType::kBf16 ? 7 : 23, bias = type == DType::kF16 ? 15 : 127;
  return value == 0 ? 0 : (exponent + bias) << bits | mantissa << bits >> exponent;
}

// Written out from docs/BLOB_FORMAT.md, "Panel formats": a format of another stored type needs a case of its own here.
void expect_panels(const PanelFormat &f, const MatrixSource &s, uint32_t all_gates) {
  ASSERT_TRUE(f.weight == DType::kF32 || f.weight == DType::kF16 || f.weight == DType::kBf16);
  const std::vector<uint8_t> bytes = pack_matrix(f, s).panels;
  ASSERT_EQ(bytes.size(), panels_bytes(f, {s.gates, s.units, s.k, s.k}));
  const size_t size = dtype_bits(f.weight) / 8;
  ASSERT_LE(s.gate_begin + s.gates, all_gates);
  const uint32_t width = f.nr == 0 ? s.units : f.nr;
  size_t index = 0;
  for (uint32_t tile = 0; tile < panel_count(f, s.units); ++tile) {
    for (uint32_t first = 0; first < s.k; first += f.kr) {
      for (uint32_t g = 0; g < s.gates; ++g) {
        for (uint32_t n = 0; n < width * f.kr; ++n, ++index) {
          const uint32_t unit = tile * width + n / f.kr, i = first + n % f.kr;
          const bool there = unit < s.units && i < s.k;
          const float value = there ? s.m[(uint64_t{s.gate_begin + g} * s.units + unit) * s.k + i] : 0.0f;
          uint32_t code = 0;
          std::memcpy(&code, bytes.data() + index * size, size);
          ASSERT_EQ(code_of(f.weight, static_cast<uint32_t>(value)), code);
        }
      }
    }
  }
  ASSERT_EQ(index * size, bytes.size());
}

TEST(Pack, PanelsHoldEveryWeightOnceAndZeros) {
  for (const Format &f : kFormats) {
    if (f.row.scales != Scales::kUnscaled || is_sparse(f.row)) continue;
    for (uint32_t units : {1u, 3u, 4u, 16u, 17u, 37u}) {
      for (uint32_t gates : {1u, 3u, 4u}) {
        SCOPED_TRACE(std::string(f.name) + ", units " + std::to_string(units) + ", gates " + std::to_string(gates));
        const uint32_t k = 5;
        std::vector<float> m(uint64_t{gates} * units * k);
        for (size_t i = 0; i < m.size(); ++i) m[i] = static_cast<float>(i % 255 + 1);
        ASSERT_NO_FATAL_FAILURE(expect_panels(f.row, {m.data(), units, k, 0, gates}, gates));
        for (uint32_t first = 0; first < gates; ++first)
          ASSERT_NO_FATAL_FAILURE(expect_panels(f.row, {m.data(), units, k, first, 1}, gates));
      }
    }
  }
}

// The nearest of the neighbours, in f64; halves to the even code.
TEST(Pack, NumbersOfSixteenBitsAreTheNearest) {
  struct Type {
    uint16_t (*nearest)(float);
    int mantissa, bias, least;  // of normal and other numbers: 2^least is the smallest step
    bool denormals;
  };
  for (const Type &t : {Type{nearest_f16, 10, 15, -24, true}, Type{nearest_bf16, 7, 127, -133, false}}) {
    const auto value = [&](uint32_t code) {
      const uint32_t size = code & 0x7fffu, exponent = size >> t.mantissa, mantissa = size & ((1u << t.mantissa) - 1);
      if (exponent == 0) return t.denormals ? std::ldexp(double(mantissa), t.least) : 0.0;
      return std::ldexp(double(mantissa + (1u << t.mantissa)), int(exponent) - t.bias - t.mantissa);
    };
    const uint32_t infinity = (t.bias == 15 ? 31u : 255u) << t.mantissa;
    uint32_t checked = 0;
    for (uint32_t code = 0; code < infinity; code += code < 300 || code > infinity - 300 ? 1 : 7) {
      if (!t.denormals && code < (1u << t.mantissa)) continue;  // become zero
      ASSERT_EQ(code, t.nearest(static_cast<float>(value(code))));
      if (code + 1 == infinity) continue;
      const double half = (value(code) + value(code + 1)) / 2;
      ASSERT_EQ(code % 2 == 0 ? code : code + 1, t.nearest(static_cast<float>(half))) << code;
      ASSERT_EQ(code, t.nearest(std::nextafter(static_cast<float>(half), 0.0f)));
      ASSERT_EQ(0x8000u | (code + 1), t.nearest(-std::nextafter(static_cast<float>(half), INFINITY)));
      ++checked;
    }
    ASSERT_LT(1000u, checked);
    EXPECT_EQ(infinity, t.nearest(3.4e38f));
    EXPECT_EQ(infinity | 0x8000u, t.nearest(-INFINITY));
    EXPECT_LT(infinity, t.nearest(std::nanf("")) & 0x7fffu);
  }
  EXPECT_EQ(0x7bffu, nearest_f16(65519.0f));
  EXPECT_EQ(0x7c00u, nearest_f16(65520.0f));
  EXPECT_EQ(0u, nearest_bf16(1e-39f));
}

// Stored numbers times their scale are the weights to half of a scale, and keep the rules that kernels rely on.
TEST(Pack, BytesAreTheNearestOfTheirScale) {
  std::mt19937 rng(3);
  for (const Format &f : kFormats) {
    if (f.row.weight != DType::kI8 || f.row.scales != Scales::kPerUnit || is_sparse(f.row)) continue;
    const uint32_t units = 21, k = 39, gates = 3;
    std::vector<float> m(units * k * gates);
    std::uniform_real_distribution<float> number(-1.0f, 1.0f);
    for (float &w : m) w = number(rng);
    for (uint32_t i = 0; i < k; ++i) m[i] = 1.0f, m[k + i] = 0.0f;  // neighbours at their most; nothing at all
    const PackedMatrix packed = pack_matrix(f.row, {m.data(), units, k, 0, gates});
    ASSERT_EQ(packed.panels.size(), panels_bytes(f.row, {gates, units, k, k}));
    const uint32_t width = f.row.nr, groups = (k + 3) / 4;
    for (uint32_t g = 0; g < gates; ++g) {
      for (uint32_t unit = 0; unit < units; ++unit) {
        const size_t place = (unit / width * gates + g) * width + unit % width;
        int sum = 0, before = 0;
        for (uint32_t i = 0; i < groups * 4; ++i) {
          const size_t at = (((unit / width * groups + i / 4) * gates + g) * width + unit % width) * 4 + i % 4;
          const int q = static_cast<int8_t>(packed.panels[at]);
          const float weight = i < k ? m[(size_t{g} * units + unit) * k + i] : 0.0f;
          ASSERT_NEAR(weight, static_cast<float>(q) * packed.scales[place], 0.5001f * packed.scales[place]);
          ASSERT_LE(std::abs(q), 127);
          ASSERT_LE(i % 2 == 0 ? 0 : std::abs(q + before), 129);
          before = q;
          sum += q;
        }
        ASSERT_EQ(sum, packed.unit_sums[place]);
      }
    }
    EXPECT_EQ(1.0f / 64, packed.scales[0]);
    EXPECT_EQ(0.0f, packed.scales[1 % width]);
  }
}

// The same numbers as those of i8_nr4, one gate behind the other; smlad, a number of 16 bits holds two.
TEST(Pack, BytesOfSmallCpusAreThoseOfOthers) {
  std::mt19937 rng(4);
  const uint32_t units = 11, k = 39, gates = 3;
  std::vector<float> m(units * k * gates);
  std::uniform_real_distribution<float> number(-1.0f, 1.0f);
  for (float &w : m) w = number(rng);
  const MatrixSource source = {m.data(), units, k, 0, gates};
  const PackedMatrix plain = pack_matrix(find_panel_format(13), source), smlad = pack_matrix(find_panel_format(29), source),
                     runs = pack_matrix(find_panel_format(30), source);
  EXPECT_EQ(plain.scales, smlad.scales);
  EXPECT_EQ(plain.scales, runs.scales);
  EXPECT_TRUE(smlad.unit_sums.empty() && runs.unit_sums.empty());
  ASSERT_EQ(size_t{3 * gates * 5 * 4 * 8}, smlad.panels.size());
  ASSERT_EQ(size_t{3 * gates * 3 * 4 * 16}, runs.panels.size());
  uint32_t borrowed = 0;
  for (uint32_t tile = 0; tile < 3; ++tile) {
    for (uint32_t gate = 0; gate < gates; ++gate) {
      for (uint32_t n = 0; n < 4; ++n) {
        const uint32_t column = tile * gates + gate;
        for (uint32_t i = 0; i < 40; i += 2) {
          const size_t first = ((tile * 10 + i / 4) * gates + gate) * 16 + n * 4 + i % 4;
          const size_t run = ((column * 3 + i / 16) * 4 + n) * 16 + i % 16, both = ((column * 5 + i / 8) * 4 + n) * 8 + i % 8;
          const int low = static_cast<int8_t>(plain.panels[first]), high = static_cast<int8_t>(plain.panels[first + 1]);
          ASSERT_EQ(low, static_cast<int8_t>(runs.panels[run]));
          ASSERT_EQ(high, static_cast<int8_t>(runs.panels[run + 1]));
          ASSERT_EQ(low + 256 * high, static_cast<int16_t>(smlad.panels[both] | smlad.panels[both + 1] << 8));
          borrowed += low < 0;
        }
      }
    }
  }
  EXPECT_LT(100u, borrowed);
}

// The entries of blocks and of single weights, put back where the index says, are the dense panels; a block that fills up is one of
// zeros behind K.
TEST(Pack, BlocksAreThoseOfTheDensePanelsThatHoldAnything) {
  std::mt19937 rng(5);
  const uint32_t units = 37, k = 30, gates = 3, tiles = 3;
  for (const Format &f : kFormats) {
    if (!is_sparse(f.row)) continue;
    const uint32_t strips = f.row.index_bytes / 2, height = 16 / strips, block_k = indexed_k(f.row),
                   blocks = (k + block_k - 1) / block_k;
    std::vector<float> m(units * k * gates, 0.0f);
    for (uint32_t i = 0; i < 40; ++i) m[rng() % m.size()] = static_cast<float>(1 + rng() % 100);
    const MatrixSource source = {m.data(), units, k, 0, gates};
    const PackedMatrix packed = pack_matrix(f.row, source);
    ASSERT_EQ(packed.entries, count_entries(f.row, source));
    ASSERT_EQ(packed.panels.size(), panels_bytes(f.row, {gates, units, k, packed.entries}));
    ASSERT_EQ(packed.index.size(), index_bytes(f.row, {gates, units, k, packed.entries}));
    std::vector<uint32_t> first(tiles * gates + 1);
    std::memcpy(first.data(), packed.index.data(), first.size() * 4);
    std::vector<uint16_t> quads(packed.entries * strips);
    std::memcpy(quads.data(), packed.index.data() + first.size() * 4, quads.size() * 2);
    ASSERT_EQ(0u, first.front());
    ASSERT_EQ(packed.entries, first.back());
    std::vector<float> back(m.size(), 0.0f);
    for (uint32_t column = 0; column < tiles * gates; ++column) {
      for (uint32_t e = first[column]; e < first[column + 1]; ++e) {
        for (uint32_t n = 0; n < 16; ++n) {
          const uint32_t quad = quads[e * strips + n / height], unit = column / gates * 16 + n;
          ASSERT_LE(quad, blocks);
          for (uint32_t j = 0; j < block_k; ++j) {
            float value = 0.0f;
            if (f.row.weight == DType::kF32) {
              std::memcpy(&value, packed.panels.data() + ((size_t{e} * block_k + j) * 16 + n) * 4, 4);
            } else if (f.row.weight == DType::kBf16) {
              uint16_t high;
              std::memcpy(&high, packed.panels.data() + (((size_t{e} * block_k + j) / 2 * 16 + n) * 2 + j % 2) * 2, 2);
              const uint32_t bits = uint32_t{high} << 16;
              std::memcpy(&value, &bits, 4);
            } else {
              value = static_cast<float>(static_cast<int8_t>(packed.panels[(size_t{e} * 16 + n) * block_k + j]));
              value *= packed.scales[column / gates * gates * 16 + column % gates * 16 + n];
            }
            if (quad == blocks || unit >= units || quad * block_k + j >= k) {
              ASSERT_EQ(0.0f, value);
            } else {
              back[(size_t{column % gates} * units + unit) * k + quad * block_k + j] += value;
            }
          }
        }
      }
    }
    for (size_t i = 0; i < m.size(); ++i) ASSERT_NEAR(m[i], back[i], f.row.weight == DType::kI8 ? 0.5 : 0.0);
  }
}

// Int4 are the nearest of their group's scale, and what is beyond K or H is a zero.
TEST(Pack, Int4AreTheNearestOfTheirGroup) {
  std::mt19937 rng(4);
  std::uniform_real_distribution<float> number(-1.0f, 1.0f);
  const uint32_t units = 21, k = 77, gates = 3, group_k = 32, group_count = 3, octets = 10;
  for (const Format &f : kFormats) {
    if (f.row.weight != DType::kI4) continue;
    std::vector<float> m(units * k * gates);
    for (float &w : m) w = number(rng);
    for (uint32_t i = 0; i < group_k; ++i) m[i] = 0.0f;
    const PackedMatrix packed = pack_matrix(f.row, {m.data(), units, k, 0, gates, group_k});
    ASSERT_EQ(group_k, packed.group_k);
    ASSERT_EQ(packed.panels.size(), panels_bytes(f.row, {gates, units, k, k}));
    ASSERT_EQ(packed.scales.size() * 4, scales_bytes(f.row, {gates, units, k, k}, group_k));
    const uint32_t width = f.row.nr;
    for (uint32_t column = 0; column < packed.panels.size() / 4 / octets; ++column) {
      const uint32_t tile = column / (gates * width), g = column / width % gates, unit = tile * width + column % width;
      for (uint32_t i = 0; i < octets * 8; ++i) {
        const uint32_t byte = packed.panels[((tile * octets + i / 8) * gates * width + column % (gates * width)) * 4 + i % 4];
        const int q = static_cast<int>(i % 8 < 4 ? byte & 15 : byte >> 4) - 8;
        const float scale = packed.scales[(tile * group_count + i / group_k) * gates * width + column % (gates * width)];
        const bool there = i < k && unit < units;
        const float weight = there ? m[(size_t{g} * units + unit) * k + i] : 0.0f;
        ASSERT_NEAR(weight, static_cast<float>(q) * scale, 0.5001f * scale);
        ASSERT_LE(std::abs(q), there ? 7 : 0);
      }
    }
  }
}

// What a file holds as whole multiples of its own scales, -8 among them, is packed as it is.
TEST(Pack, Int4WithAFilesScalesKeepAllSixteenNumbers) {
  const uint32_t units = 5, k = 64, group_k = 32, groups = k / group_k;
  for (const Format &f : kFormats) {
    if (f.row.weight != DType::kI4) continue;
    std::vector<float> m(units * k), scales(units * groups);
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.25f + static_cast<float>(i % 3);
    for (uint32_t unit = 0; unit < units; ++unit) {
      for (uint32_t i = 0; i < k; ++i)
        m[unit * k + i] = scales[unit * groups + i / group_k] * static_cast<float>(static_cast<int>((i + unit) % 16) - 8);
    }
    const PackedMatrix packed = pack_matrix(f.row, {m.data(), units, k, 0, 1, group_k, scales.data()});
    const uint32_t width = f.row.nr;
    for (uint32_t unit = 0; unit < units; ++unit) {
      for (uint32_t i = 0; i < k; ++i) {
        const size_t place = place_in_panels(f.row, {1, units, k, k}, 0, unit, i);
        const size_t octet = place / 8, within = place % 8;
        const uint32_t byte = packed.panels[octet * 4 + within % 4];
        const int q = static_cast<int>(within < 4 ? byte & 15 : byte >> 4) - 8;
        const float scale = packed.scales[(unit / width * groups + i / group_k) * width + unit % width];
        ASSERT_EQ(m[unit * k + i], static_cast<float>(q) * scale) << unit << ' ' << i;
      }
    }
  }
}

// The integers that a group of GGUF's Q8_0 has, -127 to 127 with 127 or -127 among them, are found again, and so is their scale.
TEST(Pack, Int8InGroupsKeepsTheIntegersOfQ80) {
  const uint32_t units = 21, gates = 3, k = 77, groups = 3;
  for (const Format &f : kFormats) {
    if (f.row.weight != DType::kI8 || f.row.scales != Scales::kPerGroup) continue;
    std::vector<float> m(size_t{gates} * units * k), scales(size_t{gates} * units * groups);
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(i % 1000 + 1) * 0x1p-14f;  // of f16
    for (size_t i = 0; i < m.size(); ++i) {
      const size_t row = i / k, at = i % k;
      const int q = at % 32 == 5 ? (row % 2 == 0 ? 127 : -127) : static_cast<int>((i * 37) % 255) - 127;
      m[i] = static_cast<float>(q) * scales[row * groups + at / 32];
    }
    const PackedMatrix packed = pack_matrix(f.row, {m.data(), units, k, 0, gates});
    EXPECT_EQ(32u, packed.group_k);
    EXPECT_TRUE(packed.unit_sums.empty());
    ASSERT_EQ(packed.scales.size() * 4, scales_bytes(f.row, {gates, units, k, k}, 32));
    for (size_t i = 0; i < m.size(); ++i) {
      const uint32_t gate = static_cast<uint32_t>(i / k / units), unit = static_cast<uint32_t>(i / k % units);
      const uint32_t at = static_cast<uint32_t>(i % k), nr = f.row.nr;
      const float scale = packed.scales[((unit / nr * groups + at / 32) * gates + gate) * nr + unit % nr];
      ASSERT_EQ(scales[i / k * groups + at / 32], scale);
      const uint8_t q = packed.panels[place_in_panels(f.row, {gates, units, k, k}, gate, unit, at)];
      ASSERT_EQ(m[i], static_cast<float>(static_cast<int8_t>(q)) * scale) << i;
    }
  }
}

TEST(Pack, VectorsAreMatricesOfOneK) {
  for (const Format &f : kFormats) {
    if (f.row.weight != DType::kF32 || is_sparse(f.row)) continue;
    const uint32_t units = 19, gates = 3;
    std::vector<float> v(units * gates);
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i + 1);
    const std::vector<float> vector = pack_vector(f.row, v.data(), units, gates);
    const std::vector<uint8_t> matrix = pack_matrix(f.row, {v.data(), units, 1, 0, gates}).panels;
    ASSERT_EQ(matrix.size(), vector.size() * sizeof(float));
    EXPECT_EQ(0, std::memcmp(matrix.data(), vector.data(), matrix.size()));
    EXPECT_EQ(matrix.size(), vector_bytes(f.row, {gates, units, 1, 1}));
  }
}

}  // namespace
}  // namespace rnnp::testing_support
