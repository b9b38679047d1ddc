// speech_png.h -- a picture of up to 256 colours as the bytes of a PNG file (libpng), and those as base64 text.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_PNG_H_
#define RNNPACK_DEMO_SPEECH_PNG_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace demo {

struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<std::array<uint8_t, 3>> colours;  // red, green, blue
  std::vector<uint8_t> pixels;                  // [height][width], indices of colours
};

std::string png(const Picture &picture);
std::string base64(const std::string &bytes);

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_PNG_H_
