/* registry.h -- link only what models need: name their operators and kernels, and the linker leaves all others out.
 *
 * rnnp_session_memory, _init and _explain use rnnp_default_registry. The archive defines it, with every operator and kernel of the
 * build; the definition is weak (but on Windows), so a program's own takes its place. To link fewer, either
 *   add the file that `rnnpack registry model.rnnp ... -o registry.c` writes: it defines rnnp_default_registry, and nothing else of
 *   the program changes; or
 *   call the functions below with the registry that `rnnpack compile --emit-c` writes beside the model.
 * Link with --gc-sections, and the archive: the shared library has everything and shows none of these names. A model that needs
 * what the registry lacks gives RNNP_E_UNSUPPORTED (an operator) or RNNP_E_LAYOUT (a kernel) at init, never later.
 * For generated code: the names of operators and kernel groups go with one version of the archive and are no part of the ABI.
 *
 * A kernel group is one family on one weight layout, e.g. gru_linear on f32 panels of 4 units: its kernels for every
 * instruction set of the build, best first, up to the first that every CPU of the build can run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_REGISTRY_H_
#define RNNPACK_REGISTRY_H_

#include "rnnpack/rnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rnnp_op rnnp_op;                     /* an operator; opaque */
typedef struct rnnp_kernel_group rnnp_kernel_group; /* kernels; opaque */
typedef struct rnnp_check rnnp_check;               /* what is checked of a blob when a session of it is made; opaque */

typedef struct rnnp_registry {
  uint32_t struct_bytes; /* sizeof(rnnp_registry) */
  uint32_t op_count;
  uint32_t kernel_count;
  const rnnp_op *const *ops;
  const rnnp_kernel_group *const *kernels;
  /* &rnnp_check_dataflow. NULL leaves it out of the program: then sessions are of `blob` alone (RNNP_E_ARG). */
  const rnnp_check *check;
  /* NULL, or a blob that was compiled into the program together with the registry and need not be checked again. */
  const void *blob;
} rnnp_registry;

/* Opens registry->blob as rnnp_model_open would, but for the checks: the blob is as much a part of the program as the code is, and
 * a program that opens no other blob links none of them. *model must stay as long as its sessions. RNNP_E_ARG: an argument is NULL
 * or names no blob; RNNP_E_ALIGN; RNNP_E_BLOB_MAGIC, RNNP_E_BLOB_VERSION: it is another library's. */
RNNP_NODISCARD rnnp_status rnnp_model_open_with(const rnnp_registry *registry, rnnp_model *model);

/* rnnp_session_memory and rnnp_session_init with the operators and kernels of `registry` only. The registry is read during the
 * call; what it points to must stay. */
RNNP_NODISCARD rnnp_status rnnp_session_memory_with(const rnnp_registry *registry, const rnnp_model *model,
                                                    const rnnp_session_options *options, rnnp_memory *memory);
RNNP_NODISCARD rnnp_status rnnp_session_init_with(const rnnp_registry *registry, rnnp_session **session, const rnnp_model *model,
                                                  const rnnp_session_options *options, void *mem, size_t bytes);
RNNP_NODISCARD rnnp_status rnnp_session_explain_with(const rnnp_registry *registry, const rnnp_model *model,
                                                     const rnnp_session_options *options, void *mem, size_t bytes,
                                                     rnnp_refusal *refusal);

/* What a session that names no registry may use. A program that defines it links that in the place of everything. */
extern const rnnp_registry rnnp_default_registry;

/* X(name) for every operator: the object rnnp_op_<name>, and rnnp_op_<name>_unchecked, which takes nodes of registry->blob alone
 * and leaves what checks a blob's nodes out of the program. */
#define RNNP_FOR_EACH_OP(X)    \
  X(recurrent_norm)            \
  X(recurrent)                 \
  X(dense)                     \
  X(unary)                     \
  X(binary)                    \
  X(softmax)                   \
  X(copy)                      \
  X(time_step)                 \
  X(unary_without_kernel)      \
  X(compare)                   \
  X(reduce)                    \
  X(norm)                      \
  X(where)                     \
  X(matmul)                    \
  X(gather)                    \
  X(state_read)                \
  X(state_write)               \
  X(time_reduce)               \
  X(time_reverse)              \
  X(feature_recurrent)         \
  X(recurrent_unfused)         \
  X(feature_recurrent_unfused) \
  X(conv)                      \
  X(conv_taps)                 \
  X(conv_nchw)                 \
  X(conv_channel_major)        \
  X(conv_winograd)             \
  X(depthwise)                 \
  X(pool)

/* X(name) for every kernel group: the object rnnp_kernels_<name>. */
#define RNNP_FOR_EACH_KERNEL_GROUP(X) \
  X(gemm_f32_nr16)                    \
  X(gemm_f32_nr8)                     \
  X(gemm_f32_nr4)                     \
  X(gemm3_f32_nr16)                   \
  X(gemm3_f32_nr8)                    \
  X(gemm3_f32_nr4)                    \
  X(gemm4_f32_nr16)                   \
  X(gemm4_f32_nr8)                    \
  X(gemm4_f32_nr4)                    \
  X(gemm_f16_nr16)                    \
  X(gemm_f16_nr8)                     \
  X(gemm_f16_nr4)                     \
  X(gemm_bf16_nr16)                   \
  X(gemm_bf16_nr8)                    \
  X(gemm_bf16_nr4)                    \
  X(gemm_i8_nr16)                     \
  X(gemm_i8_nr8)                      \
  X(gemm_i8_nr4)                      \
  X(gemm_i8_smlad_nr4)                \
  X(gemm_i8_kmajor16_nr4)             \
  X(gemm_i4_nr16)                     \
  X(gemm_i4_nr8)                      \
  X(gemm_i4_nr4)                      \
  X(gemm_f32_16x4_nr16)               \
  X(gemm_f32_8x4_nr16)                \
  X(gemm_f32_4x4_nr16)                \
  X(gemm_i8_16x4_nr16)                \
  X(gemm_i8_8x4_nr16)                 \
  X(gemm_i8_4x4_nr16)                 \
  X(gemm_i8_q15_nr16)                 \
  X(gemm_i8_q15_nr8)                  \
  X(gemm_i8_q15_nr4)                  \
  X(rnn_tanh_i8)                      \
  X(lstm_i8)                          \
  X(gru_linear_i8)                    \
  X(gru_gates_i8)                     \
  X(gru_output_i8)                    \
  X(gemm_bf16_16x4_nr16)              \
  X(gemm_bf16_8x4_nr16)               \
  X(gemm_bf16_4x4_nr16)               \
  X(gemm_f32_ell_nr16)                \
  X(gemm_i8_ell_nr16)                 \
  X(gemm_q8_nr16)                     \
  X(gemm_q8_nr8)                      \
  X(gemm_q8_nr4)                      \
  X(gemm_dot_bf16_nr16)               \
  X(gemm_dot_bf16_nr8)                \
  X(gemm_dot_bf16_nr4)                \
  X(rnn_tanh_f32_nr16)                \
  X(rnn_tanh_f32_nr8)                 \
  X(rnn_tanh_f32_nr4)                 \
  X(rnn_relu_f32_nr16)                \
  X(rnn_relu_f32_nr8)                 \
  X(rnn_relu_f32_nr4)                 \
  X(rnn_generic_f32_nr16)             \
  X(rnn_generic_f32_nr8)              \
  X(rnn_generic_f32_nr4)              \
  X(lstm_f32_nr16)                    \
  X(lstm_f32_nr8)                     \
  X(lstm_f32_nr4)                     \
  X(lstm_generic_f32_nr16)            \
  X(lstm_generic_f32_nr8)             \
  X(lstm_generic_f32_nr4)             \
  X(gru_linear_f32_nr16)              \
  X(gru_linear_f32_nr8)               \
  X(gru_linear_f32_nr4)               \
  X(gru_linear_generic_f32_nr16)      \
  X(gru_linear_generic_f32_nr8)       \
  X(gru_linear_generic_f32_nr4)       \
  X(gru_gates_f32_nr16)               \
  X(gru_gates_f32_nr8)                \
  X(gru_gates_f32_nr4)                \
  X(gru_gates_generic_f32_nr16)       \
  X(gru_gates_generic_f32_nr8)        \
  X(gru_gates_generic_f32_nr4)        \
  X(gru_output_f32_nr16)              \
  X(gru_output_f32_nr8)               \
  X(gru_output_f32_nr4)               \
  X(gru_output_generic_f32_nr16)      \
  X(gru_output_generic_f32_nr8)       \
  X(gru_output_generic_f32_nr4)       \
  X(act_plain_f32) X(act_f32) X(binary_f32) X(softmax_f32) X(depthwise_f32) X(matmul_f32) X(conv_nchw_f32) X(conv_winograd_f32)

#ifndef RNNPACK_REGISTRY_NO_OBJECTS /* for the library itself */
extern const rnnp_check rnnp_check_dataflow;
#define RNNP_DECLARE_(name) extern const rnnp_op rnnp_op_##name, rnnp_op_##name##_unchecked;
RNNP_FOR_EACH_OP(RNNP_DECLARE_)
#undef RNNP_DECLARE_
#define RNNP_DECLARE_(name) extern const rnnp_kernel_group rnnp_kernels_##name;
RNNP_FOR_EACH_KERNEL_GROUP(RNNP_DECLARE_)
#undef RNNP_DECLARE_
#endif

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_REGISTRY_H_ */
