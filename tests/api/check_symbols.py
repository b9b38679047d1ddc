#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_symbols.py -- the archive's promises, read with nm and objdump: no allocator, no C++ runtime, no global data, no weak symbols
in files with instruction-set flags. Usage: check_symbols.py ARCHIVE [--hosted] (hosted: XNNPACK, cpuinfo, pthreadpool are built in)."""
import pathlib
import re
import subprocess
import sys

ALWAYS = {"memcpy", "memset", "memmove", "memcmp", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
HOSTED = re.compile(r"^(xnn_|cpuinfo_|pthreadpool_|pthread_|sched_yield$|nanosleep$|__tls_get_addr$)")
# The hook serves other users of XNNPACK in the process from the C heap (platform/xnnpack/allocator.cpp); sessions never do.
HEAP_IN = {"allocator.cpp.o": {"posix_memalign", "free"}}
# The executor on plain threads; only programs that start one link it.
THREADS_IN = {"executor_threads.cpp.o": re.compile(r"^(pthread_\w+|sched_yield|sched_setaffinity|nanosleep)$")}
ISA_TABLE = pathlib.Path(__file__).resolve().parents[2] / "src/base/isa.inc"
SETS = re.findall(r"^RNNPACK_ISA(?:_WITHOUT_BIT)?\((\w+)", ISA_TABLE.read_text(), re.MULTILINE)
ISA_FILE = re.compile(rf"_({'|'.join(SETS).lower()})\.cpp")
SANITIZER = re.compile(r"^__(asan|ubsan|tsan|sanitizer)")


def symbols(archive):
    """(object file, kind, name) of every symbol."""
    member = ""
    for line in subprocess.run(["nm", archive], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.strip():
            fields = line.split()
            yield member, fields[-2], fields[-1]


def writable_sections(archive):
    """(object file, section, bytes) of every section that is written at run time; .data.rel.ro is constant after relocation."""
    member = ""
    for line in subprocess.run(["objdump", "-h", archive], check=True, capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if ":     file format" in line:
            member = line.split(":")[0]
        elif len(fields) >= 7 and fields[0].isdigit() and int(fields[2], 16) > 0:
            if re.match(r"\.(data|bss|tbss|tdata)", fields[1]) and not fields[1].startswith(".data.rel.ro"):
                yield member, fields[1], int(fields[2], 16)


def main():
    archive, hosted = sys.argv[1], "--hosted" in sys.argv
    rows = list(symbols(archive))
    defined = {name for _, kind, name in rows if kind not in "Uw"}
    problems = []
    for member, kind, name in rows:
        if kind == "U" and name not in defined | ALWAYS and not SANITIZER.match(name):
            if member in THREADS_IN and THREADS_IN[member].match(name):
                continue
            if not (hosted and (HOSTED.match(name) or name in HEAP_IN.get(member, ()))):
                problems.append(f"{member}: needs {name}")
        if kind in "WVwv" and ISA_FILE.search(member):
            problems.append(f"{member}: weak symbol {name} in a file with instruction-set flags")
        if re.match(r"_GLOBAL__sub_I|__cxx_global|__cxa_|_Zn[aw]|_Zd[al]|_ZNSt|_ZSt", name):
            problems.append(f"{member}: C++ runtime or dynamic initialiser {name}")
    for member, section, size in writable_sections(archive):
        if not (hosted and member == "allocator.cpp.o"):  # which session is being made on this thread
            problems.append(f"{member}: {size} bytes of {section}")
    if "rnnp_run" not in defined:
        problems.append(f"{archive} is not the library: it has no rnnp_run")
    for p in problems:
        print(p)
    print(f"{archive}: {len(rows)} symbols, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
