// problem.h -- a Refusal names what is wrong at one node (errors.h); Problems collects all of them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_PROBLEM_H_
#define RNNPACK_COMPILER_ONNX_PROBLEM_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {

class Problems {
 public:
  void add(const std::string &node, const std::string &op, const std::string &what, const Remedy &remedy = {});
  void add(const std::string &node, const std::string &op, const Refusal &refusal) {
    add(node, op, refusal.what(), refusal.remedy);
  }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string> &lines() const { return lines_; }
  // What helps against all of them together; nothing where one is beyond help.
  Remedy remedy() const;
  // Throws ModelError with every line when there is one.
  void raise() const { raise(remedy()); }
  void raise(const Remedy &remedy) const;

 private:
  std::vector<std::string> lines_;
  std::vector<Remedy> remedies_;        // of the lines
  std::map<std::string, size_t> more_;  // line with the cause -> nodes beyond the first
  std::map<std::string, size_t> line_of_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_PROBLEM_H_
