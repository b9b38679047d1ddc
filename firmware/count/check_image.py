#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_image.py -- an image's promises: no heap is linked, the library adds no writable data, and of its operators and kernels only
those that the model's registry names are there."""
import argparse
import os
import re
import subprocess
import sys

from link_map import library_sections, sum_kinds

HEAP = {"malloc", "calloc", "realloc", "free", "sbrk", "_sbrk", "_malloc_r", "aligned_alloc", "posix_memalign"}


def unneeded(names, model_source):
    """Operators, kernel groups and kernels that are linked though the registry does not ask for them. A group has one kernel here: the
    CPU is known."""
    asked = set(re.findall(r"&(rnnp_(?:op|kernels)_\w+)", open(model_source).read()))
    linked = {n for n in names if re.match(r"rnnp_(op|kernels)_", n)}
    kernels = {re.search(r"kKernel_(\w+)_[a-z0-9]+?E?$", n).group(1) for n in names if "kKernel_" in n}
    wanted = {n[len("rnnp_kernels_"):] for n in asked if n.startswith("rnnp_kernels_")}
    wanted = {re.sub(r"^gemm_i8_([a-z]\w*?)_(?=nr)", r"gemm_\1_i8_", n) for n in wanted}  # groups are named after formats
    return sorted(linked - asked) + sorted(f"kernel {k}" for k in kernels - wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nm", help="the toolchain's nm, e.g. arm-none-eabi-nm")
    parser.add_argument("image", help="the linked program")
    parser.add_argument("map", help="its link map (-Wl,-Map,FILE)")
    parser.add_argument("model", help="the model's C file, as rnnpack compile --emit-c wrote it")
    parser.add_argument("most_code", nargs="?", type=int, help="most bytes of the library's code")
    options = parser.parse_args()
    image, most_code = options.image, options.most_code
    for path in (image, options.map, options.model):
        if not os.path.isfile(path):
            parser.error(f"there is no file {path}")
    names = {line.split()[-1] for line in subprocess.run([options.nm, image], check=True, capture_output=True, text=True).stdout.splitlines() if line}
    kinds = sum_kinds(library_sections(options.map))
    problems = [f"{name} is linked" for name in sorted(HEAP & names)]
    problems += [f"the library has {kinds[k]} bytes of .{k}" for k in ("data", "bss", "other") if kinds[k]]
    problems += [f"{name} is linked for nothing" for name in unneeded(names, options.model)]
    if kinds["text"] == 0:
        problems.append(f"{options.map} names no code of librnnpack*.a: is the library's archive called otherwise?")
    if most_code is not None and kinds["text"] > most_code:
        problems.append(f"the library's code takes {kinds['text']} bytes, more than {most_code}")
    for p in problems:
        print(p)
    print(f"{image}: library {kinds['text']} bytes of code, {kinds['rodata']} of constants, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
