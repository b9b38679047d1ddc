# SPDX-License-Identifier: Apache-2.0
"""link_map.py -- what of each archive and object was linked, read from a GNU ld map: bytes by kind of section and by function."""
import re
from collections import defaultdict

SECTION = re.compile(r"^ (\.[\w.$*-]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")
KINDS = (("text", (".text", ".init", ".fini")), ("rodata", (".rodata", ".ARM.ex", ".srodata", ".data.rel.ro")),
         ("data", (".data", ".sdata")), ("bss", (".bss", ".sbss", "COMMON")))


def kind_of(section):
    for kind, prefixes in KINDS:
        if section.startswith(prefixes):
            return "rodata" if section.startswith(".data.rel.ro") else kind
    return "other"


def linked_sections(path):
    """(input section, bytes, file) of everything that is in the image."""
    text = open(path).read()
    text = text[text.index("Linker script and memory map"):]
    text = re.sub(r"^( \.\S+)\n\s+0x", r"\1 0x", text, flags=re.M)  # long names have a line of their own
    for line in text.splitlines():
        m = SECTION.match(line)
        if m and int(m.group(3), 16) > 0 and not m.group(1).startswith((".debug", ".comment", ".note", ".riscv.attr", ".ARM.attr", ".stab")):
            yield m.group(1), int(m.group(3), 16), m.group(4)


ARCHIVE = re.compile(r"librnnpack[\w.-]*\.a\b")


def library_sections(path):
    return [s for s in linked_sections(path) if ARCHIVE.search(s[2])]


def sum_kinds(sections):
    sums = defaultdict(int)
    for section, size, _ in sections:
        sums[kind_of(section)] += size
    return sums


def model_bytes(path, model):
    return sum(size for section, size, _ in linked_sections(path) if section == f".rodata.{model}")
