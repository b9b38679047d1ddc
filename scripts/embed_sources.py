#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The device library's sources as a C++ file of string literals: what `rnnpack sources` and `--one-file` write out again.

embed_sources.py SOURCE OUTPUT FILE...      files relative to SOURCE; OUTPUT is left alone when it would stay the same
"""
import pathlib
import sys

source, output, *files = sys.argv[1:]
lines = ["// Made by scripts/embed_sources.py.", '#include "compiler/emit/library_sources.h"', "", "namespace rnnp::compiler {", "",
         "const SourceFile kLibrarySources[] = {"]
for name in sorted(files):
    text = (pathlib.Path(source) / name).read_text()
    assert ')source"' not in text, name
    pieces = [text[at:at + 15000] for at in range(0, len(text), 15000)]  # compilers differ in how long a literal may be
    lines.append(f'    {{"{name}",\n' + "\n".join(f'R"source({piece})source"' for piece in pieces) + "},")
lines += ["};", "const size_t kLibrarySourceCount = sizeof kLibrarySources / sizeof kLibrarySources[0];", "", "}  // namespace rnnp::compiler", ""]
made, path = "\n".join(lines), pathlib.Path(output)
if not path.exists() or path.read_text() != made:
    path.write_text(made)
