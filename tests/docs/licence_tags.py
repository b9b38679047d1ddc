#!/usr/bin/env python3
"""licence_tags.py SOURCE -- every source file and script of the tree has its licence tag, name and value in one line, where scanners
look. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys

TAG = re.compile(r"SPDX-License-Identifier: Apache-2\.0(\"\"\"| \*/)?$", re.M)
SUFFIXES = {".c", ".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".sh", ".cmake", ".toml"}
NAMES = {"CMakeLists.txt", "Makefile", "Kconfig"}


def is_source(path):
    if path.is_symlink() or not path.is_file():
        return False
    return path.suffix in SUFFIXES or path.name in NAMES or path.name.endswith((".cmake.in", ".pc.in")) or path.read_bytes()[:2] == b"#!"


def main():
    source = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\0")
    files = [source / name for name in listed if name and name[0] != "." and is_source(source / name)]
    bad = [path for path in files if not TAG.search(path.read_text())]
    for path in bad:
        print(f"{path}: no line ends with 'SPDX-License-Identifier: Apache-2.0'")
    print(f"{len(files)} files, {len(bad)} without a tag")
    return 1 if bad or len(files) < 700 else 0


if __name__ == "__main__":
    sys.exit(main())
