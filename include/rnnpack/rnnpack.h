/* rnnpack.h -- the public C API of rnnpack: recurrent networks at small batch, in memory that the caller owns.
 *
 * Four calls run a model. `rnnpack compile model.onnx -o model.rnnp` makes the blob on a PC; on the device:
 *
 *   #include <rnnpack/rnnpack.h>
 *   #include <stdlib.h>
 *
 *   // blob: the file, at a multiple of RNNP_BLOB_ALIGN. x, y: one step, the model's row_elems floats each.
 *   rnnp_status stream(const void *blob, size_t blob_bytes, int (*next)(float *x), void (*use)(const float *y),
 *                      float *x, float *y) {
 *     rnnp_model model;
 *     rnnp_session *session;
 *     rnnp_memory need = RNNP_MEMORY_INIT;
 *     rnnp_status status = rnnp_model_open(&model, blob, blob_bytes, 0);  // 1. check the blob and open it in place
 *     if (status != RNNP_OK) return status;
 *     status = rnnp_session_memory(&model, NULL, &need);                  // 2. ask for the session's bytes and alignment
 *     if (status != RNNP_OK) return status;
 *     void *mem = aligned_alloc(need.alignment, need.session_bytes);      // or a static array: the memory is yours
 *     status = rnnp_session_init(&session, &model, NULL, mem, need.session_bytes);  // 3. make the session in it
 *     while (status == RNNP_OK && next(x)) {
 *       status = rnnp_step_f32(session, x, y);                            // 4. run it: a step, or rnnp_run for many
 *       if (status == RNNP_OK) use(y);
 *     }
 *     free(mem);                                                          // there is nothing else to free
 *     return status;
 *   }
 *
 * Each call returns an rnnp_status; check it. There is nothing to free but what the caller allocated: the library allocates
 * nothing, locks nothing, prints nothing and keeps no globals.
 *
 * Rules of all functions
 *   errors     Negative. All checks come before the first write: after an error outputs and state are as they were.
 *   threads    A model is immutable after rnnp_model_open and may be shared by threads. A session is used by one thread at a time;
 *              two sessions, of one model too, run at the same time on two threads. Nothing here is safe in a signal handler that
 *              interrupts a call on the same session.
 *   lifetime   The blob stays in place, unchanged, while a model or a session uses it. A model may be copied, moved or dropped:
 *              sessions keep what they need of it. A session stays where it was made.
 *   structs    A struct that begins with struct_bytes may grow: initialise it with its RNNP_..._INIT. Members that an older caller
 *              lacks have their defaults. Members that this library does not know must be 0 (else RNNP_E_ARG), and are 0 in what it
 *              returns. rnnp_const_buffer and rnnp_buffer come in arrays: rnnp_io.buffer_bytes is their size.
 *   tensors    f32, row-major, time-major: [steps][batch][features]; without a time axis [batch][features]. Addresses and strides
 *              are multiples of 4 bytes.
 *   arithmetic IEEE single precision, round to nearest even. A call flushes denormals to zero where the CPU can (x86, Arm) and
 *              restores the caller's floating-point mode before it returns. Set another rounding mode and results are undefined.
 *              NaN or infinity in an input may stay in that row's state until rnnp_state_reset or rnnp_state_load. Matrices
 *              of int8 and int4 round what they multiply: NaN to 0, infinity to the row's largest value, so results stay
 *              finite but are wrong. RNNP_RUN_CHECK_FINITE refuses such inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_RNNPACK_H_
#define RNNPACK_RNNPACK_H_

#include <stddef.h>
#include <stdint.h>

/* Every function of the library. Linked as an archive its symbols are hidden, so a plug-in shows none of them; programs that link
 * the shared library define RNNP_SHARED (CMake's rnnpack::shared does), which Windows needs. */
#ifndef RNNP_API
#if defined(RNNP_SHARED_BUILD) && defined(_WIN32)
#define RNNP_API __declspec(dllexport)
#elif defined(RNNP_SHARED_BUILD)
#define RNNP_API __attribute__((visibility("default")))
#elif defined(RNNP_SHARED) && defined(_WIN32)
#define RNNP_API __declspec(dllimport)
#else
#define RNNP_API
#endif
#endif

/* On every function whose status must not be ignored. */
#ifndef RNNP_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define RNNP_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define RNNP_NODISCARD __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#include <sal.h>
#define RNNP_NODISCARD _Check_return_
#else
#define RNNP_NODISCARD
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Versions and status ------------------------------------------------------------------------------------------------- */

/* Version of this header: major * 10000 + minor * 100 + patch. It moves with every change of a declaration. */
#define RNNP_HEADER_VERSION 10000u

/* Pinned values: they never change and are never reused. 32 bits, signed, in C and C++. */
#ifdef __cplusplus
enum rnnp_status : int32_t {
#else
typedef int32_t rnnp_status;
enum {
#endif
  RNNP_OK = 0,
  RNNP_E_ARG = -1,             /* a NULL, zero or out-of-range argument, or a struct_bytes this library does not know */
  RNNP_E_ALIGN = -2,           /* blob or memory is not aligned as asked for */
  RNNP_E_SMALL_MEMORY = -3,    /* fewer bytes than rnnp_memory says, or a size that does not fit this machine */
  RNNP_E_BLOB_MAGIC = -4,      /* not a rnnpack blob */
  RNNP_E_BLOB_VERSION = -5,    /* a blob of another format version than this library opens */
  RNNP_E_BLOB_CORRUPT = -6,    /* truncated, bad checksum, or an offset or size that does not fit */
  RNNP_E_LAYOUT = -7,          /* the blob's weight layout has no kernel in this build */
  RNNP_E_ISA = -8,             /* there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them */
  RNNP_E_STATE_MISMATCH = -9,  /* saved state is of another model, or damaged */
  RNNP_E_NOT_CAUSAL = -10,     /* not causal (a reverse layer or look-ahead): set max_steps and run whole sequences */
  RNNP_E_UNSUPPORTED = -11,    /* an operator of the blob is not in this build */
  RNNP_E_SHAPE = -12,          /* steps, batch, lengths or tensor counts do not fit the model or the session */
  RNNP_E_ENDIAN = -13,         /* this CPU is big-endian; blobs are little-endian */
  RNNP_E_INDEX = -14,          /* an index is outside its table: see rnnp_tensor_info.limit */
  RNNP_E_INPUTS = -15,         /* rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io */
  RNNP_E_DEVICE = -16,         /* rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed */
  RNNP_E_TIMEOUT = -17,        /* rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded */
  RNNP_E_BUSY = -18,           /* rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session */
  RNNP_E_IMAGE_MISMATCH = -19, /* rnnpack/cuda.h: the image is of another model, of other options, or damaged */
  RNNP_E_EXECUTOR = -20,       /* the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor */
  RNNP_E_NOT_FINITE = -21      /* RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity */
};

/* Version of the library, encoded as RNNP_HEADER_VERSION. */
RNNP_API uint32_t rnnp_version(void);
/* The oldest and the newest blob format version that this library opens; those between open too. Every later 1.x and 2.x library
 * opens what 1.0 wrote. */
RNNP_API uint32_t rnnp_blob_version_min(void);
RNNP_API uint32_t rnnp_blob_version_max(void);
/* One line of English for a status; never NULL. Static storage. */
RNNP_API const char *rnnp_status_string(rnnp_status status);

/* --- Model --------------------------------------------------------------------------------------------------------------- */

/* A blob that was checked and opened in place. Any caller storage; treat the content as private. */
typedef struct rnnp_model {
  uint64_t opaque_[32];
} rnnp_model;

#define RNNP_BLOB_ALIGN 64u /* bytes: a blob lies at a multiple of this */

/* Flags of rnnp_model_open. */
#define RNNP_OPEN_CHECK_WEIGHTS 1u /* also verify the checksum of the weights: reads the whole blob once */

/* Check and open a blob in place (flash, mmap, static array).
 *   model  receives the handle
 *   blob   aligned to RNNP_BLOB_ALIGN bytes; stays unchanged and in place until the last session on it is done
 *   bytes  size of the blob; bytes beyond the blob's own size are ignored
 *   flags  0 or RNNP_OPEN_*
 * Safe on any byte string. Reads the headers and tables, not the weights (unless asked). */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_open(rnnp_model *model, const void *blob, size_t bytes, uint32_t flags);

/* What a model is, as a whole. */
typedef struct rnnp_model_info {
  uint32_t struct_bytes; /* set by the caller to sizeof(rnnp_model_info) */
  uint32_t blob_version;
  uint32_t blob_align;   /* bytes */
  uint32_t input_count;  /* tensors the model takes, see rnnp_model_get_input */
  uint32_t output_count; /* tensors the model gives, see rnnp_model_get_output */
  uint32_t node_count;
  uint32_t recurrent_count; /* nodes that are RNN, GRU or LSTM */
  uint32_t causal;          /* 1: may be run in pieces of any length; 0: whole sequences only (RNNP_E_NOT_CAUSAL) */
  uint32_t fixed_batch;     /* 0, or the only batch the model was exported for */
  uint32_t layout_nr;       /* hidden units per h-tile of the packed weights */
  uint32_t stream_steps;    /* 0, or the steps of each call that the model was compiled for; others run too */
  uint32_t in_place;        /* 1: rnnp_run and rnnp_step may be given one buffer as x and y */
  uint64_t blob_bytes;
  uint64_t weight_bytes;
  uint64_t state_bytes_per_row; /* live state (h, c) of one batch row */
  uint64_t model_id;            /* hash of graph and weights, the same for every layout of the same ONNX file */
  uint64_t macs_per_step;       /* multiply-accumulates of one step of one batch row */
} rnnp_model_info;

#define RNNP_MODEL_INFO_INIT \
  { sizeof(rnnp_model_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Fill *facts. facts->struct_bytes must be set; members the caller's struct lacks are left out. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_get_info(const rnnp_model *model, rnnp_model_info *facts);

/* Role of a model's input or output. */
enum {
  RNNP_ROLE_SEQUENCE = 0, /* [steps][batch][row_elems], one row per step */
  RNNP_ROLE_PER_RUN = 1,  /* [batch][row_elems], once per run (a final state, a pooled result) */
  RNNP_ROLE_STATE = 2,    /* input only: [batch][row_elems], initial state; NULL continues from the session's state */
  RNNP_ROLE_LENGTHS = 3   /* input only: int32 [batch], steps of each row; NULL means all steps */
};

/* Elements of a tensor: float, or int32_t (lengths, and indices into an embedding). */
enum { RNNP_DTYPE_F32 = 0, RNNP_DTYPE_I32 = 1 };

#define RNNP_MAX_RANK 8
#define RNNP_DIM_STEPS (-1)
#define RNNP_DIM_BATCH (-2)

typedef struct rnnp_tensor_info {
  uint32_t struct_bytes;       /* set by the caller */
  uint32_t role;               /* RNNP_ROLE_* */
  uint32_t row_elems;          /* features of one row: the product of the constant dims */
  uint32_t rank;               /* of the ONNX tensor */
  int32_t dims[RNNP_MAX_RANK]; /* the ONNX axes in ONNX order: RNNP_DIM_STEPS, RNNP_DIM_BATCH or a constant */
  const char *name;            /* in the blob, NUL-terminated */
  uint32_t dtype;              /* RNNP_DTYPE_* of the elements */
  uint32_t limit;              /* i32 inputs of role SEQUENCE: indices, from -limit (the table's first row) to limit - 1; else 0 */
} rnnp_tensor_info;

#define RNNP_TENSOR_INFO_INIT \
  { sizeof(rnnp_tensor_info), 0, 0, 0, {0}, NULL, 0, 0 }

/* Describe input or output `index`. RNNP_E_ARG when there is none of that index. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_get_input(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_get_output(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts);

/* The index of the input or output that the ONNX graph calls `name`. RNNP_E_ARG, and *index as it was, when there is none. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_find_input(const rnnp_model *model, const char *name, uint32_t *index);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_find_output(const rnnp_model *model, const char *name, uint32_t *index);

/* What the model says of itself: texts that the ONNX file or `rnnpack compile --meta KEY=VALUE` gave it. They lie in the blob.
 * NULL: there is no such key. */
RNNP_API const char *rnnp_model_meta(const rnnp_model *model, const char *key);
/* The pair `index`, for listing all. RNNP_E_ARG, and *key and *value as they were, when there is none of that index. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_model_get_meta(const rnnp_model *model, uint32_t index, const char **key,
                                                        const char **value);

/* --- Executor ------------------------------------------------------------------------------------------------------------ */

/* Threads that the caller lends. Ready-made: rnnp_threads_start (rnnpack/threads.h), rnnp_executor_from_pthreadpool.
 *
 * parallel(ctx, task, arg) runs task(arg, 0) ... task(arg, threads - 1) AT THE SAME TIME and returns when all have returned. The
 * tasks wait for each other at a barrier every step, so a pool that runs fewer at once can never finish one. rnnp_session_init
 * tries the executor once: where fewer than `threads` tasks run together within RNNP_EXECUTOR_TRIES calls of wait, it returns
 * RNNP_E_EXECUTOR. A pool that other work shares must keep its promise later, too.
 *   memory     Each task sees what was written before parallel; the caller sees afterwards what the tasks wrote.
 *   placement  Keep task(arg, i) on one OS thread, pinned to one core: thread i's weights then stay in that core's L2.
 *   priority   Give all threads one scheduling policy and priority.
 *
 * wait(ctx, times) is called by a thread that has polled a barrier RNNP_SPINS_BEFORE_WAIT times (tens to hundreds of microseconds),
 * and again until the barrier opens. `times` counts the calls of this wait, from 0. Yield at first (sched_yield) and sleep from
 * some tens on: only sleep lets a thread of lower priority run on the core. NULL is allowed for one thread only. */
typedef struct rnnp_executor {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t threads;      /* 1 to 1024 */
  void *ctx;
  void (*parallel)(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg);
  void (*wait)(void *ctx, uint32_t times);
} rnnp_executor;

#define RNNP_EXECUTOR_INIT \
  { sizeof(rnnp_executor), 1, NULL, NULL, NULL }

#define RNNP_SPINS_BEFORE_WAIT 4096u
#define RNNP_EXECUTOR_TRIES 20000u /* a number of calls, not a time: some 2 s with sleeps of 20 us, 20 s with those of 1 ms */
#define RNNP_MAX_THREADS 1024u

/* --- Session ------------------------------------------------------------------------------------------------------------- */

/* A running instance: state of max_batch independent rows, and scratch. Lives in the caller's memory; there is no free. */
typedef struct rnnp_session rnnp_session;

/* Flags of rnnp_session_options. */
#define RNNP_SESSION_PORTABLE_OPS 1u /* do not use XNNPACK even where it is built in */
#define RNNP_SESSION_ALL_THREADS 2u  /* use the executor even where a step is too little work to gain from it */
#define RNNP_SESSION_ALL_XNNPACK 4u  /* give XNNPACK every operator it can take, not only those it runs faster */

/* Limits of rnnp_session_options; beyond them RNNP_E_ARG. */
#define RNNP_MAX_BATCH (1u << 20)
#define RNNP_MAX_CHUNK_STEPS (1u << 20)
#define RNNP_MAX_STEPS (1u << 28) /* of max_steps; runs of causal models have no limit */

/* Bits of isa_allowed, each with those it builds on: RNNP_ISA_AVX512 allows AVX2 as well. 0 allows all. The reference kernels need
 * no bit and are always allowed. */
#define RNNP_ISA_AVX2 (1u << 0)   /* AVX2, FMA and F16C */
#define RNNP_ISA_AVX512 (1u << 1) /* AVX-512 F, BW, DQ, VL */
#define RNNP_ISA_NEON (1u << 2)
#define RNNP_ISA_RVV (1u << 3)
#define RNNP_ISA_SIMD128 (1u << 4)
#define RNNP_ISA_MVE (1u << 5)
#define RNNP_ISA_VFPV4 (1u << 6)        /* Arm scalar FPU with fused multiply-add: Cortex-M4F, M7, M33, ARMv7-A */
#define RNNP_ISA_RVF (1u << 7)          /* RISC-V scalar FPU (extension F) */
#define RNNP_ISA_AVX512_VNNI (1u << 8)  /* builds on RNNP_ISA_AVX512 */
#define RNNP_ISA_NEON_DOTPROD (1u << 9) /* builds on RNNP_ISA_NEON */
#define RNNP_ISA_AVX_VNNI (1u << 10)    /* builds on RNNP_ISA_AVX2, for CPUs without AVX-512 */
#define RNNP_ISA_NEON_I8MM (1u << 11)   /* builds on RNNP_ISA_NEON_DOTPROD: int8 matrix products */
#define RNNP_ISA_AMX_INT8 (1u << 12)    /* builds on RNNP_ISA_AVX512_VNNI: tiles of int8, where the process may use them */
#define RNNP_ISA_AVX512_BF16 (1u << 13) /* builds on RNNP_ISA_AVX512: products of bf16 */
#define RNNP_ISA_AMX_BF16 (1u << 14)    /* builds on RNNP_ISA_AVX512_BF16: tiles of bf16, where the process may use them */
#define RNNP_ISA_NEON_BF16 (1u << 15)   /* builds on RNNP_ISA_NEON: products of bf16 */
#define RNNP_ISA_REFERENCE_ONLY (1u << 31)

/* The name of one RNNP_ISA_* bit ("avx512_vnni"), "reference" for 0, "unknown" for others. Static storage. */
RNNP_API const char *rnnp_isa_name(uint32_t bit);

#define RNNP_CACHE_NONE UINT32_MAX /* of l1d_bytes, l2_bytes, l3_bytes: there is no such cache */

typedef struct rnnp_session_options {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t max_batch;    /* rows, 1 to RNNP_MAX_BATCH */
  uint32_t max_steps;    /* longest run of a model that is not causal; ignored (0) for a causal one */
  uint32_t chunk_steps;  /* steps that go through all nodes at a time; 0: chosen by the sizes of weights and caches. Memory grows
                            with it, results do not depend on it. Ignored by a model that is not causal: max_steps at a time */
  uint32_t isa_allowed;  /* RNNP_ISA_*; 0 for all */
  uint32_t flags;        /* RNNP_SESSION_* */
  uint32_t l1d_bytes;    /* per core; 0 asks the platform, RNNP_CACHE_NONE: there is none */
  uint32_t l2_bytes;     /* per core, private; as above */
  uint32_t l3_bytes;     /* what a core can use, shared with others or not; as above */
  const rnnp_executor *executor; /* NULL: serial on the calling thread. Copied; ctx must live as long as the session. A model too
                                    small to gain from threads runs serially all the same: rnnp_session_info.threads tells */
} rnnp_session_options;

#define RNNP_SESSION_OPTIONS_INIT \
  { sizeof(rnnp_session_options), 1, 0, 0, 0, 0, 0, 0, 0, NULL }

/* The same where there are no macros. struct_bytes: sizeof *options; no byte beyond it is written. */
RNNP_API void rnnp_session_options_init(rnnp_session_options *options, size_t struct_bytes);

typedef struct rnnp_memory {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t alignment;    /* of the session's memory, bytes */
  size_t session_bytes;  /* for rnnp_session_init; a multiple of alignment, so aligned_alloc takes both as they are */
  size_t state_bytes;    /* of rnnp_state_save, per batch row */
} rnnp_memory;

#define RNNP_MEMORY_INIT \
  { sizeof(rnnp_memory), 0, 0, 0 }

/* Ask what a session of these options needs. Pure: depends on its arguments and, where options leave them 0, on the machine (not
 * on the core that asks). */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_session_memory(const rnnp_model *model, const rnnp_session_options *options,
                                                        rnnp_memory *memory);

/* Make a session in mem. All rows are in the model's initial state. options NULL means the defaults.
 * The handle points into mem. An error leaves *session unchanged. RNNP_E_BLOB_CORRUPT: a node would read or write what is not its
 * own (checked here, in mem: rnnp_model_open has no memory for it). */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_session_init(rnnp_session **session, const rnnp_model *model,
                                                      const rnnp_session_options *options, void *mem, size_t bytes);

#define RNNP_NO_NODE UINT32_MAX

/* Why there is no session. Strings are never NULL; they lie in the blob or in the library. */
typedef struct rnnp_refusal {
  uint32_t struct_bytes; /* set by the caller */
  rnnp_status status;    /* RNNP_OK: nothing is in the way */
  uint32_t node;         /* the node that is refused, in the blob's order, or RNNP_NO_NODE */
  uint32_t reserved;     /* 0 */
  uint64_t needed;       /* what would do, where that is a number: bytes of memory or alignment, rows of batch; else 0 */
  const char *node_name; /* the ONNX node's name; "" where it has none */
  const char *op;        /* its operator's name; "" without a node */
  const char *reason;    /* one line of English */
} rnnp_refusal;

#define RNNP_REFUSAL_INIT \
  { sizeof(rnnp_refusal), RNNP_OK, 0, 0, 0, NULL, NULL, NULL }

/* What rnnp_session_init would return for these arguments, and why. *refusal is filled whatever the status, unless refusal itself
 * is wrong (RNNP_E_ARG). scratch: `bytes` of memory that no session lives in, for the checks that need some; its content is lost.
 * NULL leaves these checks out, and then nothing but *refusal is written. The executor is not tried. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_session_explain(const rnnp_model *model, const rnnp_session_options *options,
                                                         void *scratch, size_t bytes, rnnp_refusal *refusal);

/* What was decided at init. */
typedef struct rnnp_session_info {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t max_batch;
  uint32_t chunk_steps;      /* steps that go through all nodes at a time */
  uint32_t threads;          /* that share the work of a call; 1: none of the executor's */
  uint32_t isa;              /* RNNP_ISA_* bit of the recurrent kernels in use; 0 for the reference */
  uint32_t xnnpack;          /* nodes of the model that XNNPACK runs */
  uint32_t xnnpack_refused;  /* 1: someone else initialised XNNPACK with another allocator, portable operators are used */
  uint32_t wavefront_stages; /* groups of layers that run side by side on as many threads, chunk after chunk; 0: none */
  uint32_t wavefront_steps;  /* in calls of at least so many steps */
} rnnp_session_info;

#define RNNP_SESSION_INFO_INIT \
  { sizeof(rnnp_session_info), 0, 0, 0, 0, 0, 0, 0, 0 }

RNNP_NODISCARD RNNP_API rnnp_status rnnp_session_get_info(const rnnp_session *session, rnnp_session_info *facts);

/* --- Run ----------------------------------------------------------------------------------------------------------------- */

/* Run `steps` steps of all max_batch rows, continuing from, and leaving, the session's state.
 *   x  the model's first sequence input   [steps][max_batch][row_elems]
 *   y  the model's first output           [steps][max_batch][row_elems], or [max_batch][row_elems] for RNNP_ROLE_PER_RUN
 * y may be x where rnnp_model_info.in_place says so; else they must not overlap (RNNP_E_ARG). steps 0 is a no-op.
 * For models whose other inputs are all optional (else RNNP_E_INPUTS). */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_run(rnnp_session *session, size_t steps, const void *x, void *y);

/* One step of all rows: rnnp_run with steps 1, for causal models (else RNNP_E_NOT_CAUSAL). The work is a constant of the model. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_step(rnnp_session *session, const void *x, void *y);

/* One tensor of a run. Strides are in bytes, multiples of 4 and at least a row (row_elems * 4), for batch 1 and single steps too.
 * NULL data leaves an output unwritten, and an optional input (STATE, LENGTHS) out.
 * Outputs in an input's memory: one without a time axis is written last, and may overlap any input but lengths. A sequence may
 * begin where a sequence input does, when its rows of a step do not reach into the input's next step: the same strides and rows
 * no longer, or closer together. RNNP_E_ARG for other overlaps of packed tensors; of strided ones they are the caller's to avoid.
 */
typedef struct rnnp_const_buffer {
  const void *data;         /* never written */
  size_t step_stride_bytes; /* from one step to the next; 0: batch * row stride. Not used by tensors without a time axis */
  size_t row_stride_bytes;  /* from one batch row to the next; 0: a row. Lengths must be packed */
} rnnp_const_buffer;

typedef struct rnnp_buffer {
  void *data;
  size_t step_stride_bytes;
  size_t row_stride_bytes;
} rnnp_buffer;

/* Where the type of the elements is known: a pointer to doubles, or to integers, does not compile. Not in the library. */
RNNP_NODISCARD static inline rnnp_status rnnp_run_f32(rnnp_session *session, size_t steps, const float *x, float *y) {
  return rnnp_run(session, steps, x, y);
}
RNNP_NODISCARD static inline rnnp_status rnnp_step_f32(rnnp_session *session, const float *x, float *y) {
  return rnnp_step(session, x, y);
}
static inline rnnp_const_buffer rnnp_input_f32(const float *data, size_t step_stride_bytes, size_t row_stride_bytes) {
  const rnnp_const_buffer buffer = {data, step_stride_bytes, row_stride_bytes};
  return buffer;
}
static inline rnnp_const_buffer rnnp_input_i32(const int32_t *data, size_t step_stride_bytes, size_t row_stride_bytes) {
  const rnnp_const_buffer buffer = {data, step_stride_bytes, row_stride_bytes};
  return buffer;
}
static inline rnnp_buffer rnnp_output_f32(float *data, size_t step_stride_bytes, size_t row_stride_bytes) {
  const rnnp_buffer buffer = {data, step_stride_bytes, row_stride_bytes};
  return buffer;
}

#define RNNP_RUN_LAST_STEP 1u    /* sequence outputs get each row's last valid step only: [batch][row_elems] */
#define RNNP_RUN_CHECK_FINITE 2u /* RNNP_E_NOT_FINITE, and nothing changes, where a float input holds NaN or infinity */

typedef struct rnnp_io {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t buffer_bytes; /* set by the caller to sizeof(rnnp_const_buffer), which is sizeof(rnnp_buffer) */
  uint32_t flags;        /* RNNP_RUN_* */
  uint32_t batch;        /* rows that run, <= max_batch: 0 .. batch - 1, or those of `rows`. The others keep their state */
  size_t steps;
  uint32_t input_count;   /* length of inputs; the model's input_count */
  uint32_t output_count;  /* length of outputs; the model's output_count */
  const int32_t *lengths; /* [batch], 0 <= length <= steps: valid steps of each row. Past them the row's state is frozen and
                             recurrent outputs are 0; time reductions, last-step outputs and reversal use the valid steps only,
                             those of earlier calls included. NULL: all steps, except in recurrent layers that have a LENGTHS input
                             or constant of their own */
  const rnnp_const_buffer *inputs;
  const rnnp_buffer *outputs;
  const uint32_t *rows; /* [batch], each row once, in any order: row i of every tensor and of lengths belongs to the session's row
                           rows[i]. NULL: rows 0 .. batch - 1. A set that differs from the last call's costs a swap of states per
                           new row. Not for models of a fixed batch (RNNP_E_SHAPE) */
} rnnp_io;

#define RNNP_IO_INIT \
  { sizeof(rnnp_io), sizeof(rnnp_const_buffer), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Run with strides, per-row lengths, fewer rows, any inputs and outputs. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_run_io(rnnp_session *session, const rnnp_io *io);

/* Why the last rnnp_run, rnnp_step or rnnp_run_io of this session returned an error: one line of English, "" after a success.
 * Static storage; never NULL. */
RNNP_API const char *rnnp_session_last_error(const rnnp_session *session);

/* --- State: every batch row is a stream of its own ----------------------------------------------------------------------- */

#define RNNP_ALL_ROWS UINT32_MAX

/* Back to the model's initial state, one row or RNNP_ALL_ROWS. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_state_reset(rnnp_session *session, uint32_t row);
/* Write the row's state as portable little-endian bytes (rnnp_memory.state_bytes of them): any session on the same model, on
 * any CPU and layout, can load them. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_state_save(const rnnp_session *session, uint32_t row, void *dst, size_t bytes);
/* Load what rnnp_state_save wrote. RNNP_E_STATE_MISMATCH leaves the row as it was. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_state_load(rnnp_session *session, uint32_t row, const void *src, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_RNNPACK_H_ */
