#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rnnpack_kernel_bench runs: the smallest case of each kernel that it lists. No time is looked at.

every_family_test.py RNNPACK_KERNEL_BENCH
"""
import json
import re
import subprocess
import sys
import unittest

BENCH = sys.argv[1]
# Of every CPU, for the reference kernels run everywhere.
KINDS = {f"{kind}_ref" for kind in (
    "gemm_f32_nr16", "gemm3_f32_nr16", "gemm4_f32_nr16", "gemm_f16_nr16", "gemm_bf16_nr16", "gemm_dot_bf16_nr16", "gemm_i8_nr16", "gemm_i4_nr16", "rnn_tanh_f32_nr16",
    "rnn_relu_f32_nr16", "rnn_generic_f32_nr16", "lstm_f32_nr16", "lstm_generic_f32_nr16", "gru_linear_f32_nr16", "gru_linear_generic_f32_nr16",
    "gru_gates_f32_nr16", "gru_gates_generic_f32_nr16", "gru_output_f32_nr16", "gru_output_generic_f32_nr16", "act_f32")}


def bench(*options):
    done = subprocess.run([BENCH, *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(options)[:300]}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class KernelBench(unittest.TestCase):
    def test_the_smallest_case_of_each_kernel_runs(self):
        first = {}
        for case in re.findall(r"^\w+/.*$", bench("--benchmark_list_tests"), re.M):
            first.setdefault(case.split("/")[0], re.sub(r"/min_time.*", "", case))
        self.assertLessEqual(KINDS, set(first))
        ran = bench(f"--benchmark_filter=^({'|'.join(first.values())})/", "--benchmark_format=json")
        rows = json.loads(ran[ran.index("{\n"):])["benchmarks"]
        self.assertEqual({row["name"].split("/")[0] for row in rows}, set(first))
        self.assertFalse([row["name"] for row in rows if row.get("error_occurred")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
