#!/usr/bin/env python3
"""check_byte_loops.py OBJDUMP ARCHIVE -- the inner loops of the kernels on bytes (AVX-512 and AVX VNNI, AVX2) move no vector about: GCC 12
copies an accumulator before every vpdpbusd, and after every addition, that it is given as an intrinsic. Innermost loops that multiply bytes are looked at, in the
library as it was built: no copy from register to register, no store. Those of blocks and pairs put their factors together from several places,
which takes moves, and are not looked at. SPDX-License-Identifier: Apache-2.0"""
import re
import subprocess
import sys


def functions(objdump, path):
    """{(object, name): [(address, mnemonic, operands)]}"""
    out, file, name = {}, "", None
    for line in subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout.splitlines():
        object_ = re.match(r"^(\S+):\s+file format", line)
        if object_:
            file = object_.group(1)
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            name = (file, head.group(1))
            out[name] = []
            continue
        m = re.match(r"^\s*([0-9a-f]+):\s+(?:\{vex\}\s+)?(\S+)\s*(.*)$", line)
        if m:
            out[name].append((int(m.group(1), 16), m.group(2), m.group(3)))
    return out


def multiplying_loops(body):
    """Innermost loops that multiply bytes: (first, last) places of instructions, no loop within them."""
    at = {address: i for i, (address, _, _) in enumerate(body)}
    loops = []
    for i, (_, op, operands) in enumerate(body):
        m = re.match(r"(?:0x)?([0-9a-f]+)", operands) if op.startswith("j") else None
        if m and int(m.group(1), 16) in at and at[int(m.group(1), 16)] <= i:
            loops.append((at[int(m.group(1), 16)], i))
    inner = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    return [l for l in inner if any(op in ("vpdpbusd", "vpmaddubsw") for _, op, _ in body[l[0]:l[1] + 1])]


def moved(op, operands):
    """A copy from register to register, or a store."""
    if not re.match(r"v?mov(dq|ap|up)", op):
        return False
    return not re.match(r"[^,]*\(", operands)


def main():
    objdump, archive = sys.argv[1:3]
    loops, wrong = {}, []
    for (file, name), body in functions(objdump, archive).items():
        if "gemm_blocks" in file or "gemm_pairs" in file:
            continue
        for first, last in multiplying_loops(body):
            loops[file] = loops.get(file, 0) + 1
            wrong += [f"{file}: {name}: {op} {operands}" for _, op, operands in body[first:last + 1] if moved(op, operands)]
    for w in wrong:
        print(w)
    print(f"{loops}, {len(wrong)} moves of vectors in them")
    return 1 if wrong or sum(loops.values()) < 40 or len(loops) < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
