# SPDX-License-Identifier: Apache-2.0
"""check_wheel.py WHEEL -- what a wheel promises: a manylinux or musllinux tag, the native parts, and no library but the C library's and
the compiler's own for them to find, in no later version of glibc than the tag names."""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ALLOWED = {"manylinux": re.compile(r"(libc|libgcc_s|libm|libpthread|libdl|librt|ld-linux-[\w-]+)\.so\.\d+$"), "musllinux": re.compile(r"libc\.so$")}
TAG = re.compile(r"-py3-none-(manylinux|musllinux)_(\d+)_(\d+)_\w+\.whl$")
OPTIONAL = "rnnpack/_native/librnnpack_compiler.so.1"
NATIVE = ("rnnpack/_native/rnnpack", "rnnpack/_native/librnnpack.so.1", "rnnpack/_native/_calls.abi3.so")


def needed(path):
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", text)


def glibc_of(path):
    text = subprocess.run(["readelf", "-V", "-W", path], check=True, capture_output=True, text=True).stdout
    return max(((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", text)), default=(0, 0))


def complaints_of(path, name, tag):
    kind, newest = tag[1], (int(tag[2]), int(tag[3]))
    bad = [f"{name} needs {library}" for library in needed(path) if not ALLOWED[kind].match(library)]
    glibc = glibc_of(path)
    if glibc > ((0, 0) if kind == "musllinux" else newest):
        bad.append(f"{name} needs glibc {glibc[0]}.{glibc[1]}")
    return bad


def main():
    wheel = pathlib.Path(sys.argv[1])
    tag = TAG.search(wheel.name)
    if not tag:
        sys.exit(f"its tag is neither manylinux nor musllinux: {wheel.name}")
    bad = []
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        bad += [f"{name} is missing" for name in (*NATIVE, "rnnpack/py.typed") if name not in names]
        for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
            kept = [one for one in names if one.endswith(f".dist-info/licenses/{name}")]
            bad += [] if kept and archive.read(kept[0]) == (ROOT / name).read_bytes() else [f"{name} is missing"]
        bad += [f"{name} should not be in it" for name in names if ".libs/" in name or name.endswith((".h", ".a", ".pyc"))]
        for name in names & {*NATIVE, OPTIONAL}:
            bad += complaints_of(archive.extract(name, work), name, tag)
    for line in bad:
        print(line)
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size} bytes, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
