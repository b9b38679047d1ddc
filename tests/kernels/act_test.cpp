// act_test.cpp -- activations against f64.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_support.h"
