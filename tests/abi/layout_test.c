/* layout_test.c -- today's header compared with that of ABI 1.0: every member where it was, every constant what it was; structs
 * with a struct_bytes may only have grown, the others not at all. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "layout_table.h"

static int has_struct_bytes(const char *type) {
  const layout_row *row;
  const size_t length = strlen(type);
  for (row = layout_v1; row->name != NULL; ++row) {
    if (strncmp(row->name, type, length) == 0 && strcmp(row->name + length, ".struct_bytes") == 0) return 1;
  }
  return strcmp(type, "rnnp_buffer") == 0 || strcmp(type, "rnnp_const_buffer") == 0; /* rnnp_io.buffer_bytes is their size */
}

static int fits(const layout_row *old, const layout_row *now) {
  if (old->kind == LAYOUT_SIZE && has_struct_bytes(old->name)) return now->value >= old->value;
  return now->value == old->value && now->size == old->size;
}

int main(void) {
  int rows = 0, wrong = 0;
  for (; layout_v1[rows].name != NULL; ++rows) {
    if (fits(&layout_v1[rows], &layout_now[rows])) continue;
    printf("%s: was %lld, is %lld\n", layout_v1[rows].name, layout_v1[rows].value, layout_now[rows].value);
    ++wrong;
  }
  printf("%d sizes, members and constants, %d wrong\n", rows, wrong);
  return wrong != 0 || rows < 90;
}
