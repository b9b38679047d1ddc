// write_image_data.cpp BLOB OUT.c [CLIP] -- what an image is fed and what it should answer. CLIP is raw 16-bit mono sound; without
// one, 16 frames of noise. The answers are this machine's, from the same blob, with the reference kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace {

constexpr uint32_t kNoiseFrames = 16;

std::vector<char> read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void check(rnnp_status status, const char *what) {
  if (status != RNNP_OK) throw std::runtime_error(std::string(what) + ": " + rnnp_status_string(status));
}

// Memory aligned as blobs and sessions want it, kept until the program ends.
void *aligned(size_t bytes) {
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

class Model {
 public:
  explicit Model(const std::vector<char> &bytes) {
    void *blob = aligned(bytes.size());
    std::memcpy(blob, bytes.data(), bytes.size());
    check(rnnp_model_open(&model_, blob, bytes.size(), RNNP_OPEN_CHECK_WEIGHTS), "open");
    rnnp_session_options options;
    rnnp_session_options_init(&options, sizeof options);
    options.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
    rnnp_memory need = RNNP_MEMORY_INIT;
    check(rnnp_session_memory(&model_, &options, &need), "memory");
    check(rnnp_session_init(&session_, &model_, &options, aligned(need.session_bytes), need.session_bytes), "init");
    rnnp_model_info whole = RNNP_MODEL_INFO_INIT;
    check(rnnp_model_get_info(&model_, &whole), "info");
    macs = static_cast<uint32_t>(whole.macs_per_step);
    if (whole.input_count != 1 || whole.output_count != 1 || !whole.causal)
      throw std::runtime_error("an image is made of causal models with one input and one output; this one has " +
                               std::to_string(whole.input_count) + " and " + std::to_string(whole.output_count) +
                               (whole.causal ? "" : ", and is not causal"));
    rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
    check(rnnp_model_get_input(&model_, 0, &facts), "input");
    if (facts.dtype != RNNP_DTYPE_F32) throw std::runtime_error("an image's input is f32");
    in = facts.row_elems;
    check(rnnp_model_get_output(&model_, 0, &facts), "output");
    out = facts.row_elems;
  }

  std::vector<float> run(const std::vector<int16_t> &samples) {
    std::vector<float> x(samples.size()), y(samples.size() / in * out);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(samples[i]) * (1.0f / 32768.0f);
    check(rnnp_run(session_, samples.size() / in, x.data(), y.data()), "run");
    return y;
  }

  uint32_t in = 0, out = 0, macs = 0;

 private:
  rnnp_model model_;
  rnnp_session *session_ = nullptr;
};

std::vector<int16_t> noise(size_t count) {
  std::mt19937 random(5);
  std::vector<int16_t> v(count);
  for (int16_t &s : v) s = static_cast<int16_t>(random() & 0xffffu);
  return v;
}

std::vector<int16_t> clip(const std::string &path, uint32_t in) {
  const std::vector<char> bytes = read_file(path);
  std::vector<int16_t> v(bytes.size() / 2 / in * in);
  std::memcpy(v.data(), bytes.data(), v.size() * 2);
  return v;
}

void write_data(const std::string &path, const Model &model, const std::vector<int16_t> &samples, const std::vector<float> &y) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  std::fprintf(file, "/* Written by write_image_data. */\n#include \"image_data.h\"\n\n");
  std::fprintf(file, "const uint32_t image_frames = %zu, image_in_elems = %u, image_out_elems = %u, image_macs = %u;\n",
               samples.size() / model.in, model.in, model.out, model.macs);
  std::fprintf(file, "const int16_t image_samples[] = {\n");
  for (size_t i = 0; i < samples.size(); ++i) std::fprintf(file, "%d,%s", samples[i], i % 24 == 23 ? "\n" : "");
  std::fprintf(file, "};\nconst float image_expected[] = {\n");
  for (size_t i = 0; i < y.size(); ++i) std::fprintf(file, "%af,%s", double(y[i]), i % 8 == 7 ? "\n" : "");
  std::fprintf(file, "};\n");
  std::fclose(file);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: write_image_data BLOB OUT.c [CLIP]\n");
    return 2;
  }
  try {
    Model model(read_file(argv[1]));
    const std::vector<int16_t> samples = argc == 4 ? clip(argv[3], model.in) : noise(size_t{kNoiseFrames} * model.in);
    write_data(argv[2], model, samples, model.run(samples));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "write_image_data: %s\n", e.what());
    return 1;
  }
  return 0;
}
