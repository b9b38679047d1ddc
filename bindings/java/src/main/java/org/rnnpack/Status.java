// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** Why a call failed. */
public enum Status {
    OK(0),
    /** a NULL, zero or out-of-range argument, or a struct_bytes this library does not know */
    ARG(-1),
    /** blob or memory is not aligned as asked for */
    ALIGN(-2),
    /** fewer bytes than rnnp_memory says, or a size that does not fit this machine */
    SMALL_MEMORY(-3),
    /** not a rnnpack blob */
    BLOB_MAGIC(-4),
    /** a blob of another format version than this library opens */
    BLOB_VERSION(-5),
    /** truncated, bad checksum, or an offset or size that does not fit */
    BLOB_CORRUPT(-6),
    /** the blob's weight layout has no kernel in this build */
    LAYOUT(-7),
    /** there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them */
    ISA(-8),
    /** saved state is of another model, or damaged */
    STATE_MISMATCH(-9),
    /** not causal (a reverse layer or look-ahead): set max_steps and run whole sequences */
    NOT_CAUSAL(-10),
    /** an operator of the blob is not in this build */
    UNSUPPORTED(-11),
    /** steps, batch, lengths or tensor counts do not fit the model or the session */
    SHAPE(-12),
    /** this CPU is big-endian; blobs are little-endian */
    ENDIAN(-13),
    /** an index is outside its table: see rnnp_tensor_info.limit */
    INDEX(-14),
    /** rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io */
    INPUTS(-15),
    /** rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed */
    DEVICE(-16),
    /** rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded */
    TIMEOUT(-17),
    /** rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session */
    BUSY(-18),
    /** rnnpack/cuda.h: the image is of another model, of other options, or damaged */
    IMAGE_MISMATCH(-19),
    /** the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor */
    EXECUTOR(-20),
    /** RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity */
    NOT_FINITE(-21);

    /** The number that C has for it. */
    public final int code;

    Status(int code) {
        this.code = code;
    }

    /** The status of a number, which the library gave. */
    public static Status of(int code) {
        return values()[-code];
    }
}
