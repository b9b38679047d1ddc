// report.cpp -- see report.h. One step of the detector is one column of the picture.
// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace demo {
namespace {

const char *const kBlocks[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};

std::string bars(const std::vector<float> &values) {
  std::string out;
  for (float v : values) out += kBlocks[static_cast<int>(std::lround(std::min(std::max(v, 0.0f), 1.0f) * 8))];
  return out;
}

// The largest of `values` in each of `cells` equal parts.
std::vector<float> fold(const std::vector<float> &values, size_t cells) {
  std::vector<float> out(cells);
  for (size_t i = 0; i < values.size(); ++i) {
    float &cell = out[i * cells / values.size()];
    cell = std::max(cell, values[i]);
  }
  return out;
}

std::vector<float> peaks(const std::vector<float> &samples, size_t hop) {
  std::vector<float> out(samples.size() / hop);
  for (size_t i = 0; i < out.size() * hop; ++i) out[i / hop] = std::max(out[i / hop], std::fabs(samples[i]));
  return out;
}

std::vector<float> decisions(const std::vector<float> &speech, float threshold) {
  std::vector<float> out;
  for (float s : speech) out.push_back(s >= threshold ? 1.0f : 0.0f);
  return out;
}

}  // namespace

std::string timeline(const Recording &r, const std::vector<float> &speech, size_t hop, float threshold, size_t width) {
  std::string names(width, ' ');
  for (size_t i = 0; i < r.names.size(); ++i) {
    const size_t at = r.begins[i] * width / r.samples.size();
    const size_t end = i + 1 < r.names.size() ? r.begins[i + 1] * width / r.samples.size() : width;
    names.replace(at, std::min(r.names[i].size(), end - at), r.names[i], 0, end - at);
  }
  std::ostringstream out;
  out << "  played   " << names.substr(0, width) << "\n"
      << "  level    " << bars(fold(peaks(r.samples, hop), width)) << "\n"
      << "  p(speech)"
      << " " << bars(fold(speech, width)).substr(0) << "\n"
      << "  speech   " << bars(fold(decisions(speech, threshold), width)) << "\n";
  return out.str();
}

void write_svg(const std::string &path, const Recording &r, const std::vector<float> &speech, size_t hop, float threshold) {
  const double left = 60, top = 40, column = 2, wave = 60, curve = 120;
  const size_t steps = speech.size();
  const double width = left + column * static_cast<double>(steps) + 20, middle = top + wave, base = middle + wave + 30 + curve;
  const auto x = [&](double step) { return left + column * step; };
  std::ostringstream s;
  s << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << base + 50
    << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  for (size_t i = 0; i < steps; ++i) {
    if (speech[i] >= threshold)
      s << "<rect x='" << x(double(i)) << "' y='" << top << "' width='" << column << "' height='" << base - top
        << "' fill='#d5efd5'/>\n";
  }
  const std::vector<float> level = peaks(r.samples, hop);
  s << "<path stroke='#456' d='";
  for (size_t i = 0; i < level.size(); ++i)
    s << "M" << x(double(i)) << " " << middle - wave * level[i] << "v" << std::max(0.5, 2 * wave * level[i]);
  s << "'/>\n<polyline fill='none' stroke='#c30' stroke-width='1.5' points='";
  for (size_t i = 0; i < steps; ++i) s << x(double(i)) << "," << base - curve * speech[i] << " ";
  s << "'/>\n<line x1='" << left << "' x2='" << x(double(steps)) << "' y1='" << base - curve * threshold << "' y2='"
    << base - curve * threshold << "' stroke='#999' stroke-dasharray='4 4'/>\n";
  for (size_t i = 0; i < r.names.size(); ++i) {
    const double a = x(double(r.begins[i]) / double(hop)), b = x(double(r.ends[i]) / double(hop));
    s << "<line x1='" << a << "' x2='" << b << "' y1='" << top - 6 << "' y2='" << top - 6 << "' stroke='#36c' stroke-width='3'/>"
      << "<text x='" << a << "' y='" << top - 12 << "'>" << r.names[i] << "</text>\n";
  }
  for (size_t second = 0; second * kSampleRate < r.samples.size(); ++second)
    s << "<text x='" << x(double(second) * kSampleRate / double(hop)) << "' y='" << base + 20 << "'>" << second << " s</text>\n";
  s << "<text x='4' y='" << middle << "'>samples</text><text x='4' y='" << base - curve << "'>1</text><text x='4' y='" << base
    << "'>0</text><text x='4' y='" << base - curve / 2 << "'>p(speech)</text>\n"
    << "<text x='" << left << "' y='" << base + 40
    << "'>green: the detector says speech; blue: where a recording was played</text>\n</svg>\n";
  std::ofstream file(path);
  file << s.str();
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace demo
