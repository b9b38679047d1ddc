#!/bin/sh
# fetch_onnx_cases.sh FOLDER -- the node tests of the ONNX package (PyPI's 1.17.0 carries them) into FOLDER, once.
# SPDX-License-Identifier: Apache-2.0
set -eu
folder=$1
[ -e "$folder/complete" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d "$work" onnx==1.17.0
/usr/bin/python3 - "$work" "$folder" <<'EOF'
import pathlib, re, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob("onnx-*.whl")
folder = pathlib.Path(sys.argv[2])
wanted = re.compile(r"onnx/backend/test/data/node/(test_[^/]*/.+)")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        found = wanted.match(name)
        if found and not name.endswith("/"):
            target = folder / found.group(1)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
(folder / "complete").touch()
EOF
