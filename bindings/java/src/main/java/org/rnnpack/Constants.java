// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

/** The constants of rnnpack.h. */
public final class Constants {
    private Constants() {}

    /** Version of this header: major * 10000 + minor * 100 + patch. It moves with every change of a declaration. */
    public static final int HEADER_VERSION = 10000;
    /** bytes: a blob lies at a multiple of this */
    public static final int BLOB_ALIGN = 64;
    /** also verify the checksum of the weights: reads the whole blob once */
    public static final int OPEN_CHECK_WEIGHTS = 1;
    public static final int MAX_RANK = 8;
    public static final int DIM_STEPS = -1;
    public static final int DIM_BATCH = -2;
    public static final int SPINS_BEFORE_WAIT = 4096;
    /** a number of calls, not a time: some 2 s with sleeps of 20 us, 20 s with those of 1 ms */
    public static final int EXECUTOR_TRIES = 20000;
    public static final int MAX_THREADS = 1024;
    /** do not use XNNPACK even where it is built in */
    public static final int SESSION_PORTABLE_OPS = 1;
    /** use the executor even where a step is too little work to gain from it */
    public static final int SESSION_ALL_THREADS = 2;
    /** give XNNPACK every operator it can take, not only those it runs faster */
    public static final int SESSION_ALL_XNNPACK = 4;
    /** Limits of rnnp_session_options; beyond them RNNP_E_ARG. */
    public static final int MAX_BATCH = 1048576;
    /** Limits of rnnp_session_options; beyond them RNNP_E_ARG. */
    public static final int MAX_CHUNK_STEPS = 1048576;
    /** of max_steps; runs of causal models have no limit */
    public static final int MAX_STEPS = 268435456;
    /** AVX2, FMA and F16C */
    public static final int ISA_AVX2 = 1;
    /** AVX-512 F, BW, DQ, VL */
    public static final int ISA_AVX512 = 2;
    public static final int ISA_NEON = 4;
    public static final int ISA_RVV = 8;
    public static final int ISA_SIMD128 = 16;
    public static final int ISA_MVE = 32;
    /** Arm scalar FPU with fused multiply-add: Cortex-M4F, M7, M33, ARMv7-A */
    public static final int ISA_VFPV4 = 64;
    /** RISC-V scalar FPU (extension F) */
    public static final int ISA_RVF = 128;
    /** builds on RNNP_ISA_AVX512 */
    public static final int ISA_AVX512_VNNI = 256;
    /** builds on RNNP_ISA_NEON */
    public static final int ISA_NEON_DOTPROD = 512;
    /** builds on RNNP_ISA_AVX2, for CPUs without AVX-512 */
    public static final int ISA_AVX_VNNI = 1024;
    /** builds on RNNP_ISA_NEON_DOTPROD: int8 matrix products */
    public static final int ISA_NEON_I8MM = 2048;
    /** builds on RNNP_ISA_AVX512_VNNI: tiles of int8, where the process may use them */
    public static final int ISA_AMX_INT8 = 4096;
    /** builds on RNNP_ISA_AVX512: products of bf16 */
    public static final int ISA_AVX512_BF16 = 8192;
    /** builds on RNNP_ISA_AVX512_BF16: tiles of bf16, where the process may use them */
    public static final int ISA_AMX_BF16 = 16384;
    /** builds on RNNP_ISA_NEON: products of bf16 */
    public static final int ISA_NEON_BF16 = 32768;
    public static final int ISA_REFERENCE_ONLY = -2147483648;
    /** of l1d_bytes, l2_bytes, l3_bytes: there is no such cache */
    public static final int CACHE_NONE = -1;
    public static final int NO_NODE = -1;
    /** sequence outputs get each row's last valid step only: [batch][row_elems] */
    public static final int RUN_LAST_STEP = 1;
    /** RNNP_E_NOT_FINITE, and nothing changes, where a float input holds NaN or infinity */
    public static final int RUN_CHECK_FINITE = 2;
    public static final int ALL_ROWS = -1;
    /** [steps][batch][row_elems], one row per step */
    public static final int ROLE_SEQUENCE = 0;
    /** [batch][row_elems], once per run (a final state, a pooled result) */
    public static final int ROLE_PER_RUN = 1;
    /** input only: [batch][row_elems], initial state; NULL continues from the session's state */
    public static final int ROLE_STATE = 2;
    /** input only: int32 [batch], steps of each row; NULL means all steps */
    public static final int ROLE_LENGTHS = 3;
    public static final int DTYPE_F32 = 0;
    public static final int DTYPE_I32 = 1;
}
