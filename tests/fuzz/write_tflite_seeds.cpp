// write_tflite_seeds.cpp -- the tests' TensorFlow Lite files as seeds of its fuzzer: write_tflite_seeds FOLDER.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tflite_files.h"

int main(int argc, char **argv) {
  using namespace rnnp::testing_support;
  if (argc != 2) return 1;
  const GruWeights gru = {Floats(3 * kUnits * kInputs, 0.5f), Floats(3 * kUnits * kUnits, 0.25f), Floats(3 * kUnits, 0.1f),
                          Floats(3 * kUnits, 0.1f)};
  const std::pair<const char *, std::string> kSeeds[] = {{"lstm", lstm_file(lstm_weights(1), false, false)},
                                                         {"lstm_coupled", lstm_file(lstm_weights(2), true, true)},
                                                         {"gru_loop", gru_loop(gru)},
                                                         {"int8_stream", Int8Network().file()}};
  for (const auto &seed : kSeeds) {
    std::FILE *f = std::fopen((std::string(argv[1]) + "/" + seed.first + ".tflite").c_str(), "wb");
    if (f == nullptr || std::fwrite(seed.second.data(), 1, seed.second.size(), f) != seed.second.size() || std::fclose(f) != 0)
      return 1;
  }
  return 0;
}
