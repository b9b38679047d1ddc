/* cuda.h -- rnnpack's models on an NVIDIA GPU: librnnpack_cuda.a beside librnnpack.a. C99, no CUDA type in it.
 *
 * EXPERIMENTAL, and outside the promise of 1.0: run on an H100 and an H200, on no Jetson. Functions, structs, results and images
 * may change in any release; the values of its statuses stay.
 *
 * The order of calls: open the blob (rnnp_model_open), ask what a session takes (rnnp_cuda_session_memory), allocate host and
 * device memory, pack the weights into an image (rnnp_cuda_pack, on any machine), make the session, run it on a stream. Nothing
 * here allocates but rnnp_cuda_alloc and rnnp_cuda_graph_make; rnnp_cuda_session_init makes the CUDA runtime create its context and
 * load all kernels of the session, so call it before what has to be on time.
 *
 * Common to all functions
 *   errors    a negative rnnp_status; every check precedes the first launch, so after an error outputs and states are as they were.
 *             What fails later, on the GPU, is told by rnnp_cuda_wait.
 *   stream    a cudaStream_t as void *; NULL is the default stream. A run enqueues all its work on it, in order, and returns:
 *             nothing waits, allocates or makes handles. So run, run_io, step and state_reset may be captured into a CUDA graph;
 *             replayed, it goes on from the states as they are then. rows and lengths of a captured rnnp_cuda_run_io are those of
 *             the capture. During a capture nobody looks whether another stream still uses the session.
 *   threads   a session is used by one thread at a time and has one run after the other in flight: RNNP_E_BUSY while a stream still
 *             runs it that is not the call's: a stream that ran a session is destroyed after the session's last call, or after
 *             another stream has run it.
 *   GPU       a session is used with the thread's current GPU being the one that it was made on; else RNNP_E_DEVICE.
 *   lifetime  blob, host, weights and work stay where they are while the session is in use; the image may go once the stream has
 *             been waited for. Sessions of equal options on one model may share `weights`.
 *   tensors   f32, time-major, as in rnnpack.h, at addresses that the GPU can use: RNNP_E_ARG for memory that it is known not to
 *             reach. y is written once; x is read by many blocks, some tens of times. So on a GPU with memory of its own x and y
 *             belong into it. Where it shares the CPU's (Jetson), mapped pinned memory (cudaHostAlloc) serves both.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_CUDA_H_
#define RNNPACK_CUDA_H_

#include "rnnpack/rnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- The device ----------------------------------------------------------------------------------------------------------- */

/* Plain facts: queried, or written by hand to pack and plan for another machine. */
typedef struct rnnp_cuda_device {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t arch;         /* 870: sm_87 */
  uint32_t sm_count;
  uint32_t shared_per_block; /* bytes that a block may have */
  uint32_t l2_bytes;
  uint32_t clock_mhz;
  uint32_t memory_mb_per_s; /* of device memory; MB are 10^6 */
  uint32_t integrated;      /* 1: the GPU uses the CPU's memory */
  uint32_t cooperative;     /* 1: launches of which all blocks run at the same time */
  uint32_t cluster_blocks;  /* of a thread block cluster, at most; 0: none, or this program has no kernels for one */
} rnnp_cuda_device;

#define RNNP_CUDA_DEVICE_INIT \
  { sizeof(rnnp_cuda_device), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The facts of GPU `index`. RNNP_E_DEVICE: there is no driver, or no such GPU. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_device_query(int32_t index, rnnp_cuda_device *device);

/* --- Options --------------------------------------------------------------------------------------------------------------- */

/* What the GPU's copy of dense weights of f32, f16 and bf16 is stored as. Products of f16 (bf16) weights take x and h rounded to
 * f16 (bf16); sums are f32. Weights of int8, and sparse ones, are multiplied as the CPU does it, whatever is chosen here. */
enum { RNNP_CUDA_F32 = 0, RNNP_CUDA_F16 = 1, RNNP_CUDA_BF16 = 2 };

/* Bits of kernels_allowed, and values of rnnp_cuda_layer_info.kernel. */
#define RNNP_CUDA_RESIDENT (1u << 0) /* weights stay on the chip, one launch for many steps */
#define RNNP_CUDA_STEPS (1u << 1)    /* a launch for each step; always there for what the other cannot do */
#define RNNP_CUDA_CLUSTER (1u << 2)  /* resident in thread block clusters: sm_90 and later, f16 LSTM and GRU to 512 units */

typedef struct rnnp_cuda_options {
  uint32_t struct_bytes;          /* set by the caller */
  uint32_t max_batch;             /* rows, >= 1 */
  uint32_t max_steps;             /* longest run of a model that is not causal; ignored for a causal one */
  uint32_t chunk_steps;           /* steps that go through all nodes at a time; 0: chosen */
  uint32_t max_steps_per_launch;  /* of the resident kernel, so that a display and other streams get their turn; 0: chosen */
  uint32_t weights;               /* RNNP_CUDA_F32, _F16, _BF16 */
  uint32_t sm_limit;              /* blocks of the resident kernel; 0: as many as there are SMs */
  uint32_t kernels_allowed;       /* RNNP_CUDA_RESIDENT, _STEPS, _CLUSTER; 0: all */
  uint32_t spin_limit;            /* reads of a word that does not come before RNNP_E_TIMEOUT; 0: some seconds */
  const rnnp_cuda_device *device; /* copied; NULL: the thread's current GPU */
} rnnp_cuda_options;

#define RNNP_CUDA_OPTIONS_INIT \
  { sizeof(rnnp_cuda_options), 1, 0, 0, 0, 0, 0, 0, 0, NULL }

/* --- Session --------------------------------------------------------------------------------------------------------------- */

typedef struct rnnp_cuda_session rnnp_cuda_session;

typedef struct rnnp_cuda_memory {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t host_align;   /* of host, bytes; device memory: 256 */
  size_t host_bytes;     /* the session */
  size_t image_bytes;    /* host: what rnnp_cuda_pack writes */
  size_t weight_bytes;   /* device: read only, as many as the image */
  size_t work_bytes;     /* device: states, words, pre-activations, pools */
  size_t state_bytes;    /* of rnnp_cuda_state_save, per row: those of rnnp_memory */
} rnnp_cuda_memory;

#define RNNP_CUDA_MEMORY_INIT \
  { sizeof(rnnp_cuda_memory), 0, 0, 0, 0, 0, 0 }

/* What a session takes. RNNP_E_UNSUPPORTED, RNNP_E_LAYOUT: an operator, or its weights' format, has no kernel here: see
 * rnnp_cuda_session_explain. options NULL means the defaults. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_session_memory(const rnnp_model *model, const rnnp_cuda_options *options,
                                                             rnnp_cuda_memory *memory);

/* The answer of rnnp_cuda_session_memory, and why: the node that is refused by name. *refusal is filled whatever the answer. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_session_explain(const rnnp_model *model, const rnnp_cuda_options *options,
                                                              rnnp_refusal *refusal);

/* The weights as the kernels want them: image_bytes in host memory. No GPU is needed where options->device is given; the same
 * options and model give the same bytes. image: aligned to 16. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_pack(const rnnp_model *model, const rnnp_cuda_options *options, void *image,
                                                   size_t bytes);

/* Where a session lives. */
typedef struct rnnp_cuda_buffers {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t reserved;     /* 0 */
  void *host;            /* host memory, aligned to host_align */
  size_t host_bytes;     /* of host, at least those of rnnp_cuda_memory */
  const void *image;     /* what rnnp_cuda_pack wrote: copied to `weights` on the stream; NULL: the weights are there already */
  void *weights;         /* of weight_bytes, aligned to 256: cudaMalloc's memory on the current GPU; RNNP_E_ARG for any other */
  void *work;            /* of work_bytes, alike */
  void *findings; /* RNNP_CUDA_FINDINGS_BYTES of mapped pinned memory, aligned to 64, of this session alone: kernels tell there
                     what failed, and rnnp_cuda_wait copies nothing. NULL: each wait copies some bytes (10 us or so) */
} rnnp_cuda_buffers;

#define RNNP_CUDA_FINDINGS_BYTES 64u
#define RNNP_CUDA_BUFFERS_INIT \
  { sizeof(rnnp_cuda_buffers), 0, NULL, 0, NULL, NULL, NULL, NULL }

/* Make a session, all rows in the model's initial state. *buffers is read during the call. RNNP_E_BUSY: the grid of a layer does
 * not fit the GPU as it is now. RNNP_E_IMAGE_MISMATCH: an image of another model or another plan (kernels, blocks and units of its
 * layers). A plan follows from options->device: give what rnnp_cuda_pack was given where an image was packed elsewhere. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_session_init(rnnp_cuda_session **session, const rnnp_model *model,
                                                           const rnnp_cuda_options *options, const rnnp_cuda_buffers *buffers,
                                                           void *stream);

#define RNNP_CUDA_REASON_BYTES 164u /* fills rnnp_cuda_layer_info up to 200 bytes; longer texts are cut */

/* What was decided for a recurrent layer. Predictions are arithmetic on the device's facts; nothing of them was measured. */
typedef struct rnnp_cuda_layer_info {
  uint32_t struct_bytes; /* set by the caller */
  uint32_t kernel;       /* RNNP_CUDA_RESIDENT, _STEPS or _CLUSTER */
  uint32_t blocks;       /* of a launch: those of both directions where they go side by side */
  uint32_t units;        /* of a block */
  uint32_t columns;      /* batch rows that are computed at a time */
  uint32_t held;         /* k-tiles, groups of 64 columns (f32) or bundles (sparse) whose weights a warp keeps in registers */
  uint32_t shared_bytes; /* of a block */
  uint32_t steps_per_launch;
  uint32_t predicted_ns;               /* of a step of one direction */
  char reason[RNNP_CUDA_REASON_BYTES]; /* one line of English, ends in a null byte */
} rnnp_cuda_layer_info;

#define RNNP_CUDA_LAYER_INFO_INIT                           \
  {                                                         \
    sizeof(rnnp_cuda_layer_info), 0, 0, 0, 0, 0, 0, 0, 0, { \
      0                                                     \
    }                                                       \
  }

/* Of the recurrent layer `layer`, in the blob's order. RNNP_E_ARG when there is none. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_layer_get_info(const rnnp_cuda_session *session, uint32_t layer,
                                                             rnnp_cuda_layer_info *facts);
/* The same without a session, or a GPU where options->device is given. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_plan(const rnnp_model *model, const rnnp_cuda_options *options, uint32_t layer,
                                                   rnnp_cuda_layer_info *facts);

/* --- Run ------------------------------------------------------------------------------------------------------------------- */

/* rnnp_run, rnnp_step and rnnp_run_io on a stream. Of io, lengths and rows are host memory, read during the call; tensors are the
 * device's, a LENGTHS input and indices too: lengths beyond the run count as its end, and an index outside its table gives a row of
 * zeros and RNNP_E_INDEX from rnnp_cuda_wait. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_run(rnnp_cuda_session *session, size_t steps, const void *x, void *y, void *stream);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_step(rnnp_cuda_session *session, const void *x, void *y, void *stream);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_run_io(rnnp_cuda_session *session, const rnnp_io *io, void *stream);

/* Waits for the stream. RNNP_E_TIMEOUT, RNNP_E_INDEX, RNNP_E_DEVICE: a run since the last wait failed; after RNNP_E_TIMEOUT no
 * output of these runs counts, those enqueued after the one that failed included. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_wait(rnnp_cuda_session *session, void *stream);

/* A CUDA graph of one call, for calls that are made again and again: a cudaGraphExec_t, which cudaGraphLaunch takes too. */
typedef struct rnnp_cuda_graph rnnp_cuda_graph;

/* The graph of rnnp_cuda_run_io(session, io, stream), which is captured and not run: the same tensors, rows and lengths at every
 * run. stream: any but the default one, which cannot be captured (RNNP_E_ARG). The graph goes before the session. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_graph_make(rnnp_cuda_graph **graph, rnnp_cuda_session *session, const rnnp_io *io,
                                                         void *stream);
/* As rnnp_cuda_run_io, on any stream: it goes on from the states as they are. graph: one of this session. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_graph_run(rnnp_cuda_session *session, rnnp_cuda_graph *graph, void *stream);
/* NULL: nothing happens. Not while it runs. */
RNNP_API void rnnp_cuda_graph_free(rnnp_cuda_graph *graph);

/* The GPU that was current when it was made, which it is used on; -1: no session. */
RNNP_API int32_t rnnp_cuda_session_device(const rnnp_cuda_session *session);

/* The cudaError_t behind the last RNNP_E_DEVICE; 0: there was none. */
RNNP_API int32_t rnnp_cuda_error(const rnnp_cuda_session *session);

/* --- State ----------------------------------------------------------------------------------------------------------------- */

/* rnnp_state_reset, _save and _load. The bytes are those of rnnp_state_save: a stream may move from CPU to GPU and back. Reset is
 * enqueued, so a run on another stream answers RNNP_E_BUSY until it is done: reset where the session runs, or wait between the two.
 * save and load wait for the stream, so they are not for captures. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_state_reset(rnnp_cuda_session *session, uint32_t row, void *stream);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_state_save(rnnp_cuda_session *session, uint32_t row, void *dst, size_t bytes,
                                                         void *stream);
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_state_load(rnnp_cuda_session *session, uint32_t row, const void *src, size_t bytes,
                                                         void *stream);

/* --- Memory ---------------------------------------------------------------------------------------------------------------- */

/* For callers without CUDA's own runtime: other languages, the tool. */
#define RNNP_CUDA_DEVICE_MEMORY 0u /* cudaMalloc's, of the current GPU: weights, work, tensors */
#define RNNP_CUDA_MAPPED_MEMORY 1u /* pinned host memory that the GPU reaches at the same address: findings, a Jetson's tensors */

/* *memory: aligned to 256. RNNP_E_DEVICE: no GPU, or no memory. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_alloc(uint32_t kind, size_t bytes, void **memory);
/* kind: that of its rnnp_cuda_alloc. NULL: nothing happens. */
RNNP_API void rnnp_cuda_free(uint32_t kind, void *memory);
/* From and to any memory, the host's among it; in the stream's order, and waited for. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_cuda_copy(void *to, const void *from, size_t bytes, void *stream);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_CUDA_H_ */
