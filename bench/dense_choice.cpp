// dense_choice.cpp -- our GEMM against XNNPACK's fully-connected, shape by shape, through whole sessions: the measurement behind
// XnnUse::kWhereFaster (src/ops/op.h). Alternating runs, least times; one line per shape and number of rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;

double run_us(Runner *r, const std::vector<float> &x, std::vector<float> *y, size_t rows) {
  const auto start = std::chrono::steady_clock::now();
  expect_ok(rnnp_run(r->session(), rows, x.data(), y->data()), "run");
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void compare(uint32_t in, uint32_t out, uint32_t rows) {
  BlobBuilder b(1);
  b.add_output(b.add_dense(b.add_input(in), in, out));
  const std::vector<uint8_t> blob = b.build();
  Runner ours(blob, {1, 0, rows, 0, 1, RNNP_SESSION_PORTABLE_OPS}), theirs(blob, {1, 0, rows, 0, 1, RNNP_SESSION_ALL_XNNPACK});
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  expect_ok(rnnp_session_get_info(theirs.session(), &facts), "info");
  const std::vector<float> x = random_floats(size_t{rows} * in, 1);
  std::vector<float> y(size_t{rows} * out);
  double best[2] = {1e9, 1e9};
  const double macs = double(in) * out * rows;
  const int rounds = static_cast<int>(std::clamp(2e8 / macs, 5.0, 2000.0));
  for (int i = 0; i < rounds; ++i) {
    best[0] = std::min(best[0], run_us(&ours, x, &y, rows));
    best[1] = std::min(best[1], run_us(&theirs, x, &y, rows));
  }
  std::printf("%5u -> %5u  rows %4u  ours %9.2f us  XNNPACK %9.2f us  ours/XNNPACK %5.2f%s\n", in, out, rows, best[0], best[1],
              best[0] / best[1], facts.xnnpack ? "" : "  (XNNPACK not asked)");
}

}  // namespace

int main() {
  const uint32_t shapes[][2] = {{40, 128},   {64, 64},   {128, 128},  {161, 400},   {257, 257},
                                {256, 1024}, {512, 512}, {800, 3200}, {1024, 1024}, {1024, 29}};
  for (const auto &s : shapes)
    for (uint32_t rows : {1u, 4u, 20u, 100u}) compare(s[0], s[1], rows);
  return 0;
}
