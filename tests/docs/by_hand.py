#!/usr/bin/env python3
"""by_hand.py SOURCE WORK [--only WORDS] -- what the pages mark `# by hand:` is run as a newcomer runs it: in a fresh clone of the last commit, with
a fresh home and a fresh environment of Python, nothing prebuilt. The Python of a page runs in that environment once the package is in it.
Each command runs once; those that cannot run here are listed below with the reason, and one that is neither run nor listed is a failure.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pages

SECONDS = 5400
# A command's beginning, and why it is not run.
LEFT_OUT = {
    "make test": "it runs this",
    "make bench": "hours, and several GB of peers",
    "make firmware": "make test-devices builds every image",
    "make test-exporters": "several GB of frameworks",
    ".venv-bench/": "needs make bench",
    "bench/": "needs make bench, or several minutes of a quiet machine",
    "build-bench/": "needs make bench",
    "rnnpack ": "a model of the reader's",
    "python3 bindings/python/examples/wavs_dataloader.py": "needs torch",
    "python3 bindings/python/examples/wavs_dask.py": "tests/test_examples.py runs it",
    "build/src/compiler/rnnpack compile": "data of the reader's",
    "cmake -S . -B build-bench": "needs make bench",
    "cmake --build build-bench": "needs make bench",
}
RUN_AFTER_ALL = ("bench/python_calls.py", "build/src/compiler/rnnpack compile models/")


class Newcomer:
    def __init__(self, source, work):
        self.at, self.home, self.venv = work / "clone", work / "home", work / "venv"
        shutil.rmtree(work, ignore_errors=True)
        self.home.mkdir(parents=True)
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", source, self.at], check=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", self.venv], check=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RNNPACK_", "CMAKE_", "PYTHON", "VIRTUAL_ENV"))}
        # The compiler cache is the one thing that stays: it makes no difference but in time.
        cache = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True).stdout.strip() if shutil.which("ccache") else ""
        self.environment = kept | {"HOME": str(self.home), "PATH": f"{self.venv}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"}
        if cache:
            self.environment |= {"CCACHE_DIR": cache, "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CMAKE_C_COMPILER_LAUNCHER": "ccache"}

    def run(self, script):
        begin = time.monotonic()
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.at, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
        return done, time.monotonic() - begin

    def has_package(self):
        return subprocess.run([self.venv / "bin/python", "-c", "import rnnpack"], capture_output=True, cwd=self.home).returncode == 0


def commands(text, name):
    """By-hand commands of a page, comments off, continued lines joined."""
    found = []
    for block in pages.blocks(name, text):
        if block.language == "sh":
            for line in re.sub(r"\\\n\s*", " ", block.text).splitlines():
                command, mark, _ = line.partition(pages.BY_HAND)
                if mark and command.strip():
                    found.append(" ".join(command.split()))
    return found


def why_not(command):
    if command.startswith(RUN_AFTER_ALL):
        return None
    return next((why for begin, why in LEFT_OUT.items() if command.startswith(begin)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="", help="commands with these words alone")
    options = parser.parse_args()
    source = options.source.resolve()
    newcomer, ran, failed = Newcomer(source, options.work.resolve()), [], []

    def step(name, what, script):
        done, seconds = newcomer.run(script)
        print(f"{'ok' if done.returncode == 0 else 'FAILED'}  {name}: {what} ({seconds:.0f} s)", flush=True)
        if done.returncode != 0:
            failed.append(what)
            print(done.stdout[-6000:], flush=True)

    names = ["README.md", *sorted(str(path.relative_to(source)) for path in (source / "docs").glob("*.md"))]
    for name in names:
        text = (source / name).read_text()
        for command in commands(text, name):
            if command in ran or options.only not in command:
                continue
            ran.append(command)
            if (why := why_not(command)) is not None:
                print(f"left out  {name}: {command} ({why})", flush=True)
                continue
            step(name, command, command)
        program = "\n".join(block.text for block in pages.blocks(name, text) if block.language == "python")
        if program and newcomer.has_package():
            (newcomer.at / "page.py").write_text(program)
            step(name, "its Python", "python page.py")
    print(f"{len(ran)} commands by hand, {len(failed)} failed: {', '.join(failed)}")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
