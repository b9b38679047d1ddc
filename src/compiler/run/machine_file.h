// machine_file.h -- what `rnnpack tune` found on a machine, as a file that sessions are made by: session options and where they
// were measured. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_MACHINE_FILE_H_
#define RNNPACK_COMPILER_RUN_MACHINE_FILE_H_

#include <string>

#include "compiler/run/tune.h"

namespace rnnp::compiler {

// The CPU's name as the operating system has it.
std::string cpu_name();

// JSON, with a line break at its end.
std::string machine_text(const Tuned &tuned, const TuneTask &task);

struct MachineFile {
  Tuning tuning;
  std::string cpu;
};

// Throws UsageError, which names the file and the member, where the text is no machine file of this version.
MachineFile read_machine(const std::string &text, const std::string &path);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_MACHINE_FILE_H_
