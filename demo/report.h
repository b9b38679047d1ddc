// report.h -- what the detector found, for people: a timeline in the terminal and an SVG picture.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_REPORT_H_
#define RNNPACK_DEMO_REPORT_H_

#include <string>
#include <vector>

#include "audio.h"

namespace demo {

// Rows of `width` cells: level, speech probability, decision, and the names of what was played.
std::string timeline(const Recording &recording, const std::vector<float> &speech, size_t hop, float threshold, size_t width);

// Waveform, probability, decision and spoken pieces over time. Throws std::runtime_error when the file cannot be written.
void write_svg(const std::string &path, const Recording &recording, const std::vector<float> &speech, size_t hop, float threshold);

}  // namespace demo
#endif  // RNNPACK_DEMO_REPORT_H_
