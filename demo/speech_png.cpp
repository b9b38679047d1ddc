// speech_png.cpp -- see speech_png.h. SPDX-License-Identifier: Apache-2.0
#include "speech_png.h"

#include <png.h>

#include <stdexcept>

namespace demo {

std::string png(const Picture &picture) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(picture.colours.size());
  std::string out;
  png_alloc_size_t bytes = 0;
  const auto write = [&](void *to) {
    if (!png_image_write_to_memory(&image, to, &bytes, 0, picture.pixels.data(), 0, picture.colours.data()))
      throw std::runtime_error(std::string("libpng: ") + image.message);
  };
  write(nullptr);
  out.resize(bytes);
  write(&out[0]);
  out.resize(bytes);
  return out;
}

std::string base64(const std::string &bytes) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i) three = three << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) out += at + i <= bytes.size() ? kDigits[three >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace demo
