// write_blob_seeds.cpp -- valid blobs for the fuzzer to start from: every cell, an input of every role. write_blob_seeds FOLDER.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "support/blob_builder.h"

int main(int argc, char **argv) {
  using namespace rnnp_test;
  if (argc != 2) return 1;
  for (uint32_t i = 0; i < 12; ++i) {
    BlobBuilder b(i, i % 3 == 0 ? 4 : 16);
    RecurrentOptions o;
    o.cell = rnnp::Cell(i % 4);
    o.hidden = 3 + i;
    o.bidirectional = i % 5 == 4;
    o.peephole = o.cell == rnnp::Cell::kLstm;
    o.initial_state = i % 2 == 0;
    const uint32_t x = b.add_input(4);
    std::vector<uint32_t> extra;
    if (i % 3 == 1) extra = {b.add_state_input(o.hidden * (o.bidirectional ? 2 : 1), "h0"), rnnp::kNone, b.add_lengths_input()};
    uint32_t y_h;
    const uint32_t y = b.add_recurrent(x, 4, o, &y_h, nullptr, extra);
    b.add_output(b.add_dense(y, o.hidden * (o.bidirectional ? 2 : 1), 5, rnnp::Act::kTanh));
    b.add_output(y_h, "h");
    if (i == 2 || i == 7) {  // a state that the library keeps: x of the step before; once as a loop
      uint32_t state;
      if (i == 7) b.begin_loop();
      b.add_output(b.add_state_read(4, &state), "before");
      b.add_state_write(state, x);
      if (i == 7) b.end_loop();
    }
    const std::vector<uint8_t> blob = b.build();
    std::FILE *f = std::fopen((std::string(argv[1]) + "/seed" + std::to_string(i) + ".rnnp").c_str(), "wb");
    if (f == nullptr || std::fwrite(blob.data(), 1, blob.size(), f) != blob.size() || std::fclose(f) != 0) return 1;
  }
  return 0;
}
