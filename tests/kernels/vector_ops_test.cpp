// vector_ops_test.cpp -- two-operand arithmetic and softmax.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_support.h"
