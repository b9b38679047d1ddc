// wav.cpp -- Contract: wav.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/files/wav.h"

#include <algorithm>
#include <cstring>

#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

template <class T>
T number_at(const std::vector<uint8_t> &bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Format {
  uint16_t kind = 0, channels = 0, bits = 0;
};

float sample_at(const std::vector<uint8_t> &bytes, size_t at, const Format &f) {
  if (f.kind == 3) return number_at<float>(bytes, at);
  if (f.bits == 16) return static_cast<float>(number_at<int16_t>(bytes, at)) / 32768.0f;
  return static_cast<float>(static_cast<double>(number_at<int32_t>(bytes, at)) / 2147483648.0);
}

}  // namespace

bool is_wav(const std::string &path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".wav") == 0;
}

std::vector<float> read_wav(const std::string &path) {
  const std::vector<uint8_t> bytes = read_file(path, input_limit());
  const auto bad = [&](const std::string &what) { return IoError(quote(path) + " " + what); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0 || std::memcmp(bytes.data() + 8, "WAVE", 4) != 0)
    throw bad("is no WAVE file");
  Format format;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const size_t size = number_at<uint32_t>(bytes, at + 4), first = at + 8;
    const size_t held = std::min(size, bytes.size() - first);
    if (std::memcmp(bytes.data() + at, "fmt ", 4) == 0 && held >= 16) {
      format = {number_at<uint16_t>(bytes, first), number_at<uint16_t>(bytes, first + 2), number_at<uint16_t>(bytes, first + 14)};
      if (format.kind == 0xfffe && held >= 26) format.kind = number_at<uint16_t>(bytes, first + 24);
    } else if (std::memcmp(bytes.data() + at, "data", 4) == 0) {
      const bool known = (format.kind == 1 && (format.bits == 16 || format.bits == 32)) || (format.kind == 3 && format.bits == 32);
      if (!known || format.channels == 0)
        throw bad("has samples of another form; accepted: integers of 16 or 32 bits, floats of 32");
      const size_t sample = format.bits / 8u, frame = sample * format.channels;
      check_input_bytes(held / frame * sizeof(float), quote(path));
      std::vector<float> out(held / frame, 0.0f);
      for (size_t i = 0; i < out.size(); ++i) {
        for (size_t c = 0; c < format.channels; ++c)
          out[i] += sample_at(bytes, first + i * frame + c * sample, format) / static_cast<float>(format.channels);
      }
      return out;
    }
    at = first + size + size % 2;
  }
  throw bad("holds no samples");
}

}  // namespace rnnp::compiler
