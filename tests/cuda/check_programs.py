#!/usr/bin/env python3
"""check_programs.py NVCC CXX CC SOURCE INCLUDES -- the programs of make test-cuda and make bench-cuda compile, where there is an nvcc:
those of the host with CUDA's headers (cuDNN's comparison where its header is), gpu_check and phase_times by nvcc, which are also linked
and run: right where they find a GPU, or they say that there is none and end with 77. INCLUDES: folders, apart by commas.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HOST = ["src/cuda/gpu_cudart.cpp", "tests/cuda/has_gpu.c", "tests/cuda/jetson_program.c", "tests/cuda/gpu_test_main.cpp",
        "bench/cuda/bench_cuda.cpp", "bench/cuda/cudnn_absent.cpp", "bench/cuda/cudnn_peer.cpp"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def must(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stdout + done.stderr)


def main():
    nvcc, cxx, cc, source, includes = sys.argv[1:]
    source = pathlib.Path(source)
    folders = [f"-I{one}" for one in includes.split(",")]
    toolkit = pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parent.parent / "include"
    if not (toolkit / "cuda_runtime_api.h").exists():
        print("no cuda_runtime_api.h beside nvcc: nothing was compiled")
        return 77
    for name in HOST:
        if name.endswith("cudnn_peer.cpp") and not (toolkit / "cudnn.h").exists():
            print("no cudnn.h: the comparison with cuDNN was not compiled")
            continue
        compiler = [cc, "-std=c99"] if name.endswith(".c") else [cxx, "-std=c++17"]
        must([*compiler, "-fsyntax-only", *WARNINGS, *folders, f"-I{source / 'tests'}", "-isystem", str(toolkit), str(source / name)])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("gpu_check", "phase_times"):
            program = pathlib.Path(folder) / name
            must([nvcc, "-std=c++17", "--expt-relaxed-constexpr", "--fmad=false", "-arch=sm_90", "-o", str(program), *folders,
                  str(source / f"bench/cuda/{name}.cu")])
            done = subprocess.run([program], capture_output=True, text=True)
            print(done.stdout)
            if done.returncode != 0 and not (done.returncode == 77 and "nothing was run" in done.stdout):
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
