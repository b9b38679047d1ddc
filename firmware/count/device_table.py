#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""device_table.py -- the tables of docs/DEVICES.md and bench/notebook/firmware.md, measured: flash, RAM, stack and instructions of every firmware image built."""
import argparse
import json
import os
import re
import subprocess
import tempfile

from count_instructions import run_counted
from link_map import library_sections, model_bytes, sum_kinds
from stack_bound import stack_bound

HERE = os.path.dirname(os.path.abspath(__file__))


def build_plugin(folder):
    path = os.path.join(folder, "libinstruction_count.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "instruction_count.c"), "-o", path], check=True)
    return path


def cache_value(build, name):
    for line in open(os.path.join(build, "CMakeCache.txt")):
        if line.startswith(name + ":"):
            return line.strip().split("=", 1)[1]
    raise SystemExit(f"{build} has no {name}")


def images_of(build):
    path = os.path.join(build, "firmware", "images.json")
    if not os.path.isfile(path):
        raise SystemExit(f"there is no {path}: build the firmware images there first (make firmware)")
    return json.load(open(path))


def measure(build, image, plugin):
    nm = cache_value(build, "CMAKE_NM")
    output, steps, sums = run_counted(image["emulator"], image["file"], plugin, nm)
    facts = {k: int(re.search(p, output).group(1)) for k, p in
             (("macs", r"(\d+) multiply"), ("session", r"session (\d+) bytes"), ("stack", r"stack (\d+) bytes"), ("error", r"at most (\d+) e-9"))}
    kinds = sum_kinds(library_sections(image["file"] + ".map"))
    facts.update(code=kinds["text"], constants=kinds["rodata"], writable=kinds["data"] + kinds["bss"],
                 weights=model_bytes(image["file"] + ".map", image["model"]), instructions=sum(sums.values()) / steps,
                 bound=max(stack_bound(build, image["file"], nm).values(), default=0), functions={name: n / steps for name, n in sums.items()}, steps=steps)
    return facts


def print_functions(title, facts):
    print(f"\n{title}: instructions per step by function\n\n| function | instructions | share |\n|---|--:|--:|")
    for name, n in sorted(facts["functions"].items(), key=lambda item: -item[1])[:12]:
        short = re.sub(r"rnnp::|\(anonymous namespace\)::|^void |float const\* ", "", name)
        short = re.sub(r"\((?!rnnp).*", "", short) if "<" not in short else re.sub(r">\(.*", ">", short)
        print(f"| `{short}` | {n:.0f} | {100 * n / facts['instructions']:.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", action="store_true", help="also the functions of each image's step")
    parser.add_argument("builds", nargs="+", metavar="BUILD_FOLDER", help="with firmware images (make firmware)")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        plugin = build_plugin(folder)
        for build in options.builds:
            for image in images_of(build):
                rows.append((image, measure(build, image, plugin)))
    print("| board | model | library code | constants | .data+.bss | weights | session | stack painted | bound | instructions a step | per MAC | error |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for image, f in rows:
        print(f"| {image['cpu']} | {image['model']} | {f['code']} | {f['constants']} | {f['writable']} | {f['weights']} | {f['session']} | {f['stack']} | {f['bound']} "
              f"| {f['instructions']:.0f} | {f['instructions'] / f['macs']:.3f} | {f['error']}e-9 |")
    if options.functions:
        for image, f in rows:
            print_functions(f"{image['cpu']}, {image['model']}", f)


if __name__ == "__main__":
    main()
