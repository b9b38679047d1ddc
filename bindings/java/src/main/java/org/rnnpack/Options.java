// Options.java -- of a session. SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** Set what differs from the defaults: new Options().maxBatch(4). */
public final class Options {
    int maxBatch;
    int maxSteps;
    int chunkSteps;
    int isaAllowed;

    /** Rows: streams of their own. Default 1, or the model's fixed batch. */
    public Options maxBatch(int rows) {
        maxBatch = rows;
        return this;
    }

    /** The longest run of a model that is not causal; causal ones have no limit. */
    public Options maxSteps(int steps) {
        maxSteps = steps;
        return this;
    }

    /** 0, the default: chosen by the sizes of weights and caches. */
    public Options chunkSteps(int steps) {
        chunkSteps = steps;
        return this;
    }

    /** Constants.ISA_*; 0 allows all. ISA_REFERENCE_ONLY has the same bits on every CPU. */
    public Options isaAllowed(int bits) {
        isaAllowed = bits;
        return this;
    }
}
