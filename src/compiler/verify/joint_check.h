// joint_check.h -- a large network checked in bounded work. The graph is compiled once more with the results of its convolutions,
// products and recurrent layers as further outputs (joints). Of each large one single elements are computed in f64 from what came
// in; then the library's own result stands for the whole. All else is evaluated, and the blob itself has to give what the one with
// joints gives. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_JOINT_CHECK_H_
#define RNNPACK_COMPILER_VERIFY_JOINT_CHECK_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/eval/samples.h"
#include "compiler/verify/check_blob.h"

namespace rnnp::compiler {

struct JointFinding {
  std::string failure;          // empty: none was found
  bool says_something = false;  // some finite number was compared
  std::string beyond_range;     // as of BothRuns
  size_t nodes = 0, samples = 0;
  Tensors expected;  // the outputs, evaluated from the layers before them
};

class JointCheck {
 public:
  // `model`: what is compiled with its joints, that of the check; `states`: what --state ties. Throws ModelError.
  JointCheck(OnnxModel *model, const std::vector<StatePair> &states, const BlobCheck &check);

  // Of the inputs of `runs`. `blob`: runs of the blob, where its weights are the file's, whose outputs have to be those of the one
  // with joints; nullptr: none. At sizes of one step where check.takes_single_steps(). Nothing where the graph cannot be evaluated;
  // *refused says why.
  std::optional<JointFinding> at(const BothRuns &runs, const BothRuns *blob, uint32_t seed, const Progress &progress,
                                 std::string *refused) const;

 private:
  struct Held;
  struct Drawn;
  using DrawnNodes = std::vector<Drawn>;
  EvalInstead joints(const Arrays &probed, uint32_t seed, bool disturbed, DrawnNodes *drawn) const;
  std::string blob_differs(const BothRuns &runs, const Arrays &probed, uint32_t seed) const;
  std::string samples_differ(const DrawnNodes &drawn, const std::function<DrawnNodes()> &disturbed) const;

  const BlobCheck &check_;
  std::set<std::string> joints_;
  std::unique_ptr<Runner> runner_;
};

// Sizes of a network of so much work that are checked by joints: of those offered, best first.
RunSizes sizes_by_joints(const std::vector<RunSizes> &offered, double work);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_JOINT_CHECK_H_
