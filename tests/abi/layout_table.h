/* layout_table.h -- what of a header the ABI pins. SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_TESTS_ABI_LAYOUT_TABLE_H_
#define RNNPACK_TESTS_ABI_LAYOUT_TABLE_H_

#include <stddef.h>

typedef enum layout_kind { LAYOUT_SIZE, LAYOUT_MEMBER, LAYOUT_VALUE } layout_kind;

typedef struct layout_row {
  layout_kind kind;
  const char *name;
  long long value; /* bytes, offset or the constant */
  size_t size;     /* of a member */
} layout_row;

/* Ends with a row without a name. */
extern const layout_row layout_v1[], layout_now[];

#endif /* RNNPACK_TESTS_ABI_LAYOUT_TABLE_H_ */
