// status.cpp -- one line of English per status.
// SPDX-License-Identifier: Apache-2.0
#include "rnnpack/rnnpack.h"

const char *rnnp_status_string(rnnp_status status) {
  switch (status) {
    case RNNP_OK:
      return "ok";
    case RNNP_E_ARG:
      return "bad argument: NULL, zero, out of range, or a struct_bytes this library does not know";
    case RNNP_E_ALIGN:
      return "blob, memory or tensor is not aligned as asked for";
    case RNNP_E_SMALL_MEMORY:
      return "memory is smaller than asked for, or the size does not fit this machine";
    case RNNP_E_BLOB_MAGIC:
      return "not a rnnpack blob";
    case RNNP_E_BLOB_VERSION:
      return "blob is of another format version than this library opens";
    case RNNP_E_BLOB_CORRUPT:
      return "blob is truncated or damaged";
    case RNNP_E_LAYOUT:
      return "no kernel in this build reads the blob's weight layout: compile the model for this target";
    case RNNP_E_ISA:
      return "isa_allowed and this CPU leave no kernel for the blob's weight layout";
    case RNNP_E_STATE_MISMATCH:
      return "saved state is of another model, or damaged";
    case RNNP_E_DIRECTION:
      return "model has a reverse layer: set max_steps and run whole sequences";
    case RNNP_E_UNSUPPORTED:
      return "an operator of the blob is not in this build";
    case RNNP_E_SHAPE:
      return "steps, batch, lengths or tensor counts do not fit the model or the session";
    case RNNP_E_ENDIAN:
      return "blobs are little-endian and this CPU is not";
    case RNNP_E_INDEX:
      return "an index is outside its table";
    case RNNP_E_INPUTS:
      return "the model needs other inputs than one sequence: use rnnp_run_io";
    case RNNP_E_DEVICE:
      return "no GPU that can be used, or a call to it failed";
    case RNNP_E_TIMEOUT:
      return "a run on the GPU did not get on: reset or load its states";
    case RNNP_E_BUSY:
      return "the GPU has no room for the grid now, or another stream still uses the session";
    default:
      return "unknown status";
  }
}
