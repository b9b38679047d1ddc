#!/usr/bin/env python3
"""Compiles what a firmware project gets, the folder of `rnnpack sources` and files of --one-file, as its build system would: every
optimisation level, the frameworks' language versions, gcc and clang. Objects are made, because instructions are only checked then.

compile_matrix.py RNNPACK SOURCE                 Cortex-M0+ and M4F: each level, language version and model occurs, for each compiler
compile_matrix.py RNNPACK SOURCE --pairs         the same targets: every level with every model, every language version with every model
compile_matrix.py RNNPACK SOURCE --all           the pairs for every target that has a compiler, and the folder at every level
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LEVELS = {"gcc": ["-O0", "-O1", "-O2", "-O3", "-Os", "-Og"], "clang": ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"]}
STANDARDS = ["gnu++14", "gnu++17", "gnu++20"]  # Zephyr and older Arduino cores; STM32Cube and PlatformIO; ESP-IDF
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
FLAGS = ["-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-ffunction-sections", "-fdata-sections"]


def arm(cpu, *more):
    return {"gcc": ["arm-none-eabi-g++", "-mthumb", f"-mcpu={cpu}", *more],
            "clang": ["clang++", "--target=arm-none-eabi", "-mthumb", f"-mcpu={cpu}", *more]}


def cortex_a(gcc, triple, *more):
    return {"gcc": [gcc, *more], "clang": ["clang++", f"--target={triple}", *more]}


def riscv(bits, arch, abi):
    return {"gcc": ["riscv64-unknown-elf-g++", f"-march={arch}", f"-mabi={abi}"],
            "clang": ["clang++-19", f"--target=riscv{bits}-unknown-elf", f"-march={arch}", f"-mabi={abi}"]}


def x86(*more):
    return {"gcc": ["g++", *more], "clang": ["clang++", *more]}


HARD = "-mfloat-abi=hard"
CHEAP = {"cortex-m0plus": arm("cortex-m0plus"), "cortex-m4f": arm("cortex-m4", HARD, "-mfpu=fpv4-sp-d16")}
TARGETS = {
    **CHEAP,
    "cortex-m0": arm("cortex-m0"),
    "cortex-m3": arm("cortex-m3"),
    "cortex-m7": arm("cortex-m7", HARD, "-mfpu=fpv5-d16"),
    "cortex-m33": arm("cortex-m33", HARD, "-mfpu=fpv5-sp-d16"),
    "cortex-m55": arm("cortex-m55", HARD),
    "cortex-a7": cortex_a("arm-linux-gnueabihf-g++", "arm-linux-gnueabihf", "-mcpu=cortex-a7", "-mfpu=neon-vfpv4"),
    "cortex-a9": cortex_a("arm-linux-gnueabihf-g++", "arm-linux-gnueabihf", "-mcpu=cortex-a9", "-mfpu=neon"),
    "aarch64": cortex_a("aarch64-linux-gnu-g++", "aarch64-linux-gnu", "-march=armv8-a"),
    "aarch64-dot": cortex_a("aarch64-linux-gnu-g++", "aarch64-linux-gnu", "-march=armv8.2-a+dotprod+i8mm+bf16"),
    "riscv32imc": riscv(32, "rv32imc", "ilp32"),
    "riscv32": riscv(32, "rv32imafc", "ilp32f"),
    "riscv64": riscv(64, "rv64imafdc", "lp64d"),
    "i386": {"gcc": ["g++", "-m32", "-msse2"]},
    "x86-64 reference": x86("-DRNNPACK_REFERENCE_KERNELS"),
    "x86-64-v3": x86("-march=x86-64-v3"),
    "x86-64-v4": x86("-march=x86-64-v4", "-mavx512vnni"),
}
MODELS = {"f32": ["--target", "cortex-m"], "int8": ["--target", "cortex-m4", "--weights", "int8"],
          "integer": ["--target", "cortex-m", "--arithmetic", "integer"]}


class Matrix:
    def __init__(self, tool, source, folder):
        self.folder, self.compiled, self.failed = folder, 0, []
        subprocess.run([tool, "sources", folder / "package"], check=True, stdout=subprocess.DEVNULL)
        self.package = sorted((folder / "package" / "src").rglob("*.cpp"))
        self.files = []
        model = source / "models" / "vad_gru"
        for name, options in MODELS.items():
            data = ["--calibrate", model / "golden.npz"] if name == "integer" else []
            subprocess.run([tool, "compile", model / "model.onnx", "--emit-c", folder / name, "--one-file", *options, *data], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.files.append(folder / f"{name}.cpp")

    def compile(self, command, path):
        done = subprocess.run([*command, f"-I{self.folder / 'package' / 'src'}", "-c", path, "-o", os.devnull], capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{' '.join(map(str, command))} {path.name}\n{done.stderr[:1500]}"

    def run(self, jobs, pool):
        for answer in pool.map(lambda job: self.compile(*job), jobs):
            self.compiled += 1
            if answer:
                self.failed.append(answer)

    def one_file_jobs(self, base, levels, pairs):
        if pairs:
            ways = [(STANDARDS[1], level, path) for level in levels for path in self.files]
            ways += [(standard, "-Os", path) for standard in STANDARDS if standard != STANDARDS[1] for path in self.files]
        else:  # another model and language version with each level
            count = len(self.files)
            ways = [(STANDARDS[(i + i // count) % len(STANDARDS)], level, self.files[i % count]) for i, level in enumerate(levels)]
        return [([*base, f"-std={standard}", level], path) for standard, level, path in ways]

    def target(self, name, kinds, pool, pairs, thorough):
        for kind, compiler in kinds.items():
            if shutil.which(compiler[0]) is None:
                print(f"left out: {name} with {kind}: there is no {compiler[0]}")
                continue
            base = [*compiler, *FLAGS, *WARNINGS] + (["-ffreestanding"] if "--target=arm-none-eabi" in compiler else [])
            before = self.compiled
            self.run(self.one_file_jobs(base, LEVELS[kind], pairs), pool)
            levels = LEVELS[kind] if thorough else ["-Os"] if kind == "gcc" else []
            # One target shows what the other files are; kernels differ.
            files = [path for path in self.package if pairs or name == next(iter(CHEAP)) or "kernels" in path.parts]
            self.run([([*base, f"-std={STANDARDS[0]}", level], path) for level in levels for path in files], pool)
            print(f"{name} with {kind}: {self.compiled - before} objects", flush=True)

    def older_language_is_named(self, compiler):
        done = subprocess.run([*compiler, "-std=gnu++11", "-fsyntax-only", self.files[0]], capture_output=True, text=True)
        if "rnnpack needs C++14 or later: compile with -std=gnu++17" not in done.stderr:
            self.failed.append(f"C++11 is not refused by name: {done.stderr[:500]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        matrix = Matrix(options.tool.resolve(), options.source.resolve(), pathlib.Path(folder))
        for name, kinds in (TARGETS if options.all else CHEAP).items():
            matrix.target(name, kinds, pool, options.pairs or options.all, options.all)
        matrix.older_language_is_named(["g++"])
    print("\n".join(matrix.failed[:8]))
    print(f"{matrix.compiled} objects compiled, {len(matrix.failed)} problems")
    sys.exit(0 if matrix.compiled and not matrix.failed else 1)


main()
