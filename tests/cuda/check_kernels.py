#!/usr/bin/env python3
"""check_kernels.py NVCC ARCH BUDGETS SOURCE INCLUDES [--nvdisasm PROGRAM] -- every kernel compiled for one architecture, within its
budget: as many blocks on an SM as BUDGETS says for names that begin so (of several, the longest), whose threads share 64 K
registers; nothing on the stack, nothing spilled. With a disassembler, of the machine code too: no local memory; of the resident
kernels, products on the matrix units, weights loaded 16 bytes wide before the first poll and never after it, words stored and loaded
as one, few instructions and no division between a word's arrival and who multiplies it; of those that read weights from memory, so many
loads in flight. Kernels of clusters are for sm_90 and later, and poll nothing. INCLUDES: folders, apart by commas. SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NAME = re.compile(r"rnnp::cuda::(\w+(?:<[^>]*>)?)\(rnnp")
REGISTERS, THREADS, REGISTERS_AT_ONCE = 65536, 256, 8
# From the last load of a poll to where the first word is in shared memory, or another lane: the comparison of four pairs at most.
AFTER_POLL = 48
# Loads of 8 bytes and more without an instruction between them that needs one of theirs: of weights on their way to shared memory,
# and in kernels that read them from memory.
TO_SHARED = 8
# (The small kernels of int4 have one on sm_110, where ptxas moves each load to its product.)
IN_FLIGHT = {"product_mma<kI4": 1, "step_mma<kI4": 1, "product_mma": 8, "product_wide": 8, "product_f32": 8, "step_mma": 8, "step_f32": 8}
CELLS = {"0": "kRnn", "1": "kLstm", "2": "kGru", "3": "kGruLinear"}
WEIGHTS = {"0": "kF32", "1": "kF16", "2": "kBf16", "3": "kI8", "4": "kBlocks", "5": "kByteBlocks", "6": "kI4"}


def demangled(text):
    return subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True).stdout


def kernel_name(text):
    found = NAME.search(text)
    if not found:
        return None
    name = re.sub(r"\(rnnp::Cell\)(\d)", lambda cell: CELLS[cell.group(1)], found.group(1))
    return re.sub(r"\(rnnp::cuda::Weights\)(\d)", lambda weights: WEIGHTS[weights.group(1)], name)


def resources(log):
    """{kernel: (registers, bytes on the stack, bytes spilled)} of ptxas's report."""
    found, name = {}, None
    for line in demangled(log).splitlines():
        if "Compiling entry function" in line:
            name = kernel_name(line)
            found[name] = [None, None, None]
        elif "bytes stack frame" in line and name in found and found[name][1] is None:
            stack, stores, loads = re.findall(r"(\d+) bytes", line)
            found[name][1:] = [int(stack), int(stores) + int(loads)]
        elif "Used" in line and name in found:
            found[name][0] = int(re.search(r"Used (\d+) registers", line).group(1))
    return found


def machine_code(nvdisasm, cubin):
    """{kernel: its instructions} of a cubin."""
    text = demangled(subprocess.run([nvdisasm, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout)
    found, name = {}, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.(.*)", line)
        if section:
            name = kernel_name(demangled(section.group(1).split(",")[0]))
            found[name] = []
        elif name and re.match(r"\s*/\*[0-9a-f]+\*/", line):
            found[name].append(re.sub(r"/\*.*?\*/", "", line).strip())
    return found


def loads_in_flight(code):
    """The most loads of 8 bytes and more that are under way before one's result is used."""
    most, pending = 0, []
    for line in code:
        load = re.search(r"\bLDG?\.E\.(64|128)(\.CONSTANT)? R(\d+)", line)
        registers = {int(r) for r in re.findall(r"\bR(\d+)", line if not load else line.split(",", 1)[1])}
        if any(registers & loaded for loaded in pending):
            pending = []
        if load:
            first = int(load.group(3))
            pending.append(set(range(first, first + int(load.group(1)) // 32)))
            most = max(most, len(pending))
    return most


def loads_before_stores(code):
    """The most such loads between two branches of which the first is then stored to shared memory."""
    most, loaded = 0, []
    for line in code:
        load = re.search(r"\bLDG?\.E\.(64|128)(\.CONSTANT)? R(\d+)", line)
        if load:
            loaded.append("R" + load.group(3))
        elif re.search(r"\bSTS\.(64|128)\b", line) and loaded and re.search(rf"\b{loaded[0]}\b", line.split(",")[-1]):
            most = max(most, len(loaded))
        if re.search(r"\bBRA\b|\bSTS\b", line):
            loaded = []
    return most


def after_poll(code, polls):
    """The instructions between the last load of a poll and the first store to shared memory, or shuffle, behind it."""
    found = []
    for line in code[polls[-1] + 1:]:
        found.append(line)
        if re.search(r"\b(STS|SHFL)\b", line):
            return found
    return None


def complaints_of_cluster(code, f32):
    """What others sent is waited for by a counter, of halves sent 16 bytes at a time, without a fence between two steps."""
    joined = "\n".join(code)
    if not re.search(r"\bSTAS\b" if f32 else r"\bSTAS\.128\b", joined):
        yield "sends nothing that a counter is told of" if f32 else "sends no 16 bytes that a counter is told of"
    if ("FFMA" if f32 else "HMMA.16816.F32") not in joined:
        yield "has no fused product" if f32 else "has no product on the matrix units"
    if joined.count("UCGABAR_ARV") != 2:
        yield f"has {joined.count('UCGABAR_ARV')} barriers of its cluster, not one before and one behind"
    waits = [i for i, line in enumerate(code) if re.search(r"\bSYNCS\.PHASECHK\b.*TRYWAIT\b", line)]
    sends = [i for i, line in enumerate(code) if re.search(r"\bSTAS\b", line)]
    if not waits:
        yield "waits for no counter"
    elif any(re.search(r"\b(MEMBAR|UCGABAR_ARV|CCTL)\b", line) for line in code[waits[0]:sends[-1]]):
        yield "has a fence within a step"
    elif any(re.search(r"\bLDG\.E\.128(\.CONSTANT)?\b", line) for line in code[waits[0]:]):
        yield "loads weights after the first wait"


def complaints_of_code(name, code, arch):
    joined = "\n".join(code)
    if re.search(r"\b(LDL|STL)\b", joined):
        yield "uses local memory"
    least = next((least for prefix, least in IN_FLIGHT.items() if name.startswith(prefix)), 0)
    if loads_in_flight(code) < least:
        yield f"has {loads_in_flight(code)} loads in flight, not {least}"
    if name.startswith("resident_cluster"):
        if arch >= 90:
            yield from complaints_of_cluster(code, name.startswith("resident_cluster_f32"))
        elif len([line for line in code if "BPT.TRAP" in line]) != 1:
            yield "does not end in an error where there are no clusters"
        return
    if not name.startswith("resident"):
        return
    polls = [i for i, line in enumerate(code) if re.search(r"\bLDG?\.E\.128\.STRONG\.GPU\b", line)]
    if not polls:
        yield "polls no words of 16 bytes"
        return
    if loads_before_stores(code) < TO_SHARED:
        yield f"has {loads_before_stores(code)} weights on their way to shared memory, not {TO_SHARED}"
    behind = after_poll(code, polls)
    if behind is None:
        yield "hands no words on behind a poll"
    elif len(behind) > AFTER_POLL or re.search(r"\b(MUFU|I2F|F2I)\b", "\n".join(behind)):
        yield f"needs {len(behind)} instructions from a word to those who multiply it, of at most {AFTER_POLL} without a division"
    if not re.search(r"\bSTG?\.E\.64\.STRONG\.GPU\b", joined):
        yield "publishes no words of 8 bytes"
    wide = [i for i, line in enumerate(code) if re.search(r"\bLDG\.E\.(64|128)(\.CONSTANT)?\b(?!\.STRONG)", line)]
    if not wide:
        yield "loads no weights 8 or 16 bytes wide"
    bytes_in = "<kI8" in name or name.startswith("resident_nibbles")
    if name.startswith(("resident_mma", "resident_nibbles")) and ("IMMA.16832.S8.S8" if bytes_in else "HMMA.16816.F32") not in joined:
        yield "has no product on the matrix units"
    if name.startswith(("resident_f32", "resident_blocks<kBlocks")) and "FFMA" not in joined:
        yield "has no fused product"
    if name.startswith("resident_blocks<kByteBlocks") and "IDP.4A.S8.S8" not in joined:
        yield "has no product of four bytes"
    body = code[polls[0]:]
    if any(re.search(r"\bLDG\.E\.128(\.CONSTANT)?\b(?!\.STRONG)", line) for line in body):
        yield "loads weights after the first poll"


def budget_of(budgets, name):
    """The budget's name and how many registers a thread may have, for so many blocks of 256 threads on an SM."""
    prefix = max((one for one in budgets if name.startswith(one)), key=len)
    return prefix, min(255, REGISTERS // (THREADS * budgets[prefix]) // REGISTERS_AT_ONCE * REGISTERS_AT_ONCE)


def main():
    parser = argparse.ArgumentParser()
    for name in ("nvcc", "arch", "budgets", "source", "includes"):
        parser.add_argument(name)
    parser.add_argument("--nvdisasm")
    args = parser.parse_args()
    budgets = json.loads(pathlib.Path(args.budgets).read_text())
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "kernels.cubin"
        command = [args.nvcc, "-std=c++17", "--expt-relaxed-constexpr", "--fmad=false", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra", "-x", "cu", f"-arch=sm_{args.arch}", "-cubin",
                   "-Xptxas", "-v", "-DRNNPACK_MANY_THREADS", "-o", str(cubin), args.source]
        done = subprocess.run(command + ["-I" + one for one in args.includes.split(",")], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        found = resources(done.stdout + done.stderr)
        code = machine_code(args.nvdisasm, cubin) if args.nvdisasm else {}
    used = {budget_of(budgets, name)[0] for name in found}
    bad = [f"{prefix}: has a budget, but no kernel" for prefix in sorted(set(budgets) - used)]
    for name in sorted(found):
        registers, stack, spilled = found[name]
        prefix, most = budget_of(budgets, name)
        if registers > most:
            bad.append(f"{name}: {registers} registers; with more than {most}, an SM has no room for {budgets[prefix]} blocks")
        if stack or spilled:
            bad.append(f"{name}: {stack} bytes of stack, {spilled} spilled")
        if args.nvdisasm:
            bad += [f"{name}: {text}" for text in complaints_of_code(name, code.get(name, []), int(args.arch))]
    print(f"sm_{args.arch}: {len(found)} kernels, at most {max(r[0] for r in found.values())} registers"
          + (", machine code read" if args.nvdisasm else ""))
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
