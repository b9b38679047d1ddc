/* image_data.h -- what an image is fed and what it should answer; written by tools/write_image_data on the building machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_FIRMWARE_IMAGE_DATA_H_
#define RNNPACK_FIRMWARE_IMAGE_DATA_H_

#include <stdint.h>

#define IMAGE_SAMPLE_RATE 16000u

extern const uint32_t image_frames, image_in_elems, image_out_elems, image_macs; /* macs: multiply-accumulates of a step */
extern const int16_t image_samples[];                                            /* [frames][in_elems], to be divided by 32768 */
extern const float image_expected[]; /* [frames][out_elems], from the building machine's library */

#endif /* RNNPACK_FIRMWARE_IMAGE_DATA_H_ */
