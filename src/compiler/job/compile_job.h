// compile_job.h -- everything that `rnnpack compile` does between its arguments and its files; rnnp_compile is the same.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_JOB_COMPILE_JOB_H_
#define RNNPACK_COMPILER_JOB_COMPILE_JOB_H_

#include <string>
#include <vector>

#include "compiler/calibrate/quantizer.h"
#include "compiler/options/listener.h"
#include "compiler/options/model_options.h"
#include "compiler/options/option_row.h"

namespace rnnp::compiler {

struct CompileArguments {
  std::string model, output, target = "generic", c_name, sparse = "keep", winograd = "auto";
  QuantizerOptions quantizer;
  uint32_t chunk_steps = 0, stream_steps = 0, max_steps = 100;
  bool one_file = false, incbin = false, progress = false, no_check = false, no_onnx_meta = false;
  std::vector<std::string> meta;
  ModelOptions inputs;
};

// The table of the options: every row sets a member of `arguments`, which must outlive it.
OptionRows compile_options(CompileArguments *arguments);

struct MadeFile {
  std::string path;  // as the options name it; of a blob without --output: empty
  std::vector<uint8_t> bytes;
};

struct CompileResult {
  std::vector<MadeFile> files;  // the blob comes last
  std::string summary;          // lines to be said once the files are written
};

// Writes nothing and keeps nothing. `onnx`: the model's bytes, or none where arguments.model is its file. Throws UsageError,
// ModelError, Refusal, IoError and VerifyError.
CompileResult run_compile(const CompileArguments &arguments, const void *onnx, size_t onnx_bytes, const Listener &listener);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_JOB_COMPILE_JOB_H_
