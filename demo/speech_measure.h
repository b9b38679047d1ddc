// speech_measure.h -- noise to put on speech, and numbers that say how much of it is left.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_MEASURE_H_
#define RNNPACK_DEMO_SPEECH_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace demo {

// About equally loud in every octave from 30 Hz up; the same on every machine.
std::vector<float> pink_noise(size_t samples, uint32_t seed);

// clean + noise, the noise `snr_db` below the speech over the whole length.
std::vector<float> mix(const std::vector<float> &clean, const std::vector<float> &noise, double snr_db);

// Scale-invariant signal-to-distortion ratio: what of `heard` is a multiple of `clean`, over what is not.
double si_sdr_db(const std::vector<float> &clean, const std::vector<float> &heard);

// Level of the quiet tenth of all 32 ms frames, below full scale; -100 at least.
double noise_floor_db(const std::vector<float> &samples);

double quantile(std::vector<double> values, double q);

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_MEASURE_H_
