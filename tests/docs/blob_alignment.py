#!/usr/bin/env python3
"""blob_alignment.py README CC CXX -- the remedies of README's table do what they say: each is compiled around a blob, which lies on 64
bytes, in a hundred copies where an allocator gives them. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys
import tempfile

readme, cc, cxx = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], sys.argv[3]
rows = re.findall(r"^\| ([^|]+?) \| (.+) \|$", readme[readme.index("| bytes from |"):].split("\n\n")[0], re.M)[1:]
remedies = {name: re.findall(r"`([^`]+)`", text) for name, text in rows}
C = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\nconst size_t bytes = 1000;\n"
TEST = "int main(void) { for (int i = 0; i < 100; ++i) { void *p = malloc(24 + i); if (p == NULL) return 2; %s } return 0; }\n"


def row(words):
    return next(found for name, found in remedies.items() if words in name)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    def runs(what, compiler, text, *more):
        file = folder / ("a.cpp" if compiler is cxx else "a.c")
        file.write_text(text)
        subprocess.run([*compiler.split(), "-Wall", file, *more, "-o", folder / "a"], check=True, cwd=folder)
        subprocess.run([folder / "a"], check=True)
        print(f"{what}: ok")

    (folder / "blob").write_bytes(b"x" * 1000)
    buffer = row("a buffer")[0]
    runs("buffer", cc, C + TEST % f"void *q = {buffer}; if ((uintptr_t)q % 64) return 1;")
    begin, end = row("an array")[-2:]
    runs("array", cc, C + f"static const char before = 1;\n{begin} 1, 2, 3 {end}\nint main(void) {{ return (uintptr_t)blob % 64 + before - 1; }}\n")
    types, vector = row("std::vector")[-1].split("; std::", 1)
    runs("vector", cxx, C + f"#include <vector>\n{types};\n" + TEST % f"std::{vector} if ((uintptr_t)blob.data() % 64) return 1; free(p);", "-std=c++17")
    balign = row(".incbin")[-1]
    runs("incbin", cc, C + f'__asm__(".pushsection .rodata\\n.byte 1\\n{balign}\\nblob: .incbin \\"blob\\"\\n.popsection");\nextern const char blob[];\n'
         "int main(void) { return (uintptr_t)blob % 64; }\n", "-no-pie")
    subprocess.run(["ld", "-r", "-b", "binary", "blob", "-o", "blob.o"], check=True, cwd=folder)
    subprocess.run(row("objcopy")[-1], check=True, cwd=folder, shell=True)
    runs("objcopy", cc, C + "static char before = 1;\nextern const char _binary_blob_start[];\n"
         "int main(void) { return (uintptr_t)_binary_blob_start % 64 + before - 1; }\n", "blob.o")
    runs("any allocator", cc, C + TEST % f"char *q = {row('any allocator')[-1]}; if ((uintptr_t)q % 64 || q - (char *)p > 63) return 1;")
