// write_sample_blob.cpp -- writes a small causal model (dense, GRU, LSTM, dense) for the C programs of the tests: write_sample_blob
// FILE. SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "support/blob_builder.h"

int main(int argc, char **argv) {
  using namespace rnnp_test;
  if (argc != 2) return 1;
  BlobBuilder b(21);
  RecurrentOptions gru, lstm;
  gru.cell = rnnp::Cell::kGruLinear;
  gru.hidden = 24;
  lstm.hidden = 32;
  const uint32_t x = b.add_input(40);
  const uint32_t front = b.add_dense(x, 40, 128, rnnp::Act::kRelu);
  const uint32_t a = b.add_recurrent(front, 128, gru);
  const uint32_t c = b.add_recurrent(a, 24, lstm);
  b.add_output(b.add_dense(c, 32, 3, rnnp::Act::kSigmoid));
  const std::vector<uint8_t> blob = b.build();
  std::FILE *f = std::fopen(argv[1], "wb");
  if (f == nullptr) return 1;
  const bool written = std::fwrite(blob.data(), 1, blob.size(), f) == blob.size();
  return std::fclose(f) == 0 && written ? 0 : 1;
}
