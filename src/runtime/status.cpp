// status.cpp -- one line of English per status, one word per instruction set.
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
      return "blob is of a format version that this library does not open";
    case RNNP_E_BLOB_CORRUPT:
      return "blob is truncated or damaged";
    case RNNP_E_LAYOUT:
      return "no kernel in this build or registry reads the blob's weight layout";
    case RNNP_E_ISA:
      return "isa_allowed and this CPU leave no kernel for the blob's weight layout";
    case RNNP_E_STATE_MISMATCH:
      return "saved state is of another model, or damaged";
    case RNNP_E_NOT_CAUSAL:
      return "model is not causal: set max_steps and run whole sequences";
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
    case RNNP_E_IMAGE_MISMATCH:
      return "the GPU image is of another model, of other options, or damaged";
    case RNNP_E_EXECUTOR:
      return "the executor runs fewer tasks at the same time than its threads";
    case RNNP_E_NOT_FINITE:
      return "an input holds NaN or infinity";
    default:
      return "unknown status";
  }
}

const char *rnnp_isa_name(uint32_t bit) {
  switch (bit) {
    case 0:
      return "reference";
#define RNNPACK_ISA(set, bit, text, builds_on, flags, qemu, test) \
  case RNNP_ISA_##bit:                                            \
    return text;
#include "base/isa.inc"
#undef RNNPACK_ISA
    default:
      return "unknown";
  }
}
