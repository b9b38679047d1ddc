/* shim.h -- what Swift imports. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <rnnpack/threads.h>
