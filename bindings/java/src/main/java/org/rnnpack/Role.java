// Role.java -- what a tensor is. SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** Role of a model's input or output; in the order of RNNP_ROLE_*. */
public enum Role {
    /** [steps][batch][rowElems] */
    SEQUENCE,
    /** [batch][rowElems], once per run */
    PER_RUN,
    /** Input only, optional: [batch][rowElems] */
    STATE,
    /** Input only, optional: int [batch] */
    LENGTHS
}
