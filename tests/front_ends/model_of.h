// model_of.h -- a model's file compiled and run, for tests of front ends; and files of the original programs where the folder
// RNNPACK_MODELS_IN_DIR has them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FRONT_ENDS_MODEL_OF_H_
#define RNNPACK_TESTS_FRONT_ENDS_MODEL_OF_H_

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/front_ends/front_ends.h"

namespace rnnp::testing_support {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::unique_ptr<compiler::OnnxModel> model_of(const std::string &file, const compiler::ReadOptions &options = {});
compiler::Compiled compiled_of(const std::string &file, const compiler::ReadOptions &options = {});

// The one output for steps of `features` each, a batch of one row: in one call, and again step by step, which must be the same
// bits.
Floats outputs_of(const std::string &file, const Floats &input, int64_t features = 1, const compiler::ReadOptions &options = {});
// The one output for an input of any shape, in one call.
Floats output_of(const std::string &file, const std::vector<int64_t> &shape, const Floats &input);
// What the file is refused with; empty when it compiles.
std::string refusal_of_file(const std::string &file, const compiler::ReadOptions &options = {});

// A text that the blob carries; empty where there is none.
std::string meta_of(const compiler::Compiled &compiled, const std::string &key);

// Reproducible numbers around 0.
Floats random_numbers(size_t count, float deviation, uint32_t seed);
std::string list_of(const Floats &numbers);                  // "[1, 2]"
std::string rows_of(const Floats &numbers, size_t columns);  // "[[1, 2], [3, 4]]"

std::string file_text(const std::string &path);
Floats float_file(const std::string &path);                             // little-endian f32
Floats csv_file(const std::string &path);                               // row after row
std::string models_in();                                                // the folder, or ""
double largest_difference(const Floats &got, const Doubles &expected);  // of the same size, or infinity

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_FRONT_ENDS_MODEL_OF_H_
