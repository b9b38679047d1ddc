/* measure.h -- marks in the program for scripts/count_instructions.py: it counts what runs between a begin and an end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_FIRMWARE_MEASURE_H_
#define RNNPACK_FIRMWARE_MEASURE_H_

void measure_begin(void);
void measure_end(void);

#endif /* RNNPACK_FIRMWARE_MEASURE_H_ */
