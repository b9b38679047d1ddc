/* qemu_plugin_api.h -- the part of QEMU's public TCG plugin interface, version 1, that instruction_count.c uses, declared from its
 * documentation (docs/devel/tcg-plugins.rst of QEMU): distributions do not package QEMU's own header.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_FIRMWARE_COUNT_QEMU_PLUGIN_API_H_
#define RNNPACK_FIRMWARE_COUNT_QEMU_PLUGIN_API_H_

#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION 1
#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t; /* what the emulator is; not needed here */
struct qemu_plugin_tb;                  /* a block of guest code, being translated */
struct qemu_plugin_insn;                /* one instruction of it */

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu_index, void *userdata);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t callback,
                                            enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *pointer,
                                                uint64_t immediate);

#endif /* RNNPACK_FIRMWARE_COUNT_QEMU_PLUGIN_API_H_ */
