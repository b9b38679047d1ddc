// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** A call of the library failed: a class for each status. */
public class RnnpackException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final Status status;

    RnnpackException(Status status, String message) {
        super(message);
        this.status = status;
    }

    public Status status() {
        return status;
    }

    static void check(int code, String doing) {
        if (code != 0) throw of(code, doing, null);
    }

    /** The error of a status, with the library's text. */
    public static RnnpackException of(Status status) {
        return of(status.code, null, null);
    }

    static RnnpackException of(int code, String doing, String why) {
        String reason = why == null || why.isEmpty() ? Native.statusText(code) : why;
        String message = doing == null ? reason : doing + ": " + reason;
        switch (Status.of(code)) {
            case ARG:
                return new Arg(message);
            case ALIGN:
                return new Align(message);
            case SMALL_MEMORY:
                return new SmallMemory(message);
            case BLOB_MAGIC:
                return new BlobMagic(message);
            case BLOB_VERSION:
                return new BlobVersion(message);
            case BLOB_CORRUPT:
                return new BlobCorrupt(message);
            case LAYOUT:
                return new Layout(message);
            case ISA:
                return new Isa(message);
            case STATE_MISMATCH:
                return new StateMismatch(message);
            case NOT_CAUSAL:
                return new NotCausal(message);
            case UNSUPPORTED:
                return new Unsupported(message);
            case SHAPE:
                return new Shape(message);
            case ENDIAN:
                return new Endian(message);
            case INDEX:
                return new Index(message);
            case INPUTS:
                return new Inputs(message);
            case DEVICE:
                return new Device(message);
            case TIMEOUT:
                return new Timeout(message);
            case BUSY:
                return new Busy(message);
            case IMAGE_MISMATCH:
                return new ImageMismatch(message);
            case EXECUTOR:
                return new Executor(message);
            case NOT_FINITE:
                return new NotFinite(message);
            default:
                return new RnnpackException(Status.OK, message);
        }
    }

    /** a NULL, zero or out-of-range argument, or a struct_bytes this library does not know */
    public static final class Arg extends RnnpackException {
        private static final long serialVersionUID = 1;

        Arg(String message) {
            super(Status.ARG, message);
        }
    }

    /** blob or memory is not aligned as asked for */
    public static final class Align extends RnnpackException {
        private static final long serialVersionUID = 1;

        Align(String message) {
            super(Status.ALIGN, message);
        }
    }

    /** fewer bytes than rnnp_memory says, or a size that does not fit this machine */
    public static final class SmallMemory extends RnnpackException {
        private static final long serialVersionUID = 1;

        SmallMemory(String message) {
            super(Status.SMALL_MEMORY, message);
        }
    }

    /** not a rnnpack blob */
    public static final class BlobMagic extends RnnpackException {
        private static final long serialVersionUID = 1;

        BlobMagic(String message) {
            super(Status.BLOB_MAGIC, message);
        }
    }

    /** a blob of another format version than this library opens */
    public static final class BlobVersion extends RnnpackException {
        private static final long serialVersionUID = 1;

        BlobVersion(String message) {
            super(Status.BLOB_VERSION, message);
        }
    }

    /** truncated, bad checksum, or an offset or size that does not fit */
    public static final class BlobCorrupt extends RnnpackException {
        private static final long serialVersionUID = 1;

        BlobCorrupt(String message) {
            super(Status.BLOB_CORRUPT, message);
        }
    }

    /** the blob's weight layout has no kernel in this build */
    public static final class Layout extends RnnpackException {
        private static final long serialVersionUID = 1;

        Layout(String message) {
            super(Status.LAYOUT, message);
        }
    }

    /** there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them */
    public static final class Isa extends RnnpackException {
        private static final long serialVersionUID = 1;

        Isa(String message) {
            super(Status.ISA, message);
        }
    }

    /** saved state is of another model, or damaged */
    public static final class StateMismatch extends RnnpackException {
        private static final long serialVersionUID = 1;

        StateMismatch(String message) {
            super(Status.STATE_MISMATCH, message);
        }
    }

    /** not causal (a reverse layer or look-ahead): set max_steps and run whole sequences */
    public static final class NotCausal extends RnnpackException {
        private static final long serialVersionUID = 1;

        NotCausal(String message) {
            super(Status.NOT_CAUSAL, message);
        }
    }

    /** an operator of the blob is not in this build */
    public static final class Unsupported extends RnnpackException {
        private static final long serialVersionUID = 1;

        Unsupported(String message) {
            super(Status.UNSUPPORTED, message);
        }
    }

    /** steps, batch, lengths or tensor counts do not fit the model or the session */
    public static final class Shape extends RnnpackException {
        private static final long serialVersionUID = 1;

        Shape(String message) {
            super(Status.SHAPE, message);
        }
    }

    /** this CPU is big-endian; blobs are little-endian */
    public static final class Endian extends RnnpackException {
        private static final long serialVersionUID = 1;

        Endian(String message) {
            super(Status.ENDIAN, message);
        }
    }

    /** an index is outside its table: see rnnp_tensor_info.limit */
    public static final class Index extends RnnpackException {
        private static final long serialVersionUID = 1;

        Index(String message) {
            super(Status.INDEX, message);
        }
    }

    /** rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io */
    public static final class Inputs extends RnnpackException {
        private static final long serialVersionUID = 1;

        Inputs(String message) {
            super(Status.INPUTS, message);
        }
    }

    /** rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed */
    public static final class Device extends RnnpackException {
        private static final long serialVersionUID = 1;

        Device(String message) {
            super(Status.DEVICE, message);
        }
    }

    /** rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded */
    public static final class Timeout extends RnnpackException {
        private static final long serialVersionUID = 1;

        Timeout(String message) {
            super(Status.TIMEOUT, message);
        }
    }

    /** rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session */
    public static final class Busy extends RnnpackException {
        private static final long serialVersionUID = 1;

        Busy(String message) {
            super(Status.BUSY, message);
        }
    }

    /** rnnpack/cuda.h: the image is of another model, of other options, or damaged */
    public static final class ImageMismatch extends RnnpackException {
        private static final long serialVersionUID = 1;

        ImageMismatch(String message) {
            super(Status.IMAGE_MISMATCH, message);
        }
    }

    /** the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor */
    public static final class Executor extends RnnpackException {
        private static final long serialVersionUID = 1;

        Executor(String message) {
            super(Status.EXECUTOR, message);
        }
    }

    /** RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity */
    public static final class NotFinite extends RnnpackException {
        private static final long serialVersionUID = 1;

        NotFinite(String message) {
            super(Status.NOT_FINITE, message);
        }
    }
}
