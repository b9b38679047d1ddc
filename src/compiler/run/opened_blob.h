// opened_blob.h -- a blob's file, read to where the library wants it and opened.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_OPENED_BLOB_H_
#define RNNPACK_COMPILER_RUN_OPENED_BLOB_H_

#include <memory>
#include <string>

#include "compiler/files/files.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

struct OpenedBlob {
  AlignedBytes bytes;
  rnnp_model model;
};

// Throws IoError: no such file, or no blob that the library opens.
std::unique_ptr<OpenedBlob> open_blob(const std::string &path);

// The sizes of a call to be timed: steps of 0 become those it was compiled for, or usual ones; rows what the blob fixes, if it
// does.
void fit_call(const rnnp_model &model, size_t *steps, uint32_t *batch);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_OPENED_BLOB_H_
