// share_tiles_test.cpp -- tiles of sparse products, shared out by their blocks. SPDX-License-Identifier: Apache-2.0
#include "ops/share_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using namespace rnnp;

struct Sparse {
  explicit Sparse(std::vector<uint32_t> ends) : first(std::move(ends)) {
    args.w.first = first.data();
    args.w.gates = 1;
    args.w.k = 64;
  }
  std::vector<uint32_t> first;
  GemmArgs args = {};
};

std::vector<size_t> bounds_of(const std::vector<const GemmArgs *> &products, size_t tiles, uint32_t threads) {
  std::vector<size_t> out = {0};
  for (uint32_t thread = 0; thread < threads; ++thread) {
    size_t begin = 1, end = 0;
    share_tiles(products.data(), products.size(), tiles, threads, thread, &begin, &end);
    EXPECT_EQ(out.back(), begin);
    EXPECT_LE(begin, end);
    out.push_back(end);
  }
  EXPECT_EQ(tiles, out.back());
  return out;
}

TEST(ShareTiles, TheTileThatHoldsMostIsAlone) {
  const Sparse p({0, 1000, 1001, 1002, 1003});
  EXPECT_EQ((std::vector<size_t>{0, 1, 4}), bounds_of({&p.args}, 4, 2));
}

TEST(ShareTiles, EveryTileHasOneOwnerAndNoShareIsAboutATileMoreThanEqual) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    const size_t tiles = 1 + below(20);
    const uint32_t threads = 1 + below(5);
    std::vector<uint32_t> w(tiles + 1), r(tiles + 1);
    uint64_t most = 0;
    for (size_t i = 0; i < tiles; ++i) {
      w[i + 1] = w[i] + below(30);
      r[i + 1] = r[i] + (below(4) == 0 ? below(1000) : 0);
      most = std::max<uint64_t>(most, w[i + 1] - w[i] + r[i + 1] - r[i] + 8);
    }
    const Sparse a(w), b(r);
    const std::vector<size_t> bounds = bounds_of({&a.args, &b.args}, tiles, threads);
    const auto work = [&](size_t tile) { return w[tile] + r[tile] + 8 * tile; };
    for (uint32_t thread = 0; thread < threads; ++thread)
      EXPECT_LE(work(bounds[thread + 1]) - work(bounds[thread]), work(tiles) / threads + most + 1);
  }
}

TEST(ShareTiles, DenseMatricesGoByCount) {
  GemmArgs dense = {};
  dense.w.gates = 4;
  dense.w.k = 100;
  EXPECT_EQ((std::vector<size_t>{0, 3, 5, 7}), bounds_of({&dense}, 7, 3));
}

TEST(ShareTiles, ADenseMatrixBesideASparseOneCountsWhole) {
  GemmArgs dense = {};
  dense.w.gates = 1;
  dense.w.k = 4000;
  const Sparse p({0, 900, 900, 900, 900});
  EXPECT_EQ((std::vector<size_t>{0, 2, 4}), bounds_of({&dense, &p.args}, 4, 2));
}

}  // namespace
