// write_layer_model.cpp CELL INPUT HIDDEN NR NAME -- one recurrent layer with random weights as NAME.rnnp, NAME.c and NAME.h, for
// measuring instructions per multiply-accumulate. CELL is rnn, lstm, gru or grulinear. SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "compiler/cli/files.h"
#include "compiler/emit/emit_c.h"
#include "support/blob_builder.h"

namespace {

rnnp::Cell cell_named(const std::string &name) {
  if (name == "rnn") return rnnp::Cell::kRnn;
  if (name == "lstm") return rnnp::Cell::kLstm;
  if (name == "gru") return rnnp::Cell::kGru;
  if (name == "grulinear") return rnnp::Cell::kGruLinear;
  throw std::runtime_error("no cell is called " + name);
}

void write_model(const std::string &cell, uint32_t input, uint32_t hidden, uint32_t nr, const std::string &path) {
  rnnp_test::BlobBuilder builder(1, nr);
  rnnp_test::RecurrentOptions options;
  options.cell = cell_named(cell);
  options.hidden = hidden;
  builder.add_output(builder.add_recurrent(builder.add_input(input), input, options));
  std::vector<uint8_t> blob = builder.build();
  // The builder for tests leaves the count of multiply-accumulates out.
  rnnp::BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof header);
  header.macs_per_step = uint64_t{rnnp_test::gates_of(options.cell)} * hidden * (input + hidden);
  std::memcpy(blob.data(), &header, sizeof header);
  rnnp_test::reseal(&blob);
  const rnnp::compiler::CSource source = rnnp::compiler::emit_c(blob, path, 1);
  rnnp::compiler::write_file(path + ".rnnp", blob.data(), blob.size());
  rnnp::compiler::write_file(path + ".h", source.header.data(), source.header.size());
  rnnp::compiler::write_file(path + ".c", source.code.data(), source.code.size());
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: write_layer_model CELL INPUT HIDDEN NR NAME\n");
    return 2;
  }
  try {
    write_model(argv[1], uint32_t(std::stoul(argv[2])), uint32_t(std::stoul(argv[3])), uint32_t(std::stoul(argv[4])), argv[5]);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "write_layer_model: %s\n", e.what());
    return 1;
  }
  return 0;
}
