#!/usr/bin/env python3
"""check_test_cuda.py SOURCE -- scripts/test_cuda.sh with an nvcc and a cmake that are not there: without a GPU nothing is built and it
ends with 77; with one it is built for that one's architecture, by a number that CMake 3.22 knows too, or for what CUDAARCHS says.
SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import subprocess
import sys
import tempfile

# nvcc -o PROGRAM SOURCE: a program that finds the GPU, or none.
NVCC = '[ "$1" = -o ] || exit 1\nprintf "#!/bin/bash\\n%s\\n" "$FOUND" >"$2"\nchmod +x "$2"\n'
CMAKE = 'echo "$*" >>"$SAID"\nexit 1\n'  # what it was asked; nothing is built


def run(source, folder, found, **variables):
    said = folder / "said.txt"
    said.write_text("")
    for name, text in (("nvcc", NVCC), ("cmake", CMAKE)):
        (folder / name).write_text("#!/bin/bash\n" + text)
        (folder / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "CUDAARCHS"}
    done = subprocess.run([source / "scripts/test_cuda.sh", folder / "build", "test"], capture_output=True, text=True,
                          env=dict(kept, PATH=f"{folder}:{os.environ['PATH']}", CUDACXX=str(folder / "nvcc"), SAID=str(said), FOUND=found, **variables))
    return done, said.read_text()


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        done, said = run(source, folder, "exit 1")
        assert done.returncode == 77 and "no GPU: nothing was built" in done.stdout and said == "", (done, said)
        done, said = run(source, folder, "echo 87-real")
        assert "-DRNNPACK_CUDA_ARCHITECTURES=87-real" in said, (done, said)
        done, said = run(source, folder, "exit 1", CUDAARCHS="90-real")
        assert "-DRNNPACK_CUDA_ARCHITECTURES=90-real" in said, (done, said)


if __name__ == "__main__":
    main()
