# SPDX-License-Identifier: Apache-2.0
"""check_wheel.py WHEEL -- what a wheel promises: a manylinux tag, the native parts, and no library but the C library's and the
compiler's own for them to find."""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ALLOWED = re.compile(r"(libc|libgcc_s|libm|libpthread|libdl|librt|ld-linux-[\w-]+)\.so\.\d+$")
OPTIONAL = "rnnpack/_native/librnnpack_compiler.so.1"
NATIVE = ("rnnpack/_native/rnnpack", "rnnpack/_native/librnnpack.so.1", "rnnpack/_native/_calls.abi3.so")


def needed(path):
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", text)


def main():
    wheel = pathlib.Path(sys.argv[1])
    bad = [] if re.search(r"-py3-none-manylinux_2_\d+_\w+\.whl$", wheel.name) else [f"its tag is not manylinux: {wheel.name}"]
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        bad += [f"{name} is missing" for name in (*NATIVE, "rnnpack/py.typed") if name not in names]
        for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
            kept = [one for one in names if one.endswith(f".dist-info/licenses/{name}")]
            bad += [] if kept and archive.read(kept[0]) == (ROOT / name).read_bytes() else [f"{name} is missing"]
        bad += [f"{name} should not be in it" for name in names if ".libs/" in name or name.endswith((".h", ".a", ".pyc"))]
        for name in names & {*NATIVE, OPTIONAL}:
            bad += [f"{name} needs {library}" for library in needed(archive.extract(name, work)) if not ALLOWED.match(library)]
    for line in bad:
        print(line)
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size} bytes, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
