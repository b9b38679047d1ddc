#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_stack.py -- every function of the library outside kernels has a bounded frame of at most 512 bytes (1024 where
pointers take eight), read from the .su files that -fstack-usage writes beside the objects."""
import argparse
import os
import sys

SEEN_AT_LEAST = 50  # functions; fewer means that the files were not found


def frames(build):
    """(function, bytes, how) of every function of the library."""
    for top in ("src", "platform"):
        for folder, _, files in os.walk(os.path.join(build, top)):
            for name in sorted(files):
                if name.endswith(".su") and "rnnpack_kernels" not in folder:
                    for line in open(os.path.join(folder, name)):
                        place, size, how = line.rstrip("\n").rsplit("\t", 2)
                        yield place, int(size), how


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder of a CMake build with -fstack-usage (the bare-metal toolchains have it)")
    parser.add_argument("pointer_bytes", nargs="?", type=int, choices=(4, 8), default=4, help="of the target; default 4")
    options = parser.parse_args()
    limit = 128 * options.pointer_bytes
    rows = list(frames(options.build))
    problems = [f"{place}: {size} bytes, {how}" for place, size, how in rows if size > limit or "dynamic" in how and "bounded" not in how]
    if len(rows) < SEEN_AT_LEAST:
        problems.append(f"only {len(rows)} functions have a .su line in {options.build}: is it a build folder, compiled with -fstack-usage?")
    for p in problems:
        print(p)
    worst = max(rows, key=lambda r: r[1], default=("none", 0, ""))
    print(f"{len(rows)} functions, largest frame {worst[1]} bytes: {worst[0]}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
