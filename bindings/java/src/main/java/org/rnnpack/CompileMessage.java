// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** What a message of the compiler is. */
final class CompileMessage {
    private CompileMessage() {}

    /** why the call fails; once, the last message */
    static final int ERROR = 0;
    /** something to know about the model */
    static final int NOTE = 1;
    /** lines: what low precision costs, where it was measured */
    static final int REPORT = 2;
    /** one line about what was made: "axes: ...", "made ...", "streams: ...", "next: ..." */
    static final int SUMMARY = 3;
    /** "DONE of ALL", two numbers; with the option progress */
    static final int PROGRESS = 4;
}
