/* instruction_count.c -- a QEMU plugin that counts executed instructions by address, between the guest's calls of two functions.
 *   -plugin libinstruction_count.so,begin=0xADDRESS,end=0xADDRESS,out=FILE
 * FILE gets a line "windows N", then "ADDRESS COUNT" for every instruction that ran inside a window. One CPU only.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin_api.h"

#define SLOTS (1u << 18) /* addresses; a power of two */

struct slot {
  uint64_t address, inside, before, total;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct slot *slots;
static uint64_t begin_address, end_address, windows;
static int open_window;
static char out_path[1024];

static struct slot *slot_of(uint64_t address) {
  uint32_t i = (uint32_t)(address >> 1) * 2654435761u & (SLOTS - 1);
  while (slots[i].address != 0 && slots[i].address != address + 1) i = (i + 1) & (SLOTS - 1);
  slots[i].address = address + 1; /* 0 marks a free slot */
  return &slots[i];
}

static void on_begin(unsigned cpu, void *arg) {
  uint32_t i;
  (void)cpu, (void)arg;
  for (i = 0; i < SLOTS; ++i) slots[i].before = slots[i].total;
  open_window = 1;
}

static void on_end(unsigned cpu, void *arg) {
  uint32_t i;
  (void)cpu, (void)arg;
  if (!open_window) return;
  for (i = 0; i < SLOTS; ++i) slots[i].inside += slots[i].total - slots[i].before;
  open_window = 0;
  ++windows;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  size_t i;
  (void)id;
  for (i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
    const uint64_t address = qemu_plugin_insn_vaddr(insn);
    if (address == begin_address) qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
    if (address == end_address) qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, NULL);
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &slot_of(address)->total, 1);
  }
}

static void write_counts(qemu_plugin_id_t id, void *arg) {
  FILE *file = fopen(out_path, "w");
  uint32_t i;
  (void)id, (void)arg;
  if (file == NULL) return;
  fprintf(file, "windows %llu\n", (unsigned long long)windows);
  for (i = 0; i < SLOTS; ++i) {
    if (slots[i].inside != 0)
      fprintf(file, "%llx %llu\n", (unsigned long long)(slots[i].address - 1), (unsigned long long)slots[i].inside);
  }
  fclose(file);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
  int i;
  (void)info;
  for (i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "begin=", 6) == 0) begin_address = strtoull(argv[i] + 6, NULL, 0);
    if (strncmp(argv[i], "end=", 4) == 0) end_address = strtoull(argv[i] + 4, NULL, 0);
    if (strncmp(argv[i], "out=", 4) == 0) snprintf(out_path, sizeof out_path, "%s", argv[i] + 4);
  }
  slots = calloc(SLOTS, sizeof *slots);
  if (slots == NULL || out_path[0] == 0) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, write_counts, NULL);
  return 0;
}
