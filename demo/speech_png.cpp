// speech_png.cpp -- see speech_png.h. After the PNG specification and RFC 1950/1951: indexed colours, one zlib stream of stored
// blocks. SPDX-License-Identifier: Apache-2.0
#include "speech_png.h"

#include <algorithm>

namespace demo {
namespace {

void put(std::string &out, uint32_t value, int bytes) {  // big-endian
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

uint32_t crc32(const std::string &bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

uint32_t adler32(const std::string &bytes) {
  uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

void chunk(std::string &out, const char *type, const std::string &body) {
  put(out, static_cast<uint32_t>(body.size()), 4);
  const std::string named = type + body;
  out += named;
  put(out, crc32(named), 4);
}

std::string stored(const std::string &bytes) {
  constexpr size_t kBlock = 65535;
  std::string out = "\x78\x01";
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    const size_t size = std::min(kBlock, bytes.size() - at);
    const char low = static_cast<char>(size & 0xFF), high = static_cast<char>(size >> 8);
    out += at + size == bytes.size() ? '\1' : '\0';
    out += {low, high, static_cast<char>(~low), static_cast<char>(~high)};
    out.append(bytes, at, size);
  }
  put(out, adler32(bytes), 4);
  return out;
}

}  // namespace

std::string png(const Picture &picture) {
  std::string header, palette, rows;
  put(header, picture.width, 4);
  put(header, picture.height, 4);
  header += {8, 3, 0, 0, 0};  // bits, indexed, deflate, filters, no interlace
  for (const auto &colour : picture.colours) {
    for (const uint8_t part : colour) palette += static_cast<char>(part);
  }
  for (uint32_t y = 0; y < picture.height; ++y) {
    rows += '\0';  // no filter
    for (uint32_t x = 0; x < picture.width; ++x) rows += static_cast<char>(picture.pixels[size_t(y) * picture.width + x]);
  }
  std::string out = "\x89PNG\r\n\x1a\n";
  chunk(out, "IHDR", header);
  chunk(out, "PLTE", palette);
  chunk(out, "IDAT", stored(rows));
  chunk(out, "IEND", "");
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
