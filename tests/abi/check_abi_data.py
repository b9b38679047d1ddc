#!/usr/bin/env python3
"""check_abi_data.py ROOT CLANG -- rnnpack.abi.json is what the headers say, every language's declarations are what it says, its
offsets and sizes are what a compiler of each target gives, and the API reference has no broken link. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

root, clang = pathlib.Path(sys.argv[1]), sys.argv[2]
# Those of 32 bits that align 64-bit integers to 8 bytes, and i386, which does not.
TARGETS = {"x86_64-linux-gnu": ("64",), "aarch64-linux-gnu": ("64",), "armv7-linux-gnueabihf": ("32",), "wasm32-unknown-unknown": ("32",),
           "i386-linux-gnu": ("i386", "32")}
failures = []


def ran(what, *command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        failures.append(f"{what}: {done.stdout}{done.stderr}")


def asserts(abi, keys):
    """A C file that compiles where the file is right."""
    def of(sizes):
        return next(sizes[key] for key in keys if key in sizes)

    lines = ["#include <stddef.h>"] + [f"#include <rnnpack/{header}>" for header in abi["headers"]]
    for struct in abi["structs"]:
        name = struct["name"]
        lines.append(f'_Static_assert(sizeof({name}) == {of(struct["size"])} && _Alignof({name}) == {of(struct["align"])}, "{name}");')
        lines += [f'_Static_assert(offsetof({name}, {m["name"]}) == {of(m["offset"])}, "{name}.{m["name"]}");' for m in struct["members"]]
    values = abi["constants"] + [value for enum in abi["enums"] for value in enum["values"]]
    return "\n".join(lines + [f'_Static_assert({one["name"]} == {one["value"]}{"u" if one["value"] > 2**31 - 1 else ""}, "{one["name"]}");' for one in values]), len(lines)


def check_reference(folder):
    """The pages of `make docs`: every link leads to a name."""
    ran("the reference", sys.executable, "-B", str(root / "scripts/abi/generate.py"), "--html", folder)
    pages = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.html")}
    for name, text in pages.items():
        for page, anchor in re.findall(r'href="([^"#]+)#?([^"]*)"', text):
            if page not in pages or anchor and f'id="{anchor}"' not in pages[page]:
                failures.append(f"{name} links to {page}#{anchor}, which is not there")
    if len(pages) < 10:
        failures.append(f"{len(pages)} pages")


def main():
    ran("the description", sys.executable, "-B", str(root / "scripts/abi/describe.py"), "--check")
    ran("the declarations", sys.executable, "-B", str(root / "scripts/abi/generate.py"), "--check")
    abi = json.loads((root / "include/rnnpack/rnnpack.abi.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        check_reference(folder)
    count = 0
    for target, keys in TARGETS.items():
        text, count = asserts(abi, keys)
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(text)
            file.flush()
            ran(target, clang, f"--target={target}", "-std=c11", "-ffreestanding", "-fsyntax-only", "-Wall", "-Werror", "-I", str(root / "include"), file.name)
    print("\n".join(failures) or f"{count} sizes and offsets on {len(TARGETS)} targets")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
