// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** Why there is no blob: the tool's exit codes. */
public enum CompileStatus {
    COMPILED(0),
    /** an option, its value, or an argument is wrong */
    USAGE(1),
    /** the model is refused; the message names nodes and reasons */
    REFUSED(2),
    /** a file could not be read, or memory is exhausted */
    IO(3),
    /** the blob misses what accuracy-min asks for, or differs from the graph: it is not given out */
    UNVERIFIED(4),
    /** a callback returned something else than 0 */
    STOPPED(5);

    /** The number that C has for it. */
    public final int code;

    CompileStatus(int code) {
        this.code = code;
    }

    static CompileStatus of(int code) {
        return values()[code];
    }
}
