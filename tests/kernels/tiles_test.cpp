// tiles_test.cpp -- the gemm rows of AMX beside those of VNNI and VDPBF16PS: the same bits for every number of rows, tiles that are
// taken only where rows fill them, and none in use behind a call. Without AMX its instructions are emulated.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernel_support.h"
#include "pack/pack.h"
#include "rnnpack/rnnpack.h"
#include "support/tile_emulator.h"

namespace rnnp {
namespace {

constexpr uint32_t kTileSets = RNNP_ISA_AMX_INT8 | RNNP_ISA_AMX_BF16;

struct TileFormat {
  const char *name;
  KernelFamily family;
  DType dtype;
  uint32_t format, k;  // k: of a tile's row
};

const Kernel *tile_kernel(const TileFormat &of) {
  const Kernel *best = find_kernel(kAllKernels, of.family, of.dtype, 16, ~0u);
  return best != nullptr && (best->isa & kTileSets) != 0 && cpu_runs(*best) ? best : nullptr;
}

struct Product {
  uint32_t rows, k, gates, units;
  PanelFormat format;
  PackedMatrix matrix;
  Rows a, panels, start;
  std::vector<uint8_t> scratch;

  Product(const TileFormat &of, uint32_t rows_, uint32_t k_, uint32_t gates_, uint32_t units_)
      : rows(rows_), k(k_), gates(gates_), units(units_), format(find_panel_format(of.format)) {
    Random random(rows_ * 1000 + k_);
    std::vector<float> weights(size_t{gates} * units * k);
    for (float &w : weights) w = static_cast<float>(static_cast<int>(random.below(255)) - 127) / 128;  // exact in each format
    matrix = pack_matrix(format, {weights.data(), units, k, 0, gates, 0});
    a = Rows(rows, k, k + 1);
    for (size_t m = 0; m < rows; ++m)
      for (size_t i = 0; i < k; ++i) a.at(m, i) = random.uniform(-1.0f, 1.0f);
    panels = Rows(1, matrix.panels.size() / 4, 0, true);
    std::memcpy(panels.data(), matrix.panels.data(), matrix.panels.size());
    start = Rows(rows, width(), width());
    for (size_t m = 0; m < rows; ++m)
      for (size_t i = 0; i < width(); ++i) start.at(m, i) = random.uniform(-1.0f, 1.0f);
    scratch.resize(lhs_scratch_bytes(format, k, rows) + 64);
  }

  size_t width() const { return size_t{panel_count(format, units)} * gates * 16; }
  std::vector<float> run(const Kernel &kernel) {
    const Rows out(rows, width(), width() + 7);
    GemmArgs args = {};
    args.a = a.data();
    args.a_row_bytes = a.stride_bytes();
    args.w.panels = panels.data();
    args.w.scales = matrix.scales.data();
    args.w.unit_sums = matrix.unit_sums.data();
    args.start = start.data();
    args.start_row_bytes = start.stride_bytes();
    args.out = out.data();
    args.out_row_bytes = out.stride_bytes();
    args.scratch = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    args.rows = rows;
    args.w.k = k;
    args.w.gates = static_cast<uint8_t>(gates);
    args.tile_end = panel_count(format, units);
    kernel.gemm(&args);
    EXPECT_TRUE(out.gaps_are_untouched());
    return out.values();
  }
};

class TileProducts : public testing::TestWithParam<TileFormat> {
 protected:
  void SetUp() override {
    if (tiles == nullptr) GTEST_SKIP() << "this CPU has no AMX, and nothing to emulate it beside";
  }
  const Kernel *tiles = tile_kernel(GetParam());
};

TEST_P(TileProducts, HaveTheBitsOfDotProductsForEveryNumberOfRows) {
  const TileFormat &of = GetParam();
  const Kernel &dots = *find_kernel(kAllKernels, of.family, of.dtype, 16, tiles->isa & ~kTileSets);
  for (uint32_t rows = 1; rows <= 66; ++rows) {
    Product p(of, rows, 60 + rows * 7 % 80, 1 + rows % 4, 16 + rows % 5 * 16);
    ASSERT_TRUE(same_bits(p.run(dots), p.run(*tiles))) << rows;
    EXPECT_FALSE(tiles_are_in_use()) << rows;
  }
}

TEST_P(TileProducts, AreTakenFromEightRowsOn) {
  if (!tiles_are_emulated()) GTEST_SKIP() << "tiles are not emulated here";
  for (const uint32_t rows : {1u, 7u, 8u, 16u, 20u, 32u}) {
    Product p(GetParam(), rows, 256, 4, 64);
    const uint64_t before = tile_products();
    p.run(*tiles);
    const uint64_t blocks = rows < 8 ? 0 : (rows + 15) / 16;
    EXPECT_EQ(blocks * 16 * (256 / GetParam().k), tile_products() - before) << rows;  // 16 columns of units
  }
}

TEST_P(TileProducts, OfNoRowsTouchTilesAlone) {
  const GemmArgs none = {};
  tiles->gemm(&none);
  EXPECT_FALSE(tiles_are_in_use());
}

INSTANTIATE_TEST_SUITE_P(All, TileProducts,
                         testing::Values(TileFormat{"int8", KernelFamily::kGemm, DType::kI8, 11, 64},
                                         TileFormat{"bf16", KernelFamily::kGemmDot, DType::kBf16, 36, 32}),
                         [](const auto &each) { return each.param.name; });

}  // namespace
}  // namespace rnnp
