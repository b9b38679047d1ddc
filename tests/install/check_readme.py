#!/usr/bin/env python3
"""check_readme.py BUILD README MODEL.onnx -- the README's C program, pasted as it is, compiles against the installed library and runs on a compiled model."""
import pathlib
import re
import subprocess
import sys
import tempfile


def cache_value(build, name):
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else ""


def main():
    build, readme, model = map(pathlib.Path, sys.argv[1:4])
    program = re.search(r"```c\n(.*?)```", readme.read_text(), re.S).group(1)
    sanitize = cache_value(build, "RNNPACK_SANITIZE")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = lambda *command, **more: subprocess.run(command, check=True, cwd=folder, text=True, **more)
        run("cmake", "--install", str(build), "--prefix", str(folder / "installed"), stdout=subprocess.DEVNULL)
        (folder / "stream.c").write_text(program)
        run(folder / "installed/bin/rnnpack", "compile", str(model), "-o", "vad.rnnp")
        pc = next((folder / "installed").rglob("rnnpack.pc")).parent
        flags = run("pkg-config", "--cflags", "--libs", "--static", "rnnpack", capture_output=True, env={"PKG_CONFIG_PATH": str(pc), "PATH": "/usr/bin"}).stdout.split()
        sanitizers = [f"-fsanitize={sanitize}"] if sanitize else []
        run(cache_value(build, "CMAKE_C_COMPILER"), "-std=c11", *sanitizers, "stream.c", "-o", "stream", *flags)
        print(run("./stream", "vad.rnnp", capture_output=True).stdout)


if __name__ == "__main__":
    main()
