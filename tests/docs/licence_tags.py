#!/usr/bin/env python3
"""licence_tags.py SOURCE -- every C and C++ file of the tree has its licence tag, name and value in one line, where scanners look."""
import pathlib
import re
import subprocess
import sys

TAG = re.compile(r"SPDX-License-Identifier: Apache-2\.0( \*/)?$", re.M)


def main():
    source = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", source, "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h", "*.cpp", "*.inc"],
                            check=True, capture_output=True, text=True).stdout.split()
    files = [source / name for name in listed if (source / name).is_file()]
    bad = [path for path in files if not TAG.search(path.read_text())]
    for path in bad:
        print(f"{path}: no line ends with 'SPDX-License-Identifier: Apache-2.0'")
    print(f"{len(files)} files, {len(bad)} without a tag")
    return 1 if bad or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
