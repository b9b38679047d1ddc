#!/usr/bin/env python3
"""check_image.py -- an image's promises: no heap is linked, the library adds no writable data, and of its operators and kernels only
those that the model's registry names are there. Usage: check_image.py NM IMAGE IMAGE.map MODEL.c [MOST_BYTES_OF_LIBRARY_CODE]"""
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
    return sorted(linked - asked) + sorted(f"kernel {k}" for k in kernels - wanted)


def main():
    nm, image, link_map, model_source = sys.argv[1:5]
    most_code = int(sys.argv[5]) if len(sys.argv) > 5 else None
    names = {line.split()[-1] for line in subprocess.run([nm, image], check=True, capture_output=True, text=True).stdout.splitlines() if line}
    kinds = sum_kinds(library_sections(link_map))
    problems = [f"{name} is linked" for name in sorted(HEAP & names)]
    problems += [f"the library has {kinds[k]} bytes of .{k}" for k in ("data", "bss", "other") if kinds[k]]
    problems += [f"{name} is linked for nothing" for name in unneeded(names, model_source)]
    if most_code is not None and kinds["text"] > most_code:
        problems.append(f"the library's code takes {kinds['text']} bytes, more than {most_code}")
    for p in problems:
        print(p)
    print(f"{image}: library {kinds['text']} bytes of code, {kinds['rodata']} of constants, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
