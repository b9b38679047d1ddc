// matrix_test.cpp -- what a matrix of a blob may be, for formats of every kind, those without a row yet too: one field at a time is
// wrong, and refused. SPDX-License-Identifier: Apache-2.0
#include "format/matrix.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include <functional>

namespace {

using namespace rnnp;

constexpr uint32_t kOffset = 4096;  // of every part
constexpr PanelFormat kF32 = {90, DType::kF32, DType::kF32, 16, 1, Scales::kUnscaled, 0};
constexpr PanelFormat kRow = {91, DType::kF32, DType::kF32, 0, 1, Scales::kUnscaled, 0};
constexpr PanelFormat kBf16 = {92, DType::kBf16, DType::kF32, 16, 2, Scales::kUnscaled, 0};
constexpr PanelFormat kI8 = {93, DType::kI8, DType::kI8, 16, 4, Scales::kPerUnit, 0};
constexpr PanelFormat kI4 = {94, DType::kI4, DType::kI8, 16, 8, Scales::kPerGroup, 0};
constexpr PanelFormat kIntegerOnly = {96, DType::kI8, DType::kI32, 16, 1, Scales::kIntegerOnly, 0};
constexpr PanelFormat kPairs = {97, DType::kF32, DType::kF32, 8, 1, Scales::kUnscaled, 16};
constexpr PanelFormat kSparse = {95, DType::kF32, DType::kF32, 8, 1, Scales::kUnscaled, 2};  // blocks of 8 x 4

// 3 gates x 20 units x 30, twice; every part at kOffset.
BlobMatrix sample(const PanelFormat &f) {
  BlobMatrix m = {f.id, 2, 3, 20, 30, 30, kOffset, kNone, kNone, kNone, 0, kNone, kNone, 0, 0, {}};
  if (f.index_bytes != 0) m.entries = 7, m.index = kOffset, m.count = 1;
  if (f.scales != Scales::kUnscaled) m.scales = m.diagonal = kOffset, m.lhs_scale = 0.01f;
  if (f.weight == DType::kI8) m.unit_sums = kOffset;
  if (is_fixed_point(f)) m.unit_sums = m.diagonal = kNone;
  if (f.scales == Scales::kPerGroup) m.group_k = 32;
  return m;
}

struct Sized {
  const char *name;
  PanelFormat format;
  uint32_t bytes;  // of its longest part
};

// By hand: (units padded) x gates x (k padded) x bits / 8, twice.
const Sized kSamples[] = {
    {"f32", kF32, 2 * 32 * 3 * 30 * 4},       {"row", kRow, 2 * 20 * 3 * 30 * 4},
    {"bf16", kBf16, 2 * 32 * 3 * 30 * 2},     {"i8", kI8, 2 * 32 * 3 * 32},
    {"i4", kI4, 2 * 32 * 3 * 32 / 2},         {"sparse", kSparse, 7 * 8 * 4 * 4},
    {"fixed", kIntegerOnly, 2 * 32 * 3 * 30}, {"pairs", kPairs, 7 * 8 * 4},
};

TEST(Matrix, FitsWhereItsLongestPartEnds) {
  for (const Sized &s : kSamples) {
    SCOPED_TRACE(s.name);
    EXPECT_TRUE(matrix_fits(s.format, sample(s.format), kOffset + s.bytes));
    EXPECT_FALSE(matrix_fits(s.format, sample(s.format), kOffset + s.bytes - 1));
    EXPECT_FALSE(matrix_fits(s.format, sample(s.format), 0));
  }
}

TEST(Matrix, EveryPartIsMeasured) {
  const MatrixShape shape = {3, 20, 30, 30};
  EXPECT_EQ(32u * 3 * 30 * 2, panels_bytes(kBf16, shape));
  EXPECT_EQ(32u * 3 * 32, panels_bytes(kI8, shape));
  EXPECT_EQ(32u * 3 * 32 / 2, panels_bytes(kI4, shape));
  constexpr PanelFormat kOneI4 = {94, DType::kI4, DType::kI8, 0, 1, Scales::kUnscaled, 0};
  EXPECT_EQ(1u, panels_bytes(kOneI4, {1, 1, 1, 1}));
  EXPECT_EQ(32u * 3 * 4, vector_bytes(kI8, shape));
  EXPECT_EQ(32u * 3 * 4, scales_bytes(kI8, shape, 0));
  EXPECT_EQ(4u * 32 * 3 * 4, scales_bytes(kI4, {3, 20, 100, 100}, 32));
  EXPECT_EQ((3u * 3 + 1) * 4 + 7 * 2, index_bytes(kSparse, {3, 20, 30, 7}));
  const uint32_t most = 0xffffffffu;
  EXPECT_EQ(kSizeOverflow, panels_bytes(kF32, {most, most, most, most}));
  EXPECT_EQ(kSizeOverflow, panels_bytes(kI4, {most, most, most, most}));
}

constexpr uint32_t kWeightsBytes = 0x10000000u;

struct Wrong {
  const char *name;
  std::function<void(BlobMatrix *)> change;
};

void expect_refused(const PanelFormat &f, const std::vector<Wrong> &list) {
  for (const Wrong &w : list) {
    BlobMatrix m = sample(f);
    w.change(&m);
    EXPECT_FALSE(matrix_fits(f, m, kWeightsBytes)) << w.name;
  }
}

TEST(Matrix, SizesOfNothingAndOfMoreThanThereIsAreRefused) {
  for (const Sized &s : kSamples) {
    SCOPED_TRACE(s.name);
    ASSERT_TRUE(matrix_fits(s.format, sample(s.format), 0x40000000u));
    for (const uint32_t v : {0u, 0x10000000u, 0x40000000u, 0x80000000u, 0xfffffff1u, 0xffffffffu}) {
      expect_refused(s.format, {{"count", [v](BlobMatrix *m) { m->count = v; }},
                                {"gates", [v](BlobMatrix *m) { m->gates = v; }},
                                {"units", [v](BlobMatrix *m) { m->units = v; }},
                                {"k and entries", [v](BlobMatrix *m) { m->k = m->entries = v; }}});
    }
    for (const uint32_t at : {kOffset + 4, kOffset + 32, 0x40000000u, 0xffffffc0u, kNone})
      expect_refused(s.format, {{"panels", [at](BlobMatrix *m) { m->panels = at; }}});
    for (int i = 0; i < 5; ++i) expect_refused(s.format, {{"reserved", [i](BlobMatrix *m) { m->reserved[i] = 1u << (6 * i); }}});
    expect_refused(s.format, {{"five gates", [](BlobMatrix *m) { m->gates = 5; }},
                              {"tiles of unequal numbers", [](BlobMatrix *m) { m->tile_first = kOffset; }}});
  }
}

TEST(Matrix, ADenseOneKeepsEveryKAndASparseOneAnIndex) {
  for (const PanelFormat &f : {kF32, kRow, kBf16, kI8, kI4, kIntegerOnly}) {
    expect_refused(f, {{"fewer entries", [](BlobMatrix *m) { m->entries = 29; }},
                       {"more entries", [](BlobMatrix *m) { m->entries = 31; }},
                       {"an index", [](BlobMatrix *m) { m->index = kOffset; }}});
  }
  for (const PanelFormat &f : {kSparse, kPairs}) {
    expect_refused(f, {{"no entry", [](BlobMatrix *m) { m->entries = 0; }},
                       {"more entries than there are weights for", [](BlobMatrix *m) { m->entries = 0x01000000u; }},
                       {"two matrices", [](BlobMatrix *m) { m->count = 2; }},
                       {"no index", [](BlobMatrix *m) { m->index = kNone; }},
                       {"an index at an odd place", [](BlobMatrix *m) { m->index = kOffset + 2; }},
                       {"an index beyond the weights", [](BlobMatrix *m) { m->index = kWeightsBytes; }}});
  }
}

// 3 panels x 3 gates of two entries each but the last two, of one block an entry.
TEST(Matrix, AnIndexNamesEntriesAndBlocksThatThereAre) {
  BlobMatrix m = sample(kSparse);
  m.index = 0;
  m.entries = 16;
  std::vector<uint32_t> good = {0, 2, 4, 6, 8, 10, 12, 14, 15, 16};
  const auto fits = [&](const std::vector<uint32_t> &first, const std::vector<uint16_t> &quads) {
    std::vector<uint8_t> index(first.size() * 4 + quads.size() * 2);
    std::memcpy(index.data(), first.data(), first.size() * 4);
    std::memcpy(index.data() + first.size() * 4, quads.data(), quads.size() * 2);
    return index_fits(kSparse, m, index.data());
  };
  const std::vector<uint16_t> quads(16, 8);  // 30 k: block 7 is the last, 8 one of zeros behind it
  EXPECT_TRUE(fits(good, quads));
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<uint32_t> bad = good;
    bad[i] = i == 0 ? 1 : 17;
    EXPECT_FALSE(fits(bad, quads)) << i;
    bad[i] = i == 0 ? 0xffffffffu : bad[i - 1] - 1;
    EXPECT_FALSE(fits(bad, quads)) << i;
  }
  for (size_t i = 0; i < quads.size(); ++i) {
    std::vector<uint16_t> bad = quads;
    bad[i] = 9;
    EXPECT_FALSE(fits(good, bad)) << i;
  }
}

// 3 panels x 3 gates of an entry each, of eight k.
TEST(Matrix, AnIndexOfSingleWeightsNamesKThatThereAre) {
  BlobMatrix m = sample(kPairs);
  m.index = 0;
  m.entries = 9;
  std::vector<uint8_t> index(10 * 4 + 9 * 8 * 2);
  for (uint32_t i = 0; i <= 9; ++i) std::memcpy(index.data() + i * 4, &i, 4);
  const auto fits = [&](size_t place, uint16_t k) {
    std::vector<uint8_t> bytes = index;
    std::memcpy(bytes.data() + 40 + place * 2, &k, 2);
    return index_fits(kPairs, m, bytes.data());
  };
  for (const size_t place : {0u, 7u, 8u, 71u}) {
    for (const uint16_t k : {uint16_t{0}, uint16_t{29}, uint16_t{30}})
      EXPECT_TRUE(fits(place, k)) << place << ' ' << k;  // 30: the zero behind them
    for (const uint16_t k : {uint16_t{31}, uint16_t{32}, uint16_t{65535}}) EXPECT_FALSE(fits(place, k)) << place << ' ' << k;
  }
}

TEST(Matrix, OnlyAQuantisedOneHasScales) {
  for (const PanelFormat &f : {kF32, kRow, kBf16, kSparse, kPairs}) {
    expect_refused(f, {{"scales", [](BlobMatrix *m) { m->scales = kOffset; }},
                       {"group_k", [](BlobMatrix *m) { m->group_k = 8; }},
                       {"unit_sums", [](BlobMatrix *m) { m->unit_sums = kOffset; }},
                       {"diagonal", [](BlobMatrix *m) { m->diagonal = kOffset; }},
                       {"lhs_scale", [](BlobMatrix *m) { m->lhs_scale = 1; }},
                       {"lhs_zero_point", [](BlobMatrix *m) { m->lhs_zero_point = 1; }}});
  }
  const float inf = __builtin_inff(), nan = __builtin_nanf("");
  for (const PanelFormat &f : {kI8, kI4}) {
    expect_refused(f, {{"no scales", [](BlobMatrix *m) { m->scales = kNone; }},
                       {"scales at an odd place", [](BlobMatrix *m) { m->scales = kOffset + 4; }},
                       {"a diagonal beyond the weights", [](BlobMatrix *m) { m->diagonal = 0x40000000u; }},
                       {"a negative scale", [](BlobMatrix *m) { m->lhs_scale = -1; }},
                       {"an infinite scale", [inf](BlobMatrix *m) { m->lhs_scale = inf; }},
                       {"no number as a scale", [nan](BlobMatrix *m) { m->lhs_scale = nan; }},
                       {"a zero point", [](BlobMatrix *m) { m->lhs_zero_point = 1; }}});
    BlobMatrix found = sample(f), plain = sample(f);
    found.lhs_scale = 0;
    plain.diagonal = kNone;
    EXPECT_TRUE(matrix_fits(f, found, 0x40000000u));
    EXPECT_TRUE(matrix_fits(f, plain, 0x40000000u));
  }
  expect_refused(kI8, {{"groups of k", [](BlobMatrix *m) { m->group_k = 32; }},
                       {"sums beyond the weights", [](BlobMatrix *m) { m->unit_sums = 0x40000000u; }},
                       {"no sums", [](BlobMatrix *m) { m->unit_sums = kNone; }}});
  expect_refused(kI4, {{"no groups of k", [](BlobMatrix *m) { m->group_k = 0; }},
                       {"groups that kernels do not take", [](BlobMatrix *m) { m->group_k = 40; }},
                       {"sums", [](BlobMatrix *m) { m->unit_sums = kOffset; }}});
}

}  // namespace
