// errors.h -- how the compiler says no, and names as its messages have them.
// Exit codes of the tool: 1 usage, 2 refused model (ModelError), 3 input or output (IoError), 4 verification failed.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_ERRORS_H_
#define RNNPACK_COMPILER_ONNX_ERRORS_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rnnp::compiler {

// What may help where something is refused: options with SIZE or VALUE in the place of what the user is to choose, all of them
// together. None: nothing that is known of.
struct Remedy {
  std::vector<std::string> options;  // "--dim steps=SIZE"
  std::string why;                   // may be empty; without options what else there is to say
};

// Thrown while one node is read; the importer adds the node's name and op type and goes on with the next one.
struct Refusal : std::runtime_error {
  explicit Refusal(const std::string &what, Remedy what_helps = {}) : std::runtime_error(what), remedy(std::move(what_helps)) {}
  Remedy remedy;
};

// The model as a whole cannot be compiled; what() holds all problems, one per line, and what helps in a last one.
struct ModelError : std::runtime_error {
  explicit ModelError(const std::string &problems, const Remedy &remedy = {});
};

struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was compiled is not as good as it has to be: nothing is written.
struct VerifyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether a name stands in a command line as it is, so that an option can have it.
bool is_plain(const std::string &name);
// 'name' in single quotes with unprintable bytes replaced, so that a hostile file cannot write to the terminal.
std::string quote(const std::string &name);
// "[2, 3, 4]"
std::string shape_text(const std::vector<int64_t> &shape);
// "0.00125": at most six digits.
std::string number_text(double value);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_ERRORS_H_
