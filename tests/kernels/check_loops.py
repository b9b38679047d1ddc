#!/usr/bin/env python3
"""check_loops.py OBJDUMP ARCHIVE -- the inner loops of products keep their sums in registers, in the library as it was built.

Bytes (AVX-512 and AVX VNNI, AVX2): GCC 12 copies an accumulator before every vpdpbusd, and after every addition, that it is given as an
intrinsic. Innermost loops that multiply int8 have no copy from register to register and no store; those of blocks and pairs put their
factors together from several places, which takes moves, and are not looked at. Floats: innermost loops of which a quarter is
multiply-adds store fewer vectors on the stack than one for five of these; a loop over sums that is not unrolled puts all of them there.
SPDX-License-Identifier: Apache-2.0"""
import re
import subprocess
import sys

BYTES = ("vpdpbusd", "vpmaddubsw")


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


def innermost_loops(body):
    """The instructions of each loop that has no loop within it: [(mnemonic, operands)]"""
    at = {address: i for i, (address, _, _) in enumerate(body)}
    loops = []
    for i, (_, op, operands) in enumerate(body):
        m = re.match(r"(?:0x)?([0-9a-f]+)", operands) if op.startswith("j") else None
        if m and int(m.group(1), 16) in at and at[int(m.group(1), 16)] <= i:
            loops.append((at[int(m.group(1), 16)], i))
    inner = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    return [[(op, operands) for _, op, operands in body[first:last + 1]] for first, last in inner]


def moved(op, operands):
    """A copy from register to register, or a store."""
    return bool(re.match(r"v?mov(dq|ap|up)", op)) and not re.match(r"[^,]*\(", operands)


def put_on_stack(op, operands):
    return moved(op, operands) and re.search(r",-?(0x[0-9a-f]+)?\(%r[sb]p\)$", operands) is not None


def rule_of(file, loop):
    """The name of what a loop has to keep to, what breaks it, and how often that may be; None: nothing."""
    if any(op in BYTES for op, _ in loop):
        return None if "gemm_bsr" in file or "gemm_ell" in file else ("bytes", moved, 0)
    added = sum(op.startswith("vfmadd") for op, _ in loop)
    return ("floats", put_on_stack, (added - 1) // 5) if added * 4 >= len(loop) else None


def main():
    objdump, archive = sys.argv[1:3]
    loops, wrong = {"bytes": {}, "floats": {}}, []
    for (file, name), body in functions(objdump, archive).items():
        for loop in innermost_loops(body):
            rule = rule_of(file, loop)
            if rule is None:
                continue
            kind, breaks, most = rule
            loops[kind][file] = loops[kind].get(file, 0) + 1
            found = [f"{file}: {name}: {op} {operands}" for op, operands in loop if breaks(op, operands)]
            wrong += found if len(found) > most else []
    for w in wrong:
        print(w)
    print(f"{loops}, {len(wrong)} moves of vectors in them")
    seen = all(sum(of.values()) >= 40 and len(of) >= 6 for of in loops.values())
    return 0 if seen and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
