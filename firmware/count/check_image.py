#!/usr/bin/env python3
"""check_image.py -- an image's promises: no heap is linked, and the library adds no writable data.
Usage: check_image.py NM IMAGE IMAGE.map"""
import subprocess
import sys

from link_map import library_sections, sum_kinds

HEAP = {"malloc", "calloc", "realloc", "free", "sbrk", "_sbrk", "_malloc_r", "aligned_alloc", "posix_memalign"}


def main():
    nm, image, link_map = sys.argv[1:4]
    names = {line.split()[-1] for line in subprocess.run([nm, image], check=True, capture_output=True, text=True).stdout.splitlines() if line}
    kinds = sum_kinds(library_sections(link_map))
    problems = [f"{name} is linked" for name in sorted(HEAP & names)]
    problems += [f"the library has {kinds[k]} bytes of .{k}" for k in ("data", "bss", "other") if kinds[k]]
    for p in problems:
        print(p)
    print(f"{image}: library {kinds['text']} bytes of code, {kinds['rodata']} of constants, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
