// Tensor.java -- what a model takes or gives. SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** Facts of an input or output. */
public final class Tensor {
    private static final int ROLE = 0, ROW_ELEMS = 1, DTYPE = 2, LIMIT = 3, RANK = 4, DIMS = 5;
    static final int FACTS = DIMS + Constants.MAX_RANK;

    public final String name;
    public final Role role;
    /** Features of one row. */
    public final int rowElems;
    /** IntBuffers, not FloatBuffers. */
    public final boolean isInt;
    /** Of int sequences: indices from -limit to limit - 1; else 0. */
    public final int limit;
    private final int[] dims;

    Tensor(String name, int[] facts) {
        this.name = name;
        role = Role.values()[facts[ROLE]];
        rowElems = facts[ROW_ELEMS];
        isInt = facts[DTYPE] == Constants.DTYPE_I32 || role == Role.LENGTHS;
        limit = facts[LIMIT];
        dims = java.util.Arrays.copyOfRange(facts, DIMS, DIMS + facts[RANK]);
    }

    /** The ONNX axes in ONNX order; Constants.DIM_STEPS and DIM_BATCH stand for the open ones. */
    public int[] dims() {
        return dims.clone();
    }

    public boolean isOptional() {
        return role == Role.STATE || role == Role.LENGTHS;
    }

    /** Elements of a run. */
    public long elems(int steps, int batch) {
        return (long) rowElems * batch * (role == Role.SEQUENCE ? steps : 1);
    }
}
